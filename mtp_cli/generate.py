"""The decode loop: prefill, decode, commit, as a generator of typed events."""

from __future__ import annotations

import codecs
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol

from mtp_cli.engine import AUTO, GREEDY, Drafting, Engine, Progress, Sampling, Step
from mtp_cli.events import DraftCounts, EndEvent, Event, FinishReason, PrefillEvent, Source, StepEvent


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
    source: Sequence[int] = (),
    sampling: Sampling = GREEDY,
    drafting: Drafting = AUTO,
    gate: TextGate | None = None,
    progress: Progress | None = None,
) -> Iterator[Event]:
    """Continuation of `prompt`. The first `reuse` prompt tokens are already in the cache.

    `source`: tokens that the answer is expected to repeat with edits. Drafting changes how many passes it
    takes, never a token (unless it is lenient). Yields one PrefillEvent, a StepEvent per committed token (end
    tokens are not committed), one EndEvent. `gate` may hold text back and may end the answer
    (FinishReason.STOP_TEXT); it never changes a token. Whoever stops early finds in the cache the prompt and
    what was yielded, and nothing else.
    """
    clock = time.perf_counter
    gate = gate if gate is not None else OpenGate()
    engine.rollback(reuse)
    started = clock()
    engine.prefill(prompt[reuse:], progress)
    yield PrefillEvent(len(prompt), reuse, clock() - started)

    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    tokens: Counter[Source] = Counter()
    drafts: dict[Source, DraftCounts] = {}
    passes = drafted = accepted = 0
    started = clock()
    try:
        step = engine.start(
            prompt, max_tokens=max_tokens, source=source, sampling=sampling, drafting=drafting
        )
        while True:
            drafted += step.drafted
            accepted += step.accepted
            taken = 0
            for token, origin in zip(step.tokens, step.sources, strict=True):
                tokens[origin] += 1
                taken += 1
                text = gate.feed(decoder.decode(engine.piece(token)))
                yield StepEvent(token, text, origin, passes, clock() - started, drafted, accepted)
                if gate.stopped:
                    break
            _count(drafts, step, taken if gate.stopped else None)
            if gate.stopped or step.finish is not None:
                break
            step = engine.step()
            passes += 1
    finally:
        engine.rollback(min(engine.n_past, len(prompt) + tokens.total()))
    reason = FinishReason.STOP_TEXT if gate.stopped else step.finish
    assert reason is not None
    tail = "" if gate.stopped else gate.feed(decoder.decode(b"", final=True))
    tail += gate.finish()
    yield EndEvent(
        reason,
        tail,
        tokens.total(),
        passes,
        sum(counts.drafted for counts in drafts.values()),
        sum(counts.accepted for counts in drafts.values()),
        clock() - started,
        dict(tokens),
        drafts,
    )


def _count(drafts: dict[Source, DraftCounts], step: Step, taken: int | None) -> None:
    """Add the draft of a pass. `taken`: the answer ended after that many of its tokens, so that what was
    tested behind them does not count."""
    tested = step.drafted if taken is None else min(step.drafted, taken)
    for place, source in enumerate(step.draft_sources[:tested]):
        kept = place < step.accepted
        # which of the accepted were lenient is not told: they count from the first on
        drafts.setdefault(source, DraftCounts()).add(place, kept=kept, lenient=kept and place < step.lenient)
