"""RAPL by the powercap files of Linux: Intel, and AMD since Linux 5.8 under the same names."""

from __future__ import annotations

import re
import time
from pathlib import Path

from mtp_cli.meters.sources import Refusal, SourceLost, entries, number_of, text_of
from mtp_cli.meters.sources.counting import Clock, Counter

NAME = "RAPL (powercap)"
FOLDER = Path("sys/class/powercap")
ALLOW = "sudo chmod o+r /sys/class/powercap/intel-rapl:*/energy_uj  (until the next boot)"
_ZONE = re.compile(r"intel-rapl:\d+")
"""Packages. Their parts have a second number, and would count twice; so would the -mmio zones."""


class Powercap:
    """The packages of the machine together."""

    name = NAME
    scope = "CPU package"
    live = True

    def __init__(self, zones: list[Path], clock: Clock = time.monotonic) -> None:
        self._zones = [
            (zone / "energy_uj", Counter(1e-6, number_of(zone / "max_energy_range_uj") or 0, clock))
            for zone in zones
        ]

    def begin(self) -> None:
        for file, counter in self._zones:
            counter.begin(_read(file))

    def tick(self) -> None:
        for file, counter in self._zones:
            counter.add(_read(file))

    def joules(self) -> float:
        self.tick()
        return sum(counter.joules for _, counter in self._zones)


def find(root: Path, clock: Clock = time.monotonic) -> Powercap | Refusal | None:
    """None where there is no such counter; a Refusal where it may not be read."""
    zones = [
        zone
        for zone in entries(root / FOLDER)
        if _ZONE.fullmatch(zone.name) and (text_of(zone / "name") or "").startswith("package")
    ]
    if not zones:
        return None
    try:
        for zone in zones:
            (zone / "energy_uj").read_text()
    except PermissionError:
        return Refusal(NAME, "only root may read the energy counters", ALLOW)
    except OSError:
        return Refusal(NAME, "its counters are hidden, as in a container")
    if any(number_of(zone / "energy_uj") is None for zone in zones):
        return Refusal(NAME, "its counters hold no numbers")
    return Powercap(zones, clock)


def _read(file: Path) -> int:
    value = number_of(file)
    if value is None or value < 0:
        raise SourceLost("its counter cannot be read any more")
    return value
