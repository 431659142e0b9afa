"""How many threads to use, and where: one for each fast physical core that this process may run on."""

from __future__ import annotations

import os
from pathlib import Path

from mtp_cli.cores.layout import Layout, read_layout
from mtp_cli.cores.quota import cpu_quota

MAX_THREADS = 64
ROOT = Path("/")
"""Below which the system's files are looked for."""


def default_threads(root: Path | None = None) -> int:
    """Physical performance cores among the allowed CPUs, and no more than a container's quota of CPU time;
    at least 1, at most MAX_THREADS.

    Where nothing tells of cores (some containers): half of the logical CPUs. macOS is asked by sysctl."""
    root = root if root is not None else ROOT
    count = _cores(root)
    quota = cpu_quota(root)
    if quota is not None:
        # one thread too many is worse than one too few: out of quota, all of them stand still
        count = min(count, int(quota))
    return max(1, min(MAX_THREADS, count))


def _cores(root: Path) -> int:
    layout = layout_of(root)
    if layout is not None:
        return len(layout.fast)
    from mtp_cli.cores.apple import performance_cores

    return performance_cores() or len(allowed_cpus()) // 2


def layout_of(root: Path | None = None) -> Layout | None:
    """The cores that this process may run on; None where the system does not tell."""
    return read_layout(root if root is not None else ROOT, allowed_cpus())


def allowed_cpus() -> list[int]:
    """Logical CPUs that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def keep_to_fast_cores(threads: int, root: Path | None = None) -> tuple[int, ...]:
    """Bind this process to the CPUs of its fast cores, where it has slow ones too and `threads` threads fit.

    Returns the CPUs, () when nothing was bound: all cores alike, more threads asked for than there are fast
    cores, MTP_PIN=0, or a system that does not allow it. Threads started later inherit the binding."""
    if os.environ.get("MTP_PIN") == "0" or not hasattr(os, "sched_setaffinity"):
        return ()
    layout = layout_of(root)
    if layout is None or not layout.slow or threads > len(layout.fast):
        return ()
    cpus = tuple(sorted(cpu for core in layout.fast for cpu in core))
    try:
        os.sched_setaffinity(0, cpus)
    except OSError:
        return ()
    return cpus
