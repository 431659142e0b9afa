"""How warm the CPU is and whether it has been slowed down for it, where the system tells.

Linux: temperatures and trip points of /sys/class/thermal, cooling devices at work, and the counts of x86's
thermal_throttle. Android shows few of these to apps. macOS: `pmset -g therm`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtp_cli.meters.sources import entries, number_of, text_of

ROOT = Path("/")
"""Below which the system's files are looked for."""
_CPU = re.compile(r".*(cpu|soc|pkg|core|cluster|tsens|big|little|prime|k10temp).*", re.IGNORECASE)
_COOLER = re.compile(r".*(processor|cpufreq|cpu-cluster|tcc).*", re.IGNORECASE)
_LEAST, _MOST = -30.0, 150.0
_SLOWING = ("passive", "hot")
"""Trip points from which the CPU is slowed down; "active" ones switch fans on."""


@dataclass(frozen=True, slots=True)
class Thermal:
    """What is known at one moment; None is not known. celsius: the hottest of the CPU's sensors; limit: from
    where it is slowed down; cooling: devices that slow it down now; throttled: how often that has happened
    since the start of the system; told: there is a state and no figures."""

    celsius: float | None = None
    limit: float | None = None
    cooling: tuple[str, ...] = ()
    throttled: int | None = None
    told: bool = False

    @property
    def known(self) -> bool:
        return self.celsius is not None or self.throttled is not None or bool(self.cooling) or self.told

    @property
    def slowed(self) -> bool:
        """Now."""
        too_hot = self.celsius is not None and self.limit is not None and self.celsius >= self.limit
        return bool(self.cooling) or too_hot

    def record(self) -> dict[str, Any]:
        """For JSON."""
        if not self.known:
            return {"state": "unavailable"}
        return {
            "state": "slowed down" if self.slowed else "fine",
            "celsius": self.celsius,
            "limit_celsius": self.limit,
            "cooling": list(self.cooling),
            "throttle_count": self.throttled,
        }

    def words(self) -> str:
        """ "61 °C, slowed down from 95 °C on, throttled 3 times since the start"."""
        if not self.known:
            return "unavailable"
        parts = []
        if self.celsius is not None:
            parts.append(f"{self.celsius:.0f} °C")
        if self.limit is not None:
            parts.append(f"slowed down from {self.limit:.0f} °C on")
        if self.cooling:
            parts.append(f"slowed down now by {', '.join(self.cooling)}")
        if self.throttled is not None:
            parts.append(f"throttled {self.throttled} time(s) since the system began")
        return ", ".join(parts) or "not slowed down"


def slowed_between(before: Thermal, after: Thermal) -> str:
    """Why work between the two was slowed down by heat, in words; "" when nothing tells of it."""
    if before.throttled is not None and after.throttled is not None and after.throttled > before.throttled:
        return f"the CPU was throttled {after.throttled - before.throttled} time(s) for its heat"
    if after.slowed:
        return f"the CPU is slowed down for its heat ({after.words()})"
    return ""


def read_thermal(root: Path | None = None, system: str = sys.platform) -> Thermal:
    """Never raises; what cannot be read is not known."""
    root = root if root is not None else ROOT
    if system == "darwin" and root == Path("/"):
        return of_pmset()
    warm = [(zone, c) for zone in _zones(root) if (c := celsius_of(number_of(zone / "temp"))) is not None]
    hottest = max(warm, key=lambda one: one[1], default=None)
    return Thermal(
        hottest[1] if hottest else None,
        _limit(hottest[0]) if hottest else None,
        _cooling(root),
        _throttled(root),
    )


def celsius_of(value: int | None) -> float | None:
    """From thousandths of a degree; some phones give tenths or degrees. None for what no CPU can have."""
    if value is None:
        return None
    unit = 1 if abs(value) <= _MOST else 10 if abs(value) <= 10 * _MOST else 1000
    return value / unit if _LEAST <= value / unit <= _MOST else None


def _zones(root: Path) -> list[Path]:
    """Those of the CPU, else all."""
    zones = [z for z in entries(root / "sys/class/thermal") if z.name.startswith("thermal_zone")]
    return [zone for zone in zones if _CPU.fullmatch(text_of(zone / "type") or "")] or zones


def _limit(zone: Path) -> float | None:
    found = []
    for file in zone.glob("trip_point_*_type"):
        if text_of(file) in _SLOWING:
            value = celsius_of(number_of(file.with_name(file.name.replace("_type", "_temp"))))
            if value is not None and value > 0:
                found.append(value)
    return min(found, default=None)


def _cooling(root: Path) -> tuple[str, ...]:
    """Devices that slow the CPU down now."""
    found = set()
    for device in entries(root / "sys/class/thermal"):
        kind = text_of(device / "type") or ""
        if not device.name.startswith("cooling_device") or not _COOLER.fullmatch(kind):
            continue
        if 0 < (number_of(device / "cur_state") or 0) <= (number_of(device / "max_state") or 0):
            found.add(kind)
    return tuple(sorted(found))


def _throttled(root: Path) -> int | None:
    """The CPU that was throttled most often, its package included; None where nothing counts it."""
    files = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle/*_throttle_count")
    counts = [count for file in files if (count := number_of(file)) is not None and count >= 0]
    return max(counts, default=None)


def of_pmset(ask: Callable[[], str] | None = None) -> Thermal:
    """macOS: the CPU's speed limit in percent, on Intel; Apple silicon tells of warnings alone."""
    text = (ask or _pmset)()
    found = re.search(r"CPU_Speed_Limit\s*=\s*(\d+)", text)
    if found:
        percent = int(found[1])
        slow = 0 < percent < 100
        return Thermal(cooling=(f"a speed limit of {percent} %",) if slow else (), told=True)
    warned = re.search(r"thermal warning level\D*([1-9]\d*)", text, re.IGNORECASE)
    told = "thermal warning level" in text.lower()
    return Thermal(cooling=(f"thermal warning level {warned[1]}",) if warned else (), told=told)


def _pmset() -> str:
    try:
        done = subprocess.run(
            ["pmset", "-g", "therm"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
