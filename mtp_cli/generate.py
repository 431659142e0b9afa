"""The decode loop: prefill, decode, commit, as a generator of typed events."""

from __future__ import annotations

import codecs
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

from mtp_cli.engine import Engine, Progress
from mtp_cli.events import EndEvent, Event, FinishReason, PrefillEvent, StepEvent


class TextGate(Protocol):
    """Sees the answer's text as it grows, decides what may be shown and when enough was said."""

    stopped: bool
    """No more text is wanted."""

    def feed(self, text: str) -> str:
        """Take the next text; return what may be shown now. It may hold some back for later."""
        ...

    def finish(self) -> str:
        """The answer is over: what was held back and still counts."""
        ...


class OpenGate:
    """Lets everything through."""

    stopped = False

    def feed(self, text: str) -> str:
        return text

    def finish(self) -> str:
        return ""


def generate(
    engine: Engine,
    prompt: Sequence[int],
    *,
    max_tokens: int,
    reuse: int = 0,
    gate: TextGate | None = None,
    progress: Progress | None = None,
) -> Iterator[Event]:
    """Greedy continuation of `prompt`. The first `reuse` prompt tokens are already in the cache.

    Yields one PrefillEvent, a StepEvent per committed token (end tokens are not committed), one EndEvent.
    `gate` may hold text back and may end the answer (FinishReason.STOP_TEXT); it never changes a token.
    """
    clock = time.perf_counter
    gate = gate if gate is not None else OpenGate()
    engine.rollback(reuse)
    started = clock()
    token = engine.prefill(prompt[reuse:], progress)
    yield PrefillEvent(len(prompt), reuse, clock() - started)

    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    generated = passes = 0
    started = clock()
    while True:
        if engine.is_end(token):
            reason = FinishReason.END_TOKEN
            break
        if generated >= max_tokens:
            reason = FinishReason.TOKEN_LIMIT
            break
        generated += 1
        text = gate.feed(decoder.decode(engine.piece(token)))
        yield StepEvent(token, text, "backbone", passes, clock() - started)
        if gate.stopped:
            reason = FinishReason.STOP_TEXT
            break
        if engine.n_past >= engine.n_ctx:
            reason = FinishReason.CONTEXT_FULL
            break
        if generated < max_tokens:
            [token] = engine.decode([token])
            passes += 1
    tail = "" if gate.stopped else gate.feed(decoder.decode(b"", final=True))
    tail += gate.finish()
    yield EndEvent(reason, tail, generated, passes, 0, 0, clock() - started)
