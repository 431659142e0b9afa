"""What a measurement was made on. Every value that the system does not tell is None."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from mtp_cli.meters.thermal import read_thermal


def _first_line(path: str, start: str = "") -> str | None:
    """The first line of a file that starts with `start`."""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as lines:
            return next((line.strip() for line in lines if line.startswith(start)), None)
    except OSError:
        return None


def cpu_model() -> str | None:
    line = _first_line("/proc/cpuinfo", "model name")
    if line:
        return line.partition(":")[2].strip() or None
    return platform.processor() or None


def memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def load_average() -> list[float] | None:
    """Over 1, 5 and 15 minutes."""
    try:
        return [round(value, 2) for value in os.getloadavg()]
    except (AttributeError, OSError):
        return None


def usable_cores() -> int | None:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def describe() -> dict[str, Any]:
    """The `machine` object of a report."""
    from mtp_cli import __version__

    return {
        "cpu": cpu_model(),
        "architecture": platform.machine() or None,
        "cores": usable_cores(),
        "memory_bytes": memory_bytes(),
        "governor": _first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load_average": load_average(),
        "thermal": read_thermal().record(),
        "system": f"{platform.system()} {platform.release()}".strip() or None,
        "python": ".".join(map(str, sys.version_info[:3])),
        "mtp": __version__,
        "llama_cpp_python": installed("llama-cpp-python"),
    }
