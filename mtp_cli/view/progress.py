"""Job events -> the live line and the notes on stderr."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from mtp_cli.events import EndEvent, PrefillEvent, StepEvent
from mtp_cli.meters import memory
from mtp_cli.meters.remaining import Remaining, in_words
from mtp_cli.meters.time import RunMeter
from mtp_cli.tasks.job import JobEvent, Part, PartDone, Plan, Reading, Text
from mtp_cli.view.live import LiveLine
from mtp_cli.view.terminal import can_redraw, is_terminal, use_colour

_TELL_SECONDS = 10.0


class Progress:
    """Listens to a job. `streaming` tells that Text events are written to stdout as they come."""

    def __init__(
        self, meter: RunMeter, *, quiet: bool, colour: str, streaming: bool, stream: TextIO | None = None
    ) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._meter = meter
        self._quiet = quiet
        self._line: LiveLine | None = None
        if not quiet and can_redraw(self._stream):
            below = streaming and is_terminal(sys.stdout)
            self._line = LiveLine(self._stream, colour=use_colour(colour, self._stream), below=below)
        self._part = ""
        self._resident = ""
        self._remaining, self._kept = Remaining(), False
        self._left = ""
        self._told = time.monotonic()

    @property
    def live(self) -> bool:
        """Whether there is a live line."""
        return self._line is not None

    def note(self, text: str) -> None:
        """One line for the person, unless --quiet."""
        if self._quiet:
            return
        self.clear()
        self._stream.write(f"mtp: {text}\n")
        self._stream.flush()

    def step(self, text: str) -> None:
        """How far work of many parts is, on the live line alone."""
        if self._line and self._line.due:
            self._line.show([text])

    def loading(self, done: int, total: int) -> None:
        """A Progress for open_engine."""
        if self._line and self._line.due:
            self._line.show([f"loading {done * 100 // max(total, 1)} %"])

    def hear(self, event: JobEvent) -> None:
        """Take one event."""
        if isinstance(event, Plan):
            self._part, self._left = "", ""
            self._remaining, self._kept = Remaining(), False
        elif isinstance(event, Part):
            self._part = f" {event.what} {event.number}/{event.total}" if event.total > 1 else ""
            self._follow(event)
        elif isinstance(event, PartDone):
            self._kept = event.kept
        elif self._line and self._line.due:
            if isinstance(event, Reading):
                self._show(
                    f"reading{self._part} {event.done:,}/{event.total:,} tokens", self._meter.prompt_rate
                )
            elif isinstance(event, (StepEvent, EndEvent, Text)):
                tokens = f"writing{self._part} {self._meter.tokens_so_far:,} tokens"
                self._show(tokens, self._meter.decode_rate, *self._drafting())
            elif isinstance(event, PrefillEvent):
                self._show(f"reading{self._part} {event.prompt_tokens:,} tokens", self._meter.prompt_rate)

    def before_text(self, text: str) -> None:
        """`text` is about to go to stdout."""
        if self._line:
            self._line.before_text(text)

    def after_text(self, text: str) -> None:
        """`text` went to stdout."""
        if self._line:
            self._line.after_text(text)

    def clear(self) -> None:
        """Take the live line off the screen."""
        if self._line:
            self._line.clear()

    def _follow(self, event: Part) -> None:
        """Time left of a job in parts; where there is no live line, a note of it now and then."""
        if event.done is None or event.total < 2:
            return
        self._remaining.feed(event.done, kept=self._kept)
        seconds = self._remaining.seconds
        self._left = f"{in_words(seconds)} left" if seconds is not None else ""
        if self._line is None and self._left and time.monotonic() - self._told > _TELL_SECONDS:
            self._told = time.monotonic()
            self.note(f"{event.what} {event.number} of {event.total}, about {self._left}")

    def _drafting(self) -> tuple[str, str]:
        """Acceptance and tokens per pass, long and short; nothing while nothing was drafted."""
        acceptance, width = self._meter.acceptance, self._meter.tokens_per_pass
        if acceptance is None or width is None:
            return "", ""
        percent = f"{100 * acceptance:.0f}%"
        return f"{percent} of drafts  {width:.1f} tok/pass", f"{percent} {width:.1f}/pass"

    def _joules(self) -> str:
        """Joules for each generated token so far, and whether that is an estimate."""
        found = self._meter.joules_per_token
        return "" if found is None else f"{'about ' * found[1]}{found[0]:.2g} J/tok"

    def _show(self, stage: str, rate: float | None, drafting: str = "", drafting_short: str = "") -> None:
        if not self._line:
            return
        speed = f"{rate:.1f} tok/s" if rate else ""
        resident = memory.resident().value
        used = f"{resident / 1e6:,.0f} MB" if resident is not None else "memory unavailable"
        short = stage.replace(" tokens", "")
        left, energy = self._left, self._joules()
        variants = [
            (stage, left, speed, drafting, energy, used),
            (stage, left, speed, drafting, used),
            (stage, left, speed, drafting_short, used),
            (short, left, speed, drafting_short, used),
            (short, left, speed, drafting_short),
            (short, left, speed),
            (short, left),
            *([(self._part.strip(), left)] if self._part and left else []),
            (short,),
        ]
        self._line.show(["  ".join(part for part in variant if part) for variant in variants])
