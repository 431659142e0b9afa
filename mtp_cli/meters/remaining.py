"""How much time a job in parts still takes."""

from __future__ import annotations

from mtp_cli.meters.time import clock

_LEAST_SECONDS = 2.0


class Remaining:
    """Fed with the share of the work that is done; tells seconds from the pace so far."""

    def __init__(self) -> None:
        self._began = clock()
        self._done_at = self._began
        self._done = 0.0
        self._skipped = 0.0

    def feed(self, done: float, *, kept: bool = False) -> None:
        """`done` of 1 is behind. `kept`: the last of it took no work, so that it says nothing of the pace."""
        if kept:
            self._skipped += max(0.0, done - self._done)
        self._done, self._done_at = done, clock()

    @property
    def seconds(self) -> float | None:
        """None while nothing is done yet."""
        worked = self._done - self._skipped
        spent = self._done_at - self._began
        if worked <= 0 or spent < _LEAST_SECONDS:
            return None
        whole = spent / worked * (1 - self._done)
        return max(0.0, whole - (clock() - self._done_at))


def in_words(seconds: float) -> str:
    """ "40 s", "3 min", "1 h 20 min"."""
    if seconds < 90:
        return f"{max(1, round(seconds / 5) * 5)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
