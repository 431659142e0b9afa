"""Shows a model being fetched, on stderr: what comes and on which terms, then a bar or a few plain lines."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

from mtp_cli.catalog.errors import size_text
from mtp_cli.catalog.report import PullDone, PullEvent, PullProgress, PullStart
from mtp_cli.view.terminal import can_redraw, columns, fit

_BAR = 24
_TTY_SECONDS = 0.1
_PLAIN_SHARE = 0.25
_WORDS = {"downloading": "downloading", "verifying": "checking", "waiting": "waiting for another mtp"}


class PullView:
    """A `report` for the catalog: `with PullView() as view: catalog.resolve(name, report=view)`.

    On a terminal one line is redrawn; elsewhere there is a line for every quarter. `quiet` leaves only
    the terms of what is fetched, which a person should always see."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._live = can_redraw(self._stream)
        self._quiet = quiet
        self._drawn = False
        self._next_draw = 0.0
        self._stage = ""
        self._stage_began = 0.0
        self._next_share = 0.0

    def __enter__(self) -> PullView:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()

    def __call__(self, event: PullEvent) -> None:
        if isinstance(event, PullStart):
            self._start(event)
        elif isinstance(event, PullProgress):
            if not self._quiet:
                self._progress(event)
        else:
            self._done(event)

    def _start(self, event: PullStart) -> None:
        size = size_text(event.download_bytes) if event.download_bytes else "size not known"
        disk = f", {size_text(event.file_bytes)} on disk" if event.file_bytes else ""
        self._line(f"mtp: fetching {event.name} ({event.title}): {size}{disk} in {event.folder}")
        self._line(f"mtp: licence {event.licence_name}: {event.licence_note} {event.licence_url}")

    def _progress(self, event: PullProgress) -> None:
        now = time.monotonic()
        if event.stage != self._stage:
            self._stage, self._stage_began = event.stage, now
            self._next_draw = self._next_share = 0.0
            if event.stage == "waiting" and not self._live:
                self._line(f"mtp: {_WORDS[event.stage]}")
        share = min(event.done / event.total, 1.0) if event.total else 0.0
        if self._live:
            if now >= self._next_draw:
                self._next_draw = now + _TTY_SECONDS
                self._stream.write(f"\r\x1b[K{self._fitting(event, share, now - self._stage_began)}")
                self._stream.flush()
                self._drawn = True
        elif event.stage == "downloading" and share >= max(self._next_share, _PLAIN_SHARE):
            self._next_share = (share // _PLAIN_SHARE + 1) * _PLAIN_SHARE
            self._line(f"mtp: {self._text(event, share, now - self._stage_began, bar=False)}")

    def _fitting(self, event: PullProgress, share: float, seconds: float) -> str:
        """What of it the terminal has room for; a line of full width would already wrap."""
        room = columns(self._stream) - 1
        whole = self._text(event, share, seconds)
        return whole if len(whole) <= room else fit(self._text(event, share, seconds, bar=False), room)

    def _text(self, event: PullProgress, share: float, seconds: float, *, bar: bool = True) -> str:
        word = _WORDS[event.stage]
        if not event.total:
            return word
        filled = round(share * _BAR)
        drawn = f"[{'#' * filled}{'.' * (_BAR - filled)}] " if bar else ""
        text = f"{word} {drawn}{share:4.0%} of {size_text(event.total)}"
        if seconds >= 1 and event.done:
            text += f", {size_text(round(event.done / seconds))}/s"
        return text

    def _done(self, event: PullDone) -> None:
        if not self._quiet:
            self._line(f"mtp: {event.name} is complete and checked ({event.seconds:.0f} s): {event.path}")

    def _line(self, text: str) -> None:
        self._clear()
        self._stream.write(text + "\n")
        self._stream.flush()

    def _clear(self) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False
