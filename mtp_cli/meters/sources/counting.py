"""From raw readings to joules: counters that wrap around, and powers that are summed over time."""

from __future__ import annotations

import time
from collections.abc import Callable

from mtp_cli.meters.sources import MOST_WATTS, SourceLost

Clock = Callable[[], float]


class Counter:
    """A running total in some unit, which starts again from 0 behind `highest` (0: it never does).

    It must be read at least once in each round: at 100 W, RAPL's rounds take some 40 minutes."""

    def __init__(self, joules_per_unit: float, highest: int = 0, clock: Clock = time.monotonic) -> None:
        self._unit, self._highest, self._clock = joules_per_unit, highest, clock
        self._last = 0
        self._at = 0.0
        self.joules = 0.0

    def begin(self, raw: int) -> None:
        self._last, self._at, self.joules = raw, self._clock(), 0.0

    def add(self, raw: int) -> None:
        """Take a reading. Raises SourceLost when it makes no sense."""
        now = self._clock()
        grown = raw - self._last
        if grown < 0 and self._highest:
            grown += self._highest
        joules = grown * self._unit
        # counters move in steps: a short time may hold the whole step
        if grown < 0 or joules > MOST_WATTS * max(now - self._at, 0.1):
            raise SourceLost(f"its counter jumped from {self._last} to {raw}")
        self._last, self._at = raw, now
        self.joules += joules


class Integral:
    """Watts over time, straight lines between readings."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._watts = self._at = 0.0
        self.joules = 0.0

    def begin(self, watts: float) -> None:
        self._watts, self._at, self.joules = watts, self._clock(), 0.0

    def add(self, watts: float) -> None:
        now = self._clock()
        self.joules += (now - self._at) * (watts + self._watts) / 2
        self._watts, self._at = watts, now
