"""Questions to one engine, one after another: what two prompts begin with in common is computed once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mtp_cli.engine import AUTO, GREEDY, Drafting, Engine, EngineError, Progress, Sampling
from mtp_cli.events import Event, StepEvent
from mtp_cli.generate import TextGate, generate
from mtp_cli.tasks.prompts import common_prefix

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


_CHEAPER_TOGETHER = 8
"""Tokens in front of those whose logits are wanted that need no pass of their own."""


class Rows:
    """Rows of logits [n, n_vocab], as the engine gives them, read as log-probabilities."""

    def __init__(self, logits: npt.NDArray[np.float32] | None = None) -> None:
        self._logits = logits
        self._totals: dict[int, float] = {}

    def __len__(self) -> int:
        return 0 if self._logits is None else len(self._logits)

    def log_p(self, at: int, token: int) -> float:
        """ln p of a token in a row."""
        return float(self._row(at)[token]) - self._total(at)

    def likelier(self, at: int, token: int, other: int) -> float:
        """ln p of a token in a row less that of another one: cheaper than two log_p."""
        row = self._row(at)
        return float(row[token]) - float(row[other])

    def best_beside(self, at: int, token: int) -> int:
        """The likeliest token in a row beside this one."""
        row = self._row(at)
        best = int(row.argmax())
        if best != token:
            return best
        left, right = row[:token], row[token + 1 :]
        tops = [
            (float(part.max()), first + int(part.argmax()))
            for part, first in ((left, 0), (right, token + 1))
            if len(part)
        ]
        return max(tops)[1]

    def _row(self, at: int) -> npt.NDArray[np.float32]:
        if self._logits is None:
            raise IndexError(at)
        row: npt.NDArray[np.float32] = self._logits[at]
        return row

    def _total(self, at: int) -> float:
        """ln of the sum of the row, exponentiated; computed when it is first asked for."""
        if at not in self._totals:
            import numpy as np

            row = self._row(at)
            top = float(row.max())
            self._totals[at] = top + math.log(float(np.exp(row - np.float32(top)).sum()))
        return self._totals[at]


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

    def rows(self, tokens: Sequence[int], start: int) -> Rows:
        """A row for each of tokens[start:]: how likely every token is in its place, given the tokens before
        it. `start` is at least 1. Raises EngineError."""
        if start >= len(tokens):
            return Rows()
        reuse = self._rewind(tokens[:start])
        self._cached = list(tokens[:-1])
        try:
            first = start - 1
            if first - reuse > _CHEAPER_TOGETHER:
                self.engine.prefill(tokens[reuse:first])
                reuse = first
            return Rows(self.engine.logits(tokens[reuse:-1])[first - reuse :])
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
