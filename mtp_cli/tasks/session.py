"""Questions to one engine, one after another: what two prompts begin with in common is computed once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mtp_cli.engine import AUTO, GREEDY, Drafting, Engine, EngineError, Progress, Sampling
from mtp_cli.events import Event, StepEvent
from mtp_cli.generate import TextGate, generate
from mtp_cli.tasks.prompts import common_prefix

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


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

    def log_probs(self, tokens: Sequence[int], start: int) -> npt.NDArray[np.float32]:
        """A row for each of tokens[start:]: ln p of every token in its place, given the tokens before it.
        `start` is at least 1. Raises EngineError."""
        import numpy as np

        if start >= len(tokens):
            return np.zeros((0, 0), np.float32)
        reuse = self._rewind(tokens[:start])
        self._cached = list(tokens[:-1])
        try:
            if reuse < start - 1:
                self.engine.prefill(tokens[reuse : start - 1])
            rows = self.engine.logits(tokens[start - 1 : -1])
        finally:
            del self._cached[self.engine.n_past :]
        top = rows.max(axis=1, keepdims=True)
        shifted: npt.NDArray[np.float32] = rows - top
        shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return shifted

    def _rewind(self, prompt: Sequence[int]) -> int:
        """Take the cache back to what it shares with `prompt`; at least one token stays to be computed."""
        reuse = min(common_prefix(self._cached, prompt), len(prompt) - 1)
        try:
            self.engine.rollback(reuse)
        except EngineError:  # a sliding window has let go of what this would need
            reuse = 0
            self.engine.rollback(0)
        return reuse
