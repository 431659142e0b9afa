"""Fast and slow cores by Linux' CPU folders.

Slow ones are told by what the kernel says of them: Intel's efficiency cores (/sys/devices/cpu_atom), the
capacity of a core (cpu_capacity: mostly Arm), else the highest clock."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CPUS = Path("sys/devices/system/cpu")
_ARM = ("aarch64", "arm64", "armv8l", "armv7l")
_SAME_CAPACITY, _SAME_CLOCK = 0.8, 0.9
"""Cores of one kind differ by less: x86 has favoured cores that clock some percent higher."""
_MOST_CAPACITY, _MOST_KHZ = 10_000, 20_000_000
_MOST_CPUS = 4096

Core = tuple[int, ...]
"""Logical CPUs of one physical core."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Physical cores that may be used: those to use, and slower ones to leave alone."""

    fast: tuple[Core, ...]
    slow: tuple[Core, ...] = ()

    def words(self) -> str:
        """ "4 fast cores, 4 slow ones left alone"."""
        fast = f"{len(self.fast)} {'fast ' if self.slow else ''}core{'s' * (len(self.fast) != 1)}"
        return f"{fast}, {len(self.slow)} slow left alone" if self.slow else fast


def read_layout(root: Path, allowed: Sequence[int], machine: str = "") -> Layout | None:
    """The cores with one of `allowed` CPUs that is on line; None where the kernel tells of no cores."""
    folder = root / CPUS
    online = cpu_list(_text(folder / "online"))
    cpus = [cpu for cpu in allowed if not online or cpu in online]
    cores: dict[tuple[str, str, str], list[int]] = {}
    for cpu in cpus:
        topology = folder / f"cpu{cpu}" / "topology"
        core = _text(topology / "core_id")
        if core == "":
            return None
        # Arm numbers the cores of each cluster from 0
        place = (_text(topology / "physical_package_id"), _text(topology / "cluster_id"), core)
        siblings = _text(topology / "thread_siblings_list")
        key = ("", "", siblings) if siblings else place
        cores.setdefault(key, []).append(cpu)
    if not cores:
        return None
    groups = [tuple(core) for core in cores.values()]
    return _by_kind(root, groups) or _by_speed(
        folder, groups, (machine or platform.machine()).lower() in _ARM
    )


def cpu_list(text: str) -> set[int]:
    """ "0-3,8" -> {0, 1, 2, 3, 8}; what makes no sense is left out."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if first.isdecimal() and (not dash or last.isdecimal()):
            begin, end = int(first), int(last or first)
            if begin <= end < _MOST_CPUS:
                found.update(range(begin, end + 1))
    return found


def _by_kind(root: Path, cores: list[Core]) -> Layout | None:
    """Intel tells which CPUs are efficiency cores; None where it does not, or where there are no others."""
    devices = root / "sys/devices"
    efficient = cpu_list(_text(devices / "cpu_atom/cpus")) | cpu_list(_text(devices / "cpu_lowpower/cpus"))
    slow = tuple(core for core in cores if efficient.intersection(core))
    fast = tuple(core for core in cores if not efficient.intersection(core))
    return Layout(fast, slow) if fast and slow else None


def _by_speed(folder: Path, cores: list[Core], arm: bool) -> Layout:
    """Cores fall into kinds by their speed. Threads share the work evenly, so that n of them are as fast as n
    times the slowest: the best such choice of kinds wins. The slowest kind is left out, but for x86, where
    compact cores are no less able and only clock lower."""
    speeds, same = _speeds(folder, cores)
    ordered = sorted(zip(speeds, cores, strict=True), key=lambda one: -one[0])
    kinds: list[list[tuple[float, Core]]] = []
    for speed, core in ordered:
        if kinds and speed >= same * kinds[-1][0][0]:
            kinds[-1].append((speed, core))
        else:
            kinds.append([(speed, core)])
    spare_slowest = arm or same == _SAME_CAPACITY
    choices = range(1, len(kinds) if spare_slowest and len(kinds) > 1 else len(kinds) + 1)

    def worth(count: int) -> float:
        chosen = [speed for kind in kinds[:count] for speed, _ in kind]
        return len(chosen) * min(chosen)

    best = max(choices, key=worth)
    fast = {core for kind in kinds[:best] for _, core in kind}
    return Layout(
        tuple(core for core in cores if core in fast), tuple(core for core in cores if core not in fast)
    )


def _speeds(folder: Path, cores: list[Core]) -> tuple[list[float], float]:
    """(a speed for each core, the share from which two are of one kind). All alike where one is not told."""
    for name, most, same in (
        ("cpu_capacity", _MOST_CAPACITY, _SAME_CAPACITY),
        ("cpufreq/cpuinfo_max_freq", _MOST_KHZ, _SAME_CLOCK),
    ):
        texts = [_text(folder / f"cpu{core[0]}" / name) for core in cores]
        if all(text.isdecimal() and 0 < int(text) <= most for text in texts):
            return [float(text) for text in texts], same
    return [1.0] * len(cores), _SAME_CLOCK


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
