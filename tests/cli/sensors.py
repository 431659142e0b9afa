"""Trees as Linux has them below /sys, in miniature, and a clock that a test turns."""

from __future__ import annotations

from pathlib import Path


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def write(folder: Path, **files: object) -> Path:
    """Files by name, a number or a line each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / name).write_text(f"{value}\n")
    return folder


def rapl(root: Path, package: int = 0, energy: object = 1_000_000, highest: object = 262_143_328_850) -> Path:
    """A package with the parts and neighbours that must not count."""
    base = root / "sys/class/powercap"
    name = f"intel-rapl:{package}"
    write(base / f"{name}:0", name="core", energy_uj=energy, max_energy_range_uj=highest)
    write(base / "intel-rapl-mmio:0", name="package-0", energy_uj=energy, max_energy_range_uj=highest)
    write(base / "intel-rapl:9", name="psys", energy_uj=energy, max_energy_range_uj=highest)
    return write(base / name, name=f"package-{package}", energy_uj=energy, max_energy_range_uj=highest)


def battery(root: Path, **files: object) -> Path:
    """A phone's: 400 mA at 3.9 V leave it."""
    known: dict[str, object] = {
        "type": "Battery",
        "status": "Discharging",
        "current_now": -400_000,
        "voltage_now": 3_900_000,
    }
    return write(root / "sys/class/power_supply/battery", **{**known, **files})


def board(root: Path, chip: str = "ina226", number: int = 0, **files: object) -> Path:
    """A power sensor."""
    return write(root / f"sys/class/hwmon/hwmon{number}", name=chip, **files)


def zone(root: Path, number: int = 0, **files: object) -> Path:
    """A thermal zone of the CPU that slows it down from 95 degrees on."""
    known: dict[str, object] = {
        "type": "x86_pkg_temp",
        "temp": 61_000,
        "trip_point_0_type": "active",
        "trip_point_0_temp": 50_000,
        "trip_point_1_type": "passive",
        "trip_point_1_temp": 95_000,
        "trip_point_2_type": "critical",
        "trip_point_2_temp": 105_000,
    }
    return write(root / f"sys/class/thermal/thermal_zone{number}", **{**known, **files})


def cooler(root: Path, state: object, kind: str = "Processor", most: object = 10) -> Path:
    """A cooling device."""
    folder = root / "sys/class/thermal/cooling_device0"
    return write(folder, type=kind, cur_state=state, max_state=most)


def throttles(root: Path, count: object, cpu: int = 0) -> Path:
    """How often x86 was throttled."""
    folder = root / f"sys/devices/system/cpu/cpu{cpu}/thermal_throttle"
    return write(folder, core_throttle_count=0, package_throttle_count=count)
