"""Questions to one engine, one after another: what two prompts begin with in common is computed once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mtp_cli.engine import AUTO, GREEDY, Drafting, Engine, EngineError, Progress, Sampling
from mtp_cli.events import Event, StepEvent
from mtp_cli.generate import TextGate, generate
from mtp_cli.tasks.prompts import common_prefix


class Session:
    """Knows which tokens the engine's cache holds."""

    def __init__(self, engine: Engine, *, sampling: Sampling = GREEDY, drafting: Drafting = AUTO) -> None:
        self.engine = engine
        self._sampling = sampling
        self._drafting = drafting
        self._cached: list[int] = []

    def ask(
        self,
        prompt: Sequence[int],
        *,
        max_tokens: int,
        source: Sequence[int] = (),
        gate: TextGate | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Event]:
        """As `generate`, with the longest possible `reuse`. Close the iterator before the next question."""
        reuse = self._rewind(prompt)
        self._cached = list(prompt)
        try:
            for event in generate(
                self.engine,
                prompt,
                max_tokens=max_tokens,
                reuse=reuse,
                source=source,
                sampling=self._sampling,
                drafting=self._drafting,
                gate=gate,
                progress=progress,
            ):
                if isinstance(event, StepEvent):
                    self._cached.append(event.token)
                yield event
        finally:
            del self._cached[self.engine.n_past :]

    def _rewind(self, prompt: Sequence[int]) -> int:
        """Take the cache back to what it shares with `prompt`; at least one token stays to be computed."""
        reuse = min(common_prefix(self._cached, prompt), len(prompt) - 1)
        try:
            self.engine.rollback(reuse)
        except EngineError:  # a sliding window has let go of what this would need
            reuse = 0
            self.engine.rollback(0)
        return reuse
