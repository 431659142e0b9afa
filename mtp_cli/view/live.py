"""One line that tells what is going on, redrawn in place on stderr."""

from __future__ import annotations

import time
from typing import TextIO

from mtp_cli.view.terminal import char_width, columns, fit

_INTERVAL = 0.125
_ERASE = "\r\x1b[K"
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class LiveLine:
    """The line itself. `below` is set where stdout is the same terminal: the line then stands under the text
    that is being written, and the cursor goes back to the text each time."""

    def __init__(self, stream: TextIO, *, colour: bool = False, below: bool = False) -> None:
        self._stream = stream
        self._colour = colour
        self._below = below
        self._column: int | None = 0  # of the text's end on the screen; None: not known
        self._drawn = ""  # "" | "here" (on the cursor's row) | "under" (on the row below it)
        self._last = ""
        self._next = 0.0

    @property
    def due(self) -> bool:
        """True when enough time has passed for another look."""
        return time.monotonic() >= self._next

    def show(self, variants: list[str]) -> None:
        """Draw the first variant that fits the width, else the last one cut."""
        self._next = time.monotonic() + _INTERVAL
        width = columns(self._stream) - 1
        text = next((line for line in variants if len(line) <= width), fit(variants[-1], width))
        self._last = text
        self._put(text)

    def _put(self, text: str) -> None:
        under = self._below and self._column != 0
        if under and not self._room():
            self._erase()
            return
        drawn = f"{_DIM}{text}{_PLAIN}" if self._colour else text
        if under:  # make room for a line below, without losing the column; go there, write, come back
            self._stream.write(f"\x1bD\x1b[A\x1b7\x1b[B{_ERASE}{drawn}\x1b8")
            self._drawn = "under"
        else:
            self._stream.write(f"{_ERASE}{drawn}")
            self._drawn = "here"
        self._stream.flush()

    def clear(self) -> None:
        """Take the line off the screen; text that is written does not bring it back."""
        self._erase()
        self._last = ""

    def _erase(self) -> None:
        if self._drawn:
            self._stream.write("\x1b[J" if self._drawn == "under" else _ERASE)
            self._stream.flush()
            self._drawn = ""

    def _room(self) -> bool:
        """True when the end of the text is at a column from which the cursor can leave and come back."""
        return self._column is not None and 0 < self._column < columns(self._stream) - 1

    def before_text(self, text: str) -> None:
        """`text` is about to go to stdout: make way, unless it stays on its row above the line."""
        stays = self._drawn == "under" and self._column is not None and text.isascii() and text.isprintable()
        if not stays or (self._column or 0) + len(text) >= columns(self._stream) - 1:
            self._erase()

    def after_text(self, text: str) -> None:
        """`text` went to stdout: find the place below it, and show the line again if it had to go."""
        if not self._below:
            return
        self._follow(text)
        if not self._drawn and self._last:
            self._put(self._last)

    def _follow(self, text: str) -> None:
        start = text.rfind("\n") + 1
        if start:
            self._column = 0
        if self._column is None:
            return
        width = columns(self._stream)
        for char in text[start:]:
            step = char_width(char)
            if step is None:
                self._column = None
                return
            left = self._column % width
            self._column = self._column - left + width + step if left + step > width else self._column + step
        if self._column:
            self._column = (self._column - 1) % width + 1
