"""Answers of an engine, step by step, with what has to hold at every step; and drafters to mislead it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mtp_cli.engine import GREEDY, MAX_DRAFT, Drafting, Engine, Sampling, Step
from mtp_cli.events import FinishReason

OFF = Drafting("off")
SAMPLINGS = (
    GREEDY,
    Sampling(temperature=1.0, seed=1),
    Sampling(temperature=0.7, top_k=50, top_p=0.95, min_p=0.02, repeat_penalty=1.2, seed=2),
)
Drafter = Callable[[list[int]], object]


@dataclass
class Answer:
    """All tokens of an answer, and how it went."""

    tokens: list[int] = field(default_factory=list)
    finish: FinishReason | None = None
    passes: int = 0
    drafted: int = 0
    accepted: int = 0
    lenient: int = 0

    @property
    def said(self) -> tuple[list[int], FinishReason | None]:
        """What must not depend on drafting."""
        return self.tokens, self.finish


def answer(
    engine: Engine,
    prompt: Sequence[int],
    *,
    max_tokens: int,
    source: Sequence[int] = (),
    sampling: Sampling = GREEDY,
    drafting: Drafting = OFF,
    prefilled: bool = False,
) -> Answer:
    """Answer `prompt`. `prefilled`: it is in the cache already, of which only the last token is fed again."""
    engine.rollback(len(prompt) - 1 if prefilled else 0)
    engine.prefill(prompt[-1:] if prefilled else prompt)
    found = Answer()
    step = engine.start(prompt, max_tokens=max_tokens, source=source, sampling=sampling, drafting=drafting)
    _take(found, step, engine, prompt)
    assert (step.drafted, step.accepted) == (0, 0)
    while found.finish is None:
        step = engine.step()
        found.passes += 1
        _take(found, step, engine, prompt)
    assert engine.step().tokens == (), "a finished answer goes on"
    assert len(found.tokens) <= max_tokens
    return found


def _take(found: Answer, step: Step, engine: Engine, prompt: Sequence[int]) -> None:
    found.tokens += step.tokens
    found.finish = step.finish
    found.drafted += step.drafted
    found.accepted += step.accepted
    found.lenient += step.lenient
    assert len(step.sources) == len(step.tokens)
    assert 0 <= step.lenient <= step.accepted <= step.drafted <= MAX_DRAFT
    assert sum(source != "backbone" for source in step.sources) <= step.accepted
    assert not any(engine.is_end(token) for token in step.tokens)
    if step.finish is None:
        assert len(step.tokens) == step.accepted + 1
        assert engine.n_past == len(prompt) + len(found.tokens) - 1
    assert engine.n_past <= min(engine.n_ctx, len(prompt) + len(found.tokens))


class Scripted:
    """A drafter that does one thing after another: ("right", n), ("wrong", n), ("half", n) drafts of n
    tokens, ("junk", list) any ids, ("raise",), ("none",) no list at all."""

    def __init__(
        self, script: Sequence[tuple[object, ...]], prompt: int, truth: Sequence[int], n_vocab: int
    ) -> None:
        self._script, self._prompt, self._truth, self._n_vocab = script, prompt, truth, n_vocab
        self.calls = 0

    def __call__(self, history: list[int]) -> object:
        what, *how = self._script[self.calls % len(self._script)]
        self.calls += 1
        if what == "raise":
            raise RuntimeError("a drafter that fails")
        if what == "none":
            return None
        if what == "junk":
            return how[0]
        count = how[0]
        assert isinstance(count, int)
        right = list(self._truth[len(history) - self._prompt :][:count])
        right += [7] * (count - len(right))
        keep = {"right": count, "wrong": 0, "half": count // 2}[str(what)]
        return right[:keep] + [(token + 1) % self._n_vocab for token in right[keep:]]
