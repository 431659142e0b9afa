"""A phone's battery by `termux-battery-status` (the app and package Termux:API), where sysfs is not readable.

The command takes about a second: it runs before and after the model works."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable

from mtp_cli.meters.sources import Refusal, SourceLost
from mtp_cli.meters.sources.battery import Battery, Charging, amperes_of, volts_of
from mtp_cli.meters.sources.counting import Clock

NAME = "battery (termux-battery-status)"
COMMAND = "termux-battery-status"
_NOMINAL_MILLIVOLTS = 3850.0
"""Of a lithium cell, for the versions that tell no voltage; from full to empty it is 4400 to 3400."""
_PATIENCE_S = 5.0

Ask = Callable[[], str]


def find(clock: Clock = time.monotonic, ask: Ask | None = None) -> Battery | Refusal | None:
    """None without the command."""
    if ask is None:
        if shutil.which(COMMAND) is None:
            return None
        ask = _run
    reader = ask
    try:
        watts(reader())
    except Charging as error:
        return Refusal(NAME, str(error), "unplug the charger to measure")
    except SourceLost as error:
        return Refusal(NAME, str(error), "install the app Termux:API, and run: pkg install termux-api")
    return Battery(lambda: watts(reader()), NAME, clock)


def watts(answer: str) -> float:
    """Raises Charging or SourceLost."""
    try:
        found = json.loads(answer)
        plugged, status = str(found.get("plugged", "")), str(found.get("status", ""))
        current, voltage = float(found["current"]), float(found.get("voltage") or _NOMINAL_MILLIVOLTS)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise SourceLost("it tells no current") from None
    if plugged.upper().startswith("PLUGGED"):
        raise Charging("the charger is connected")
    if status.upper() in ("CHARGING", "FULL", "NOT_CHARGING"):
        raise Charging(f"the battery's state is '{status.lower()}', not discharging")
    volts = volts_of(voltage)
    power = None if volts is None else amperes_of(current) * volts
    if power is None or not 0 < power < 100:
        raise SourceLost("it tells no power that makes sense")
    return power


def _run() -> str:
    try:
        done = subprocess.run(
            [COMMAND],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        raise SourceLost("it does not answer") from None
    return done.stdout
