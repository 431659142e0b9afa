"""Energy of a piece of work: measured where there is a sensor, else estimated from counted work."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mtp_cli.meters import Origin
from mtp_cli.meters.estimate import Constants, constants_for, estimate
from mtp_cli.meters.sources import Source, SourceLost
from mtp_cli.work import Work

_TICK_S = 0.25
_PAUSE_S = 20.0
"""Least time between readings of a slow sensor."""
COUNTED = "counted work"


@dataclass(frozen=True, slots=True)
class Energy:
    """joules is None exactly when `origin` is unavailable; low and high: of an estimate. source: the sensor,
    or "counted work"; scope: what the joules are those of. What is measured
    holds the idle power too. note: what the
    reader must know, such as a sensor that went away."""

    joules: float | None
    origin: Origin
    source: str = ""
    scope: str = ""
    low: float | None = None
    high: float | None = None
    note: str = ""

    def per(self, count: int) -> float | None:
        """Joules for each of `count` things; None where that says nothing."""
        return self.joules / count if self.joules is not None and count else None

    def record(self, tokens: int) -> dict[str, Any]:
        """For JSON: joules of the whole job, and for each generated token."""
        if self.joules is None:
            return {"origin": self.origin, **({"note": self.note} if self.note else {})}
        each = self.per(tokens)
        return {
            "origin": self.origin,
            "source": self.source,
            "scope": self.scope,
            "joules": _rounded(self.joules),
            "joules_per_token": _rounded(each) if each is not None else "unavailable",
            **({"range": [_rounded(self.low), _rounded(self.high)]} if self.low is not None else {}),
            **({"idle": "included"} if self.origin == "measured" else {}),
            **({"note": self.note} if self.note else {}),
        }


UNKNOWN = Energy(None, "unavailable")


class EnergyMeter:
    """Joules since `begin`. `work` tells the counted work so far, or None where nothing counts it.

    A sensor that goes away, or that a charger makes meaningless, is given up for the estimate, and that is
    said. A person's machine does other work too: a measurement has all of it."""

    def __init__(
        self,
        source: Source | None,
        work: Callable[[], Work | None],
        *,
        constants: Constants | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source, self._work, self._clock = source, work, clock
        self._constants = constants if constants is not None else constants_for()
        self._before: Work | None = None
        self._next = 0.0
        self._note = ""

    def begin(self) -> None:
        """Forget what was before."""
        self._before = self._work()
        live = self._source is None or self._source.live
        self._next = self._clock() + (_TICK_S if live else _PAUSE_S)
        self._guard(lambda source: source.begin())

    def tick(self) -> None:
        """While the model works: call it often; few of the calls do something."""
        now = self._clock()
        if now < self._next or self._source is None or not self._source.live:
            return
        self._next = now + _TICK_S
        self._guard(lambda source: source.tick())

    def pause(self) -> None:
        """Between answers: sensors that must not be read meanwhile are read here."""
        if self._source is None or self._source.live or self._clock() < self._next:
            return
        self._guard(lambda source: source.tick())
        self._next = self._clock() + _PAUSE_S

    def so_far(self) -> Energy:
        """For the live line: no sensor is asked that takes time."""
        if self._source is not None and not self._source.live:
            return UNKNOWN
        return self.read()

    def read(self) -> Energy:
        """Since `begin`."""
        source = self._source
        joules: list[float] = []
        self._guard(lambda source: joules.append(source.joules()))
        if joules and source is not None:
            return Energy(joules[0], "measured", source.name, source.scope, note=self._note)
        return self._estimated()

    def _estimated(self) -> Energy:
        now = self._work()
        if now is None or self._before is None:
            return Energy(None, "unavailable", note=self._note)
        found = estimate(now - self._before, self._constants)
        return Energy(
            found.joules,
            "estimated",
            COUNTED,
            "cores at work and memory",
            found.low,
            found.high,
            note=self._note,
        )

    def _guard(self, use: Callable[[Source], None]) -> None:
        """Use the sensor, if there is one; what goes wrong ends its use."""
        if self._source is None:
            return
        try:
            use(self._source)
        except SourceLost as error:
            self._note = f"{self._source.name} gave up: {error}"
            self._source = None


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
