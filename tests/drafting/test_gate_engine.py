"""Gate and lenient rules inside the engine, and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mtp_cli.engine import LENIENT_RULES, Drafting, Sampling, open_engine
from mtp_cli.engine_native import NativeEngine
from numerics.feeding import tokens_for
from numerics.tiny_gguf import TinySpec

from .answers import SAMPLINGS, answer

pytestmark = pytest.mark.native

SPEC = TinySpec(weight_type="Q4_1", n_layer=1)
FLAT = [1e-3] * 16
STEEP = [1e-3, *[1.0] * 15]


@pytest.fixture
def engine(tiny: Callable[..., Path]) -> Iterator[NativeEngine]:
    opened = open_engine(tiny(SPEC), n_ctx=256, n_threads=1)
    assert isinstance(opened, NativeEngine)
    yield opened
    opened.close()


@pytest.mark.parametrize("mode", ["auto", "copy"])
def test_costs_decide(engine: NativeEngine, mode: str) -> None:
    """The source is the very answer: with free columns all of it is drafted, with dear ones nothing."""
    prompt = tokens_for(SPEC, 40)
    plain = answer(engine, prompt, max_tokens=64)
    engine._native.set_costs(FLAT)
    free = answer(engine, prompt, max_tokens=64, source=plain.tokens, drafting=Drafting(mode))
    assert free.said == plain.said
    assert free.accepted == free.drafted
    assert free.passes <= 6
    engine._native.set_costs(STEEP)
    dear = answer(engine, prompt, max_tokens=64, source=plain.tokens, drafting=Drafting(mode))
    assert (dear.said, dear.drafted, dear.passes) == (plain.said, 0, plain.passes)


def test_longest_draft(engine: NativeEngine) -> None:
    prompt = tokens_for(SPEC, 40)
    plain = answer(engine, prompt, max_tokens=64)
    for longest in (0, 1, 3, 15):
        engine._native.set_costs(FLAT)
        drafting = Drafting("auto", longest)
        found = answer(engine, prompt, max_tokens=64, source=plain.tokens, drafting=drafting)
        assert found.said == plain.said
        assert found.passes >= -(-63 // (longest + 1))
        assert (found.drafted == 0) == (longest == 0)


def test_confidence_follows_what_was_right(engine: NativeEngine) -> None:
    """A source that has nothing to do with the answer is soon drafted no longer."""
    prompt, other = tokens_for(SPEC, 40), tokens_for(SPEC, 120, 77)
    engine._native.set_costs([1e-3 * (1 + 0.35 * k) for k in range(16)])
    found = answer(engine, prompt, max_tokens=150, source=other, drafting=Drafting("auto"))
    wrong = found.drafted - found.accepted
    engine._native.set_costs([1e-3 * (1 + 0.35 * k) for k in range(16)])
    again = answer(engine, prompt, max_tokens=150, source=other, drafting=Drafting("auto"))
    assert again.said == found.said
    assert again.drafted - again.accepted <= max(wrong, len(again.tokens) // 10)
    assert again.drafted - again.accepted <= 0.3 * len(again.tokens)


PRICES = [1e-3 * (1 + 0.12 * k) for k in range(16)]


def passes_of(engine: NativeEngine, truth: list[int], source: list[int]) -> list[tuple[int, int, int]]:
    """(tokens before it, drafted, accepted) of each pass when drafts are copied from `source`."""
    prompt = tokens_for(SPEC, 40)
    engine._native.set_costs(PRICES, fixed=True)
    engine.rollback(0)
    engine.prefill(prompt)
    step = engine.start(prompt, max_tokens=len(truth), source=source, drafting=Drafting("auto"))
    said, rows = list(step.tokens), []
    while step.finish is None:
        before, step = len(said), engine.step()
        said += step.tokens
        rows.append((before, step.drafted, step.accepted))
    assert said == truth
    return rows


def price(rows: list[tuple[int, int, int]]) -> float:
    return sum(PRICES[drafted] for _, drafted, _ in rows)


@pytest.mark.parametrize("seed", range(4))
def test_the_gate_is_over_a_collapse_within_16_tokens(engine: NativeEngine, seed: int) -> None:
    """The source is the very answer up to the middle, and nothing like it from there on; priced by what
    passes cost."""
    truth = answer(engine, tokens_for(SPEC, 40), max_tokens=180).tokens
    rows = passes_of(engine, truth, [*truth[:90], *tokens_for(SPEC, 90, 77 + seed)])
    early, late = [row for row in rows if row[0] < 90], [row for row in rows if row[0] >= 90 + 16]
    assert sum(accepted for _, _, accepted in early) > 60, "it copied"
    plain = PRICES[0] * (len(truth) - late[0][0])
    assert price(late) <= plain / 0.97


def test_the_gate_comes_back_when_drafts_are_right_again(engine: NativeEngine) -> None:
    truth = answer(engine, tokens_for(SPEC, 40), max_tokens=180).tokens
    rows = passes_of(engine, truth, [*truth[:30], *tokens_for(SPEC, 40, 77), *truth[70:]])
    late = [row for row in rows if row[0] >= 70 + 32]
    assert price(late) < 0.8 * PRICES[0] * (len(truth) - late[0][0])


@pytest.mark.parametrize("costs", [[1e-3] * 15, [0.0] * 16, [float("nan")] * 16, [-1.0] * 16, [1e9] * 16])
def test_costs_that_make_no_sense_are_refused(engine: NativeEngine, costs: list[float]) -> None:
    with pytest.raises(RuntimeError):
        engine._native.set_costs(costs)


def test_costs_are_measured_once_and_kept(tiny: Callable[..., Path], tmp_path: Path) -> None:
    prompt = tokens_for(SPEC, 40)
    seen = []
    for _ in range(2):
        engine = open_engine(tiny(SPEC), n_ctx=256, n_threads=1)
        assert isinstance(engine, NativeEngine)
        answer(engine, prompt, max_tokens=1, drafting=Drafting("auto"))
        seen.append([round(cost, 7) for cost in engine.costs()])
        engine.close()
    assert seen[0] == seen[1]
    assert len(seen[0]) == 16
    assert seen[0] == sorted(seen[0])
    assert seen[0][0] > 0


@pytest.mark.parametrize("rule", LENIENT_RULES)
@pytest.mark.parametrize("sampling", SAMPLINGS[:2], ids=["greedy", "sampled"])
def test_lenient_answers(engine: NativeEngine, rule: str, sampling: Sampling) -> None:
    """At alpha 1 every rule keeps the whole source; what was lenient is counted."""
    prompt, other = tokens_for(SPEC, 40), tokens_for(SPEC, 40, 77)
    drafting = Drafting("copy", fixed=7, lenient=rule, alpha=1.0)
    found = answer(engine, prompt, max_tokens=30, source=other, sampling=sampling, drafting=drafting)
    if rule != "opt":  # q >= max p - (1 - p(v)) may fail at alpha 1
        assert found.accepted == found.drafted > 15
    assert 0 < found.lenient <= found.accepted


@pytest.mark.parametrize("length", [1, 2, 5, 15])
def test_token_v3_at_alpha_0_is_exact(engine: NativeEngine, length: int) -> None:
    for seed in (1, 2, 3):
        prompt, other = tokens_for(SPEC, 40, seed), tokens_for(SPEC, 40, 77)
        plain = answer(engine, prompt, max_tokens=40)
        for source in (other, plain.tokens):
            drafting = Drafting("copy", fixed=length, lenient="token-v3", alpha=0.0)
            found = answer(engine, prompt, max_tokens=40, source=source, drafting=drafting)
            assert (found.said, found.lenient) == (plain.said, 0)


def test_memory_stays_flat(engine: NativeEngine) -> None:
    """50 prompts in one process: within 5 MB, once all graphs are built."""
    psutil = pytest.importorskip("psutil")

    def ask(number: int) -> None:
        prompt = tokens_for(SPEC, 150, number)
        fixed = (None, 3, 15)[number % 3]
        answer(
            engine,
            prompt,
            max_tokens=60,
            source=prompt,
            sampling=SAMPLINGS[number % 3],
            drafting=Drafting("copy", fixed=fixed),
        )

    for number in range(12):
        ask(number)
    before = psutil.Process().memory_info().rss
    for number in range(50):
        ask(number)
    assert psutil.Process().memory_info().rss - before < 5e6
