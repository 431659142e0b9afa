"""What leaves the battery: laptops and phones, by the power_supply files of Linux.

The whole device is measured, and only while nothing charges it. Gauges are slow (a second or more) and some
cost time to read, so they are asked before and after the model works, never meanwhile. By the kernel's papers
currents are in microamperes and voltages in microvolts; phones also give milliamperes and millivolts, and
either sign."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from mtp_cli.meters.sources import Refusal, SourceLost, entries, number_of, text_of
from mtp_cli.meters.sources.counting import Clock

NAME = "battery"
FOLDER = Path("sys/class/power_supply")
_LEAST_VOLTS, _MOST_VOLTS = 2.0, 30.0
_MOST_WATTS = 300.0
_MICRO_FROM = 20_000
"""Currents from here on are microamperes (20 mA: less than any device at work draws), below milliamperes."""


class Charging(Exception):
    """The battery is being charged, so that its current says nothing. The message says how it is known."""


class Battery:
    """Joules = mean power as it was told after each piece of work, times the time."""

    name = NAME
    scope = "whole device"
    live = False

    def __init__(self, watts: Callable[[], float], name: str = NAME, clock: Clock = time.monotonic) -> None:
        self.name = name
        self._watts, self._clock = watts, clock
        self._began = 0.0
        self._seen: list[float] = []

    def begin(self) -> None:
        self._began, self._seen = self._clock(), []

    def tick(self) -> None:
        now = self._clock()
        self._seen.append(self._read())
        # reading may take a second; that was no work
        self._began += self._clock() - now

    def joules(self) -> float:
        elapsed = self._clock() - self._began
        self._seen.append(self._read())
        return elapsed * sum(self._seen) / len(self._seen)

    def _read(self) -> float:
        try:
            return self._watts()
        except Charging as error:
            raise SourceLost(str(error)) from None


def find(root: Path, clock: Clock = time.monotonic) -> Battery | Refusal | None:
    """None where there is no battery, or none whose power can be read."""
    folder = root / FOLDER
    if not _batteries(folder):
        return None
    try:
        watts(folder)
    except Charging as error:
        return Refusal(NAME, str(error), "unplug the charger to measure")
    except SourceLost:
        return Refusal(NAME, "it tells no power that makes sense, or may not be read")
    return Battery(lambda: watts(folder), NAME, clock)


def watts(folder: Path) -> float:
    """Of all batteries. Raises Charging, or SourceLost when they tell nothing that makes sense."""
    for supply in entries(folder):
        if text_of(supply / "type") in ("Mains", "USB", "Wireless") and number_of(supply / "online") == 1:
            raise Charging("the charger is connected")
    batteries = _batteries(folder)
    for battery in batteries:
        status = (text_of(battery / "status") or "").lower()
        if status in ("charging", "full", "not charging"):
            raise Charging(f"the battery's state is '{status}', not discharging")
    found = [_power(battery) for battery in batteries]
    known = [power for power in found if power is not None]
    if not known or not 0 < sum(known) < _MOST_WATTS:
        raise SourceLost("the battery tells no power that makes sense")
    return sum(known)


def _batteries(folder: Path) -> list[Path]:
    """Those of the machine itself, not of a mouse."""
    return [
        supply
        for supply in entries(folder)
        if text_of(supply / "type") == "Battery" and text_of(supply / "scope") != "Device"
    ]


def _power(battery: Path) -> float | None:
    """Watts of one battery; None where it does not tell."""
    direct = number_of(battery / "power_now")
    if direct:
        return abs(direct) / 1e6
    current, voltage = number_of(battery / "current_now"), number_of(battery / "voltage_now")
    if current is None or voltage is None:
        return None
    volts = volts_of(voltage)
    return None if volts is None else amperes_of(current) * volts


def amperes_of(current: float) -> float:
    """From microamperes or milliamperes, of either sign."""
    return abs(current) / (1e6 if abs(current) >= _MICRO_FROM else 1e3)


def volts_of(voltage: float) -> float | None:
    """From microvolts or millivolts; None for neither."""
    for unit in (1e6, 1e3):
        if _LEAST_VOLTS <= voltage / unit <= _MOST_VOLTS:
            return voltage / unit
    return None
