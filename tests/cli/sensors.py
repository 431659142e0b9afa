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
