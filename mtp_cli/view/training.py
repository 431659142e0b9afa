"""Where a training stands: one live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mtp_cli.train.session import Progress

_EVERY_S = 60.0
"""Between two lines where there is no terminal."""


class TrainingView:
    """Writes to stderr."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._told = 0.0
        self._stage = ""
        self._shown = False

    def __enter__(self) -> TrainingView:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()

    def hear(self, progress: Progress) -> None:
        """The next news."""
        if self._quiet:
            return
        line = line_of(progress)
        if self._live:
            import shutil

            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\x1b[2K" + line[:width])
            sys.stderr.flush()
            self._shown = True
            return
        now = time.monotonic()
        if progress.stage != self._stage or now - self._told >= _EVERY_S:
            self._stage, self._told = progress.stage, now
            print(line, file=sys.stderr)


def line_of(progress: Progress) -> str:
    """For instance: fit 42 %, 12 min left: loss 3.10, right 0.55 0.51 0.49"""
    share = 100 * progress.done / progress.total if progress.total else 0
    text = f"{progress.stage} {min(share, 100):.0f} %, {progress.left / 60:.0f} min left"
    return f"{text}: {progress.note}" if progress.note else text
