"""Memory of this process and of the machine, in bytes: from /proc, else from psutil where it loads."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mtp_cli.meters import UNAVAILABLE, Reading, measured

ROOT = Path("/")
"""Below which the system's files are looked for."""


def machine() -> tuple[Reading, Reading]:
    """(all there is, what programs can still have without swapping)."""
    fields = {}
    try:
        for line in (ROOT / "proc" / "meminfo").read_text(encoding="ascii").splitlines():
            name, _, rest = line.partition(":")
            fields[name] = int(rest.split()[0]) * 1024
        return measured(fields["MemTotal"]), measured(fields["MemAvailable"])
    except (OSError, ValueError, IndexError, KeyError):
        pass
    try:
        import psutil

        memory = psutil.virtual_memory()
        return measured(int(memory.total)), measured(int(memory.available))
    except Exception:  # psutil raises its own kinds, and it may be missing
        return UNAVAILABLE, UNAVAILABLE


def resident() -> Reading:
    """What lies in memory now."""
    try:
        with Path("/proc/self/statm").open("rb") as file:
            return measured(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, IndexError, AttributeError):
        return _by_psutil()


def peak() -> Reading:
    """The most there has been."""
    try:
        with Path("/proc/self/status").open("rb") as file:
            for line in file:
                if line.startswith(b"VmHWM:"):
                    return measured(int(line.split()[1]) * 1024)
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return UNAVAILABLE
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return measured(most if sys.platform == "darwin" else most * 1024) if most > 0 else UNAVAILABLE


def _by_psutil() -> Reading:
    try:
        import psutil

        return measured(psutil.Process().memory_info().rss)
    except Exception:  # psutil raises its own kinds, and it may be missing
        return UNAVAILABLE
