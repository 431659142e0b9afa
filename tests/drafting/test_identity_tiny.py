"""Whatever is drafted, the text is that of plain decoding. On tiny random models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mtp_cli.engine import GREEDY, Drafting, Engine, EngineError, Sampling, open_engine
from mtp_cli.engine_native import NativeEngine
from mtp_cli.events import EndEvent, FinishReason, StepEvent
from mtp_cli.generate import generate
from numerics.feeding import tokens_for
from numerics.tiny_gguf import TinySpec, gemma_spec
from numerics.tiny_head import make_head, write_head

from .answers import OFF, SAMPLINGS, Answer, Scripted, answer

pytestmark = pytest.mark.native

SPECS = (TinySpec(weight_type="Q4_1", n_layer=1), gemma_spec(weight_type="Q8_0", sliding_window=16))
N_CTX = 160
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 15)
Tiny = Callable[..., Path]


def repetitive(seed: int, count: int = 48) -> list[int]:
    """A prompt in which copying has something to find."""
    phrase = tokens_for(SPECS[0], 9, seed)
    return ([*phrase, *tokens_for(SPECS[0], 3, seed + 1), *phrase] * count)[:count]


@pytest.fixture(
    scope="module",
    params=[(SPECS[0], 1), (SPECS[0], 2), (SPECS[1], 2)],
    ids=lambda case: f"{case[0].label()}-{case[1]}",
)
def engine(
    request: pytest.FixtureRequest, tiny: Tiny, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NativeEngine]:
    """Both architectures, 1 or 2 threads; the same process answers all questions of the module."""
    spec, threads = request.param
    opened = open_engine(tiny(spec), n_ctx=N_CTX, n_threads=threads)
    assert isinstance(opened, NativeEngine)
    last = spec.n_layer - 1
    head = make_head(spec, [[0, last] if last else [0]], groups=tuple(range(0, 37, 2)), outlook=True)
    opened.open_head(write_head(tmp_path_factory.mktemp("head") / "x.head.gguf", head, opened.fingerprint))
    yield opened
    opened.close()


def drafted(engine: NativeEngine, drafter: Any, prompt: list[int], **options: Any) -> Answer:
    """An answer with drafts of a Python function."""
    engine.set_drafter(drafter)
    try:
        return answer(engine, prompt, **options)
    finally:
        engine.set_drafter(None)


def test_plain_is_one_token_after_another(engine: NativeEngine) -> None:
    prompt = tokens_for(SPECS[0], 40)
    plain = answer(engine, prompt, max_tokens=50)
    assert (plain.passes, plain.drafted) == (len(plain.tokens) - 1, 0)
    engine.rollback(0)
    token, by_hand = engine.prefill(prompt), []
    while not engine.is_end(token) and len(by_hand) < 50:
        by_hand.append(token)
        [token] = engine.decode([token])
    assert plain.tokens == by_hand


LENGTH = st.integers(1, 20)
JUNK = st.lists(
    st.one_of(st.integers(0, 300), st.integers(-5, 320), st.sampled_from([-(2**31), 2**31 - 1, 2**40, -1])),
    max_size=40,
)
ACTS = st.one_of(
    st.tuples(st.sampled_from(["right", "wrong", "half"]), LENGTH),
    st.tuples(st.just("junk"), JUNK),
    st.sampled_from([("raise",), ("none",), ("right", 100), ("junk", [])]),
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    script=st.lists(ACTS, min_size=1, max_size=5),
    seed=st.integers(0, 4),
    length=st.integers(1, N_CTX),
    max_tokens=st.integers(0, 40),
    sampling=st.sampled_from(SAMPLINGS),
    drafting=st.sampled_from([OFF, Drafting("copy"), Drafting("copy", 3), Drafting("copy", fixed=7)]),
)
def test_any_drafter(
    engine: NativeEngine,
    script: list[tuple[object, ...]],
    seed: int,
    length: int,
    max_tokens: int,
    sampling: Sampling,
    drafting: Drafting,
) -> None:
    """Right, wrong, half right, none, too long, no token ids, failing: nothing of it shows in the text."""
    prompt = tokens_for(SPECS[0], length, seed)
    engine._native.set_costs([1e-3] * 16)
    plain = answer(engine, prompt, max_tokens=max_tokens, sampling=sampling)
    drafter = Scripted(script, len(prompt), plain.tokens, engine.info.n_vocab)
    found = drafted(engine, drafter, prompt, max_tokens=max_tokens, sampling=sampling, drafting=drafting)
    assert found.said == plain.said
    assert found.passes <= plain.passes


HEADED = [Drafting(mode, fixed=fixed) for mode in ("head", "copy+head") for fixed in (None, 1, 3, 15)]


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["greedy", "seed1", "seed2"])
@pytest.mark.parametrize("drafting", [*HEADED, Drafting("auto")], ids=lambda d: f"{d.mode}-{d.fixed}")
def test_drafts_of_a_head(engine: NativeEngine, drafting: Drafting, sampling: Sampling) -> None:
    """A head that knows nothing, alone and beside copying: the text stays, and no pass is added."""
    # drafting that costs next to nothing, so that the gate asks for it
    engine._native.set_costs([1e-3 + 1e-6 * i for i in range(16)])
    for seed in range(3):
        prompt = repetitive(seed)
        plain = answer(engine, prompt, max_tokens=40, sampling=sampling)
        found = answer(
            engine, prompt, max_tokens=40, sampling=sampling, source=plain.tokens[3:30], drafting=drafting
        )
        assert found.said == plain.said
        assert found.passes <= plain.passes
        if drafting.fixed:
            assert found.drafted > 0


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["greedy", "seed1", "seed2"])
def test_right_drafts_save_passes(engine: NativeEngine, sampling: Sampling) -> None:
    prompt = tokens_for(SPECS[0], 30)
    plain = answer(engine, prompt, max_tokens=33, sampling=sampling)
    for length in LENGTHS:
        drafter = Scripted([("right", length)], len(prompt), plain.tokens, engine.info.n_vocab)
        found = drafted(engine, drafter, prompt, max_tokens=33, sampling=sampling)
        assert found.said == plain.said
        if len(plain.tokens) == 33:
            assert found.passes == -(-32 // (length + 1))
            assert found.accepted == found.drafted == 32 - found.passes
    wrong = Scripted([("wrong", 5)], len(prompt), plain.tokens, engine.info.n_vocab)
    found = drafted(engine, wrong, prompt, max_tokens=33, sampling=sampling)
    assert (found.said, found.accepted, found.passes) == (plain.said, 0, plain.passes)


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["greedy", "seed1", "seed2"])
@pytest.mark.parametrize(
    "drafting",
    [Drafting("auto"), Drafting("copy"), *(Drafting("copy", fixed=length) for length in (0, *LENGTHS))],
    ids=lambda drafting: f"{drafting.mode}-{drafting.fixed}",
)
def test_copying(engine: NativeEngine, drafting: Drafting, sampling: Sampling) -> None:
    """First, second and third prompt of one process; sources: none, the prompt, the answer, other text."""
    tested = 0
    for seed in (1, 2, 3):
        prompt = repetitive(seed)
        plain = answer(engine, prompt, max_tokens=40, sampling=sampling)
        for source in ((), prompt, plain.tokens, tokens_for(SPECS[0], 20, 9)):
            found = answer(engine, prompt, max_tokens=40, source=source, sampling=sampling, drafting=drafting)
            assert found.said == plain.said
            tested += found.drafted
    assert tested > 0 or drafting.fixed in (0, None)


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["greedy", "seed1", "seed2"])
def test_context_nearly_full(engine: NativeEngine, sampling: Sampling) -> None:
    for free in (0, 1, 2, 3, 7, 14, 15, 16, 17):
        prompt = repetitive(5, N_CTX - free)
        plain = answer(engine, prompt, max_tokens=99, sampling=sampling)
        if plain.finish is not FinishReason.END_TOKEN:
            assert (plain.finish, len(plain.tokens)) == (FinishReason.CONTEXT_FULL, free + 1)
        for drafting in (Drafting("copy", fixed=15), Drafting("copy", fixed=2), Drafting("auto")):
            options: dict[str, Any] = {"sampling": sampling, "drafting": drafting}
            found = answer(engine, prompt, max_tokens=99, source=plain.tokens, **options)
            assert found.said == plain.said
        right = Scripted([("right", 100)], len(prompt), plain.tokens, engine.info.n_vocab)
        assert drafted(engine, right, prompt, max_tokens=99, sampling=sampling).said == plain.said


@pytest.mark.parametrize("free", [0, 1, 3])
def test_a_fresh_engine_whose_first_prompt_fills_the_context(free: int, tiny: Tiny) -> None:
    """There is no room to measure what passes cost: that must not be an error, nor be remembered."""
    engine = open_engine(tiny(SPECS[0]), n_ctx=N_CTX, n_threads=1)
    prompt = repetitive(5, N_CTX - free)
    first = answer(engine, prompt, max_tokens=9, drafting=Drafting("auto"))
    assert first.said == answer(engine, prompt, max_tokens=9).said
    assert isinstance(engine, NativeEngine)
    costs = engine.costs()
    assert not costs or min(costs) > 0
    engine.close()


def test_limit_inside_a_draft(engine: NativeEngine) -> None:
    prompt = tokens_for(SPECS[0], 30)
    plain = answer(engine, prompt, max_tokens=40)
    for limit in range(0, 20):
        right = Scripted([("right", 15)], len(prompt), plain.tokens, engine.info.n_vocab)
        found = drafted(engine, right, prompt, max_tokens=limit)
        assert found.said == (plain.tokens[:limit], FinishReason.TOKEN_LIMIT)
        found = answer(
            engine, prompt, max_tokens=limit, source=plain.tokens, drafting=Drafting("copy", fixed=15)
        )
        assert found.tokens == plain.tokens[:limit]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["greedy", "seed1", "seed2"])
def test_end_token_inside_a_draft(sampling: Sampling, threads: int, tiny: Tiny) -> None:
    """A token of the answer becomes the end token: at every place of a draft, proposed or not."""
    spec, prompt = SPECS[0], tokens_for(SPECS[0], 30, 3)
    whole = _answer_of(tiny(spec), prompt, sampling).tokens
    fresh = [at for at, token in enumerate(whole) if token not in whole[:at] and token not in prompt]
    for place in [at for at in fresh if at < 17][:8]:
        engine = open_engine(tiny(spec, whole[place]), n_ctx=N_CTX, n_threads=threads)
        assert isinstance(engine, NativeEngine)
        plain = answer(engine, prompt, max_tokens=40, sampling=sampling)
        assert plain.said == (whole[:place], FinishReason.END_TOKEN)
        drafter = Scripted([("right", 15)], len(prompt), whole, spec.n_vocab)
        found = drafted(engine, drafter, prompt, max_tokens=40, sampling=sampling)
        assert found.said == plain.said
        # the drafted end token was tested and right; what was drafted behind it does not count
        assert found.drafted == found.accepted <= max(0, place)
        for length in LENGTHS:
            options: dict[str, Any] = {"sampling": sampling, "drafting": Drafting("copy", fixed=length)}
            assert answer(engine, prompt, max_tokens=40, source=whole, **options).said == plain.said
        engine.close()


def _answer_of(path: Path, prompt: list[int], sampling: Sampling) -> Answer:
    engine = open_engine(path, n_ctx=N_CTX, n_threads=1)
    try:
        return answer(engine, prompt, max_tokens=40, sampling=sampling)
    finally:
        engine.close()


def test_the_cache_is_clean_afterwards(engine: NativeEngine) -> None:
    """What is in the cache after an answer has the bits of a plain prefill."""
    prompt, probe = repetitive(2), tokens_for(SPECS[0], 5, 11)
    for drafting in (OFF, Drafting("copy", fixed=7), Drafting("copy", fixed=15)):
        found = answer(engine, prompt, max_tokens=30, source=prompt, drafting=drafting)
        kept = (prompt + found.tokens)[: engine.n_past]
        got = engine.logits(probe)
        engine.rollback(0)
        engine.prefill(kept)
        assert got.tobytes() == engine.logits(probe).tobytes()


def _events(engine: Engine, prompt: list[int], **options: Any) -> list[Any]:
    return list(generate(engine, prompt, max_tokens=30, **options))


@pytest.mark.parametrize("taken", [1, 2, 5, 8, 17])
def test_early_stop_of_the_consumer(engine: NativeEngine, taken: int) -> None:
    """Whoever stops in the middle of a pass finds the prompt and what was yielded, nothing else."""
    prompt, probe = repetitive(2), tokens_for(SPECS[0], 5, 11)
    want = [event.token for event in _events(engine, prompt, drafting=OFF) if isinstance(event, StepEvent)]
    events = generate(engine, prompt, max_tokens=30, source=want, drafting=Drafting("copy", fixed=6))
    said: list[int] = []
    for event in events:
        if isinstance(event, StepEvent):
            said.append(event.token)
        if len(said) == taken:
            break
    events.close()  # type: ignore[attr-defined]
    assert said == want[:taken]
    assert len(prompt) <= engine.n_past <= len(prompt) + taken
    kept = (prompt + said)[: engine.n_past]
    got = engine.logits(probe)
    engine.rollback(0)
    engine.prefill(kept)
    assert got.tobytes() == engine.logits(probe).tobytes()


def test_generate_counts(engine: NativeEngine) -> None:
    prompt = repetitive(2)
    plain = _events(engine, prompt, drafting=OFF)
    want = [event.token for event in plain if isinstance(event, StepEvent)]
    *steps, end = _events(engine, prompt, source=want, drafting=Drafting("copy", fixed=7))
    assert isinstance(end, EndEvent)
    assert [event.token for event in steps if isinstance(event, StepEvent)] == want
    assert sum(end.tokens_by_source.values()) == end.generated_tokens == len(want)
    counts = end.drafts["copy"]
    assert (counts.drafted, counts.accepted) == (end.drafted, end.accepted)
    assert sum(tested for tested, _ in counts.positions) == end.drafted
    assert sum(kept for _, kept in counts.positions) == end.accepted == end.tokens_by_source["copy"]
    assert end.passes < plain[-1].passes


@pytest.mark.parametrize("source", [[-1] * 30, [301] * 30, [2**31 - 1, -(2**31)] * 9])
def test_a_source_of_no_token_ids(engine: NativeEngine, source: list[int]) -> None:
    prompt = tokens_for(SPECS[0], 30)
    want = answer(engine, prompt, max_tokens=20).said
    for drafting in (Drafting("auto"), Drafting("copy", fixed=5)):
        assert answer(engine, prompt, max_tokens=20, source=source, drafting=drafting).said == want


def test_calls_out_of_order_are_errors(tiny: Tiny) -> None:
    engine = open_engine(tiny(SPECS[0]), n_ctx=N_CTX, n_threads=1)
    prompt = tokens_for(SPECS[0], 20)
    with pytest.raises(EngineError):
        engine.start(prompt, max_tokens=5, drafting=OFF)
    with pytest.raises(EngineError):
        engine.step()
    engine.prefill(prompt)
    with pytest.raises(EngineError):
        engine.start(prompt[:-1], max_tokens=5, drafting=OFF)
    with pytest.raises(EngineError):
        engine.start([*prompt[:-1], 10**6], max_tokens=5, drafting=OFF)
    engine.start(prompt, max_tokens=9, drafting=OFF)
    engine.rollback(5)  # somebody else's business
    with pytest.raises(EngineError):
        engine.step()
    engine.rollback(0)
    engine.prefill(prompt)
    assert answer(engine, prompt, max_tokens=9).finish is not None
    engine.close()
    with pytest.raises(EngineError):
        engine.step()


@pytest.mark.parametrize(
    ("sampling", "drafting"),
    [
        (Sampling(temperature=-1), OFF),
        (Sampling(temperature=float("nan")), OFF),
        (Sampling(top_p=2), OFF),
        (GREEDY, Drafting("magic")),
        (GREEDY, Drafting("copy", 16)),
        (GREEDY, Drafting("copy", fixed=-1)),
        (GREEDY, Drafting("copy", lenient="token-v9")),
        (GREEDY, Drafting("copy", lenient="opt", alpha=1.5)),
    ],
)
def test_options_out_of_range(engine: NativeEngine, sampling: Sampling, drafting: Drafting) -> None:
    prompt = tokens_for(SPECS[0], 20)
    engine.rollback(0)
    engine.prefill(prompt)
    with pytest.raises(EngineError):
        engine.start(prompt, max_tokens=5, sampling=sampling, drafting=drafting)
