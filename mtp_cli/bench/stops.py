"""Where an answer ends besides end token and limit: the same for every arm. Workers import this."""

from __future__ import annotations

from collections.abc import Sequence


class Stops:
    """A TextGate (see generate.py) that lets everything through and is `stopped` once the answer, without
    white space at its beginning, holds one of `texts`."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.stopped = False
        self._texts = [text for text in texts if text]
        self._said = ""

    def feed(self, text: str) -> str:
        if self._texts and not self.stopped:
            self._said = (self._said + text).lstrip() if not self._said else self._said + text
            self.stopped = any(stop in self._said for stop in self._texts)
        return text

    def finish(self) -> str:
        return ""
