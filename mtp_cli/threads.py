"""How many threads to use: one a physical core that this process may run on, the fast ones only."""

from __future__ import annotations

import os
from pathlib import Path

MAX_THREADS = 64


def default_threads(root: Path = Path("/sys/devices/system/cpu")) -> int:
    """Physical performance cores among the allowed CPUs; at least 1, at most MAX_THREADS.

    `root` is the CPU folder of sysfs. Without it (macOS, some containers): half of the logical CPUs."""
    allowed = _allowed_cpus()
    cores: dict[tuple[str, str], int] = {}
    for cpu in allowed:
        folder = root / f"cpu{cpu}"
        package = _read(folder / "topology" / "physical_package_id")
        core = _read(folder / "topology" / "core_id")
        if core is None:
            return max(1, min(MAX_THREADS, len(allowed) // 2 or 1))
        speed = _read(folder / "cpu_capacity") or _read(folder / "cpufreq" / "cpuinfo_max_freq") or "0"
        cores[package or "0", core] = int(speed) if speed.isdigit() else 0
    # slow cores make the fast ones wait: keep those within a fifth of the fastest
    fastest = max(cores.values())
    count = sum(1 for speed in cores.values() if speed * 5 >= fastest * 4)
    return max(1, min(MAX_THREADS, count))


def _allowed_cpus() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
