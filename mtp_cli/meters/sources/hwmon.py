"""Power sensors of boards by Linux' hwmon files: INA chips, and what some CPUs tell of themselves.

power*_input is in microwatts, in*_input in millivolts, curr*_input in milliamperes, energy*_input in
microjoules (Linux, Documentation/hwmon/sysfs-interface)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from mtp_cli.meters.sources import SourceLost, entries, number_of, text_of
from mtp_cli.meters.sources.counting import Clock, Counter, Integral

FOLDER = Path("sys/class/hwmon")
_CHIPS = re.compile(r"ina\d+\w*|ltc\d+|macsmc\w*|power_meter|scmi_sensors|scpi_sensors|fam15h_power")
"""Chips that tell of a board or a CPU; graphics cards, disks and supplies have such files too."""
_WHOLE = re.compile(r"vdd_in|pom_5v_in|vin|.*(total|system|input|board).*", re.IGNORECASE)
_CPU = re.compile(r".*(cpu|package|core|soc).*", re.IGNORECASE)
_MOST_MICROWATTS = 5e9


class PowerSensor:
    """One power; it changes all the time and is summed up from the readings."""

    live = True

    def __init__(self, name: str, scope: str, watts: Callable[[], float | None], clock: Clock) -> None:
        self.name, self.scope, self._watts = name, scope, watts
        self._sum = Integral(clock)

    def begin(self) -> None:
        self._sum.begin(self._read())

    def tick(self) -> None:
        self._sum.add(self._read())

    def joules(self) -> float:
        self.tick()
        return self._sum.joules

    def _read(self) -> float:
        watts = self._watts()
        if watts is None:
            raise SourceLost("its power cannot be read any more")
        return watts


class EnergySensor:
    """Counters of whole sockets (the driver amd_energy)."""

    live = True
    scope = "CPU package"

    def __init__(self, name: str, files: list[Path], clock: Clock) -> None:
        self.name = name
        self._counters = [(file, Counter(1e-6, 0, clock)) for file in files]

    def begin(self) -> None:
        for file, counter in self._counters:
            counter.begin(_energy(file))

    def tick(self) -> None:
        for file, counter in self._counters:
            counter.add(_energy(file))

    def joules(self) -> float:
        self.tick()
        return sum(counter.joules for _, counter in self._counters)


def find(root: Path, clock: Clock = time.monotonic) -> PowerSensor | EnergySensor | None:
    """The sensor of the whole board, else that of the CPU; None where no label tells what a sensor is of."""
    found: list[tuple[int, PowerSensor | EnergySensor]] = []
    for folder in entries(root / FOLDER):
        chip = text_of(folder / "name") or ""
        if chip == "amd_energy":
            files = [
                _sibling(label, "input")
                for label in sorted(folder.glob("energy*_label"))
                if (text_of(label) or "").startswith("Esocket")
            ]
            if files and all(number_of(file) is not None for file in files):
                found.append((1, EnergySensor(f"hwmon {chip}", files, clock)))
        elif _CHIPS.fullmatch(chip):
            found += _powers(folder, chip, clock)
    return min(found, key=lambda one: one[0])[1] if found else None


def _powers(folder: Path, chip: str, clock: Clock) -> list[tuple[int, PowerSensor | EnergySensor]]:
    """(rank, sensor) for each power of a chip that can be told apart; rank 0: the whole board."""
    readers: list[tuple[str, Callable[[], float | None]]] = []
    for file in sorted([*folder.glob("power*_input"), *folder.glob("power*_average")]):
        readers.append((_label(file), lambda file=file: _watts(file)))  # type: ignore[misc]
    if not readers:
        for volts in sorted(folder.glob("in*_input")):
            amperes = folder / volts.name.replace("in", "curr", 1)
            reader = lambda volts=volts, amperes=amperes: _product(volts, amperes)  # noqa: E731
            readers.append((_label(volts), reader))
    found: list[tuple[int, PowerSensor | EnergySensor]] = []
    for label, read in readers:
        if read() is None:
            continue
        name = f"hwmon {chip} {label}".strip()
        if _WHOLE.fullmatch(label) or (len(readers) == 1 and chip == "power_meter"):
            found.append((0, PowerSensor(name, "whole board", read, clock)))
        elif _CPU.fullmatch(label) or chip == "fam15h_power":
            found.append((2, PowerSensor(name, "CPU", read, clock)))
        elif len(readers) == 1 and chip.startswith("ina"):
            found.append((3, PowerSensor(name, "the rail that the sensor is on", read, clock)))
    return found


def _sibling(file: Path, kind: str) -> Path:
    """energy1_label -> energy1_input"""
    return file.with_name(f"{file.name.partition('_')[0]}_{kind}")


def _label(file: Path) -> str:
    return text_of(_sibling(file, "label")) or ""


def _watts(file: Path) -> float | None:
    value = number_of(file)
    return value / 1e6 if value is not None and 0 <= value <= _MOST_MICROWATTS else None


def _product(volts: Path, amperes: Path) -> float | None:
    """Millivolts times milliamperes are microwatts."""
    v, a = number_of(volts), number_of(amperes)
    # a current may come with either sign, by the way the shunt is mounted
    if v is None or a is None or not 0 < v * abs(a) <= _MOST_MICROWATTS:
        return None
    return v * abs(a) / 1e6


def _energy(file: Path) -> int:
    value = number_of(file)
    if value is None or value < 0:
        raise SourceLost("its counter cannot be read any more")
    return value
