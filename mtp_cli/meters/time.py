"""Where the time of a run goes. Seconds, on one clock."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mtp_cli.events import EndEvent, Event, PrefillEvent, StepEvent
from mtp_cli.meters.drafts import DecodeCounts

if TYPE_CHECKING:
    from mtp_cli.meters.energy import Energy, EnergyMeter

clock = time.perf_counter
_IMPORTED = clock()

_FRESH_S = 0.5
"""A reading of the energy stands that long, so that a report says one thing everywhere."""


def process_age() -> float:
    """Seconds since this process began; where the system does not tell, since this module was imported."""
    try:
        with Path("/proc/self/stat").open("rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return clock() - _IMPORTED


@dataclass(slots=True)
class RunMeter:
    """Adds up the events of all model calls of a run."""

    load_seconds: float = 0.0
    prompt_tokens: int = 0
    """tokens computed in prefills; tokens reused from the cache are in `reused_tokens`"""
    reused_tokens: int = 0
    prompt_seconds: float = 0.0
    counts: DecodeCounts = field(default_factory=DecodeCounts)
    text_counts: DecodeCounts = field(default_factory=DecodeCounts)
    """of the text that is being worked on; see `text_begins`"""
    decode_seconds: float = 0.0
    calls: int = 0
    first_token_from_process: float | None = None
    first_token_from_prompt: float | None = None
    energy: EnergyMeter | None = None
    """set where joules are wanted, before the first prompt"""
    _energy: Energy | None = None
    _energy_at: float = -1.0
    _call: StepEvent | None = None
    _call_tokens: int = 0
    _began: float = field(default_factory=clock)

    def prompt_begins(self) -> None:
        """The first prompt is about to go in."""
        self._began = clock()
        if self.energy is not None:
            self.energy.begin()

    def text_begins(self) -> None:
        """What follows belongs to another text."""
        self.text_counts = DecodeCounts()

    def feed(self, event: Event) -> None:
        """Take one event of the decode loop."""
        if isinstance(event, StepEvent):
            if self.first_token_from_process is None:
                self.first_token_from_process = process_age()
                self.first_token_from_prompt = clock() - self._began
            self._call_tokens += 1
            self._call = event
            if self.energy is not None:
                self.energy.tick()
        elif isinstance(event, PrefillEvent):
            self.prompt_tokens += event.prompt_tokens - event.reused_tokens
            self.reused_tokens += event.reused_tokens
            self.prompt_seconds += event.seconds
        elif isinstance(event, EndEvent):
            self.calls += 1
            self.counts.add(event)
            self.text_counts.add(event)
            self.decode_seconds += event.decode_seconds
            self._call_tokens, self._call = 0, None
            if self.energy is not None:
                self.energy.pause()

    def energy_used(self) -> Energy | None:
        """From the first prompt on: loading the model is not in it. None: nobody wanted to know."""
        if self.energy is not None and clock() - self._energy_at > _FRESH_S:
            self._energy = self.energy.read()
            self._energy_at = clock()
        return self._energy

    @property
    def joules_per_token(self) -> tuple[float, bool] | None:
        """So far, the prompts included, and whether it is an estimate; None where nothing tells."""
        if self.energy is None:
            return None
        found = self.energy.so_far()
        each = found.per(self.tokens_so_far)
        return None if each is None else (each, found.origin == "estimated")

    @property
    def generated_tokens(self) -> int:
        """Of finished calls."""
        return self.counts.generated_tokens

    @property
    def passes(self) -> int:
        """Of finished calls."""
        return self.counts.passes

    @property
    def acceptance(self) -> float | None:
        """accepted / drafted, the running call included; None when nothing was drafted."""
        drafted, accepted = self.counts.drafts.drafted, self.counts.drafts.accepted
        if self._call is not None:
            drafted, accepted = drafted + self._call.drafted, accepted + self._call.accepted
        return accepted / drafted if drafted else None

    @property
    def tokens_per_pass(self) -> float | None:
        """Generated tokens / backbone passes, the running call included; None before the first pass."""
        passes = self.counts.passes + (self._call.pass_number if self._call is not None else 0)
        return self.tokens_so_far / passes if passes else None

    @property
    def tokens_so_far(self) -> int:
        """Generated tokens, the running call included."""
        return self.generated_tokens + self._call_tokens

    @property
    def decode_rate(self) -> float | None:
        """Generated tokens per second of decoding, the running call included; None before the first."""
        running = self._call.seconds if self._call is not None else 0.0
        return rate(self.tokens_so_far, self.decode_seconds + running)

    @property
    def prompt_rate(self) -> float | None:
        """Prompt tokens per second of prefill; None before the first."""
        return rate(self.prompt_tokens, self.prompt_seconds)


def rate(count: int, seconds: float) -> float | None:
    """count / seconds, or None where that says nothing."""
    return count / seconds if count and seconds > 0 else None
