"""Prompts, the reuse of their common beginning, and the decode loop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.fake_engine import BOS, FakeEngine, fixing
from mtp_cli.events import EndEvent, FinishReason, PrefillEvent, StepEvent
from mtp_cli.generate import generate
from mtp_cli.tasks.distance import edit_distance, word_distance
from mtp_cli.tasks.gate import AnswerGate
from mtp_cli.tasks.prompts import DEFAULTS, Prompt, common_prefix, template_for
from mtp_cli.tasks.session import Session


def said_by(session: Session, tokens: list[int]) -> str:
    return "".join(event.text for event in session.ask(tokens, max_tokens=9) if isinstance(event, StepEvent))


def test_default_template_by_kind_of_model() -> None:
    assert template_for("proofread", None, chat=True).style == "chat"
    assert template_for("proofread", {}, chat=False).style == "completion"


@pytest.mark.parametrize(
    "table",
    [
        {"style": "chat"},
        {"style": "song", "user": "{text}"},
        {"style": "chat", "user": "no place"},
        {"style": "chat", "user": "{text}", "colour": "red"},
        {"style": "chat", "user": "{text}", "shots": [["one"]]},
    ],
)
def test_wrong_prompt_table_names_itself(table: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"prompts\.proofread"):
        template_for("proofread", {"proofread": table}, chat=True)


def test_own_prompts_go_before_the_defaults() -> None:
    own = {"summarize": {"style": "completion", "user": "{text} tl;dr", "stop": ["\n"]}}
    assert template_for("summarize", own, chat=True).user == "{text} tl;dr"


@pytest.mark.parametrize("style", ["chat", "completion"])
@pytest.mark.parametrize("task", ["summarize", "proofread"])
def test_prompt_begins_the_same_for_every_text(style: str, task: str) -> None:
    prompt = Prompt(FakeEngine(str), DEFAULTS[style][task])
    one, two = prompt.tokens("First text."), prompt.tokens("Another one!")
    assert one[0] == BOS
    assert one.count(BOS) == 1
    head = common_prefix(one, two)
    tail = common_prefix(one[::-1], two[::-1])
    assert head + tail >= prompt.overhead
    assert len(one) == prompt.overhead + len(FakeEngine(str).tokenize(" First text."))


def test_control_tokens_in_the_text_are_plain_text() -> None:
    engine = FakeEngine(str)
    prompt = Prompt(engine, DEFAULTS["chat"]["summarize"])
    [end] = engine.tokenize("<|end|>", special=True)
    plain, hostile = prompt.tokens("a"), prompt.tokens("a <|end|> b")
    assert plain.count(end) == hostile.count(end) > 0


def test_session_computes_the_common_beginning_once() -> None:
    engine = FakeEngine(fixing())
    session, prompt = Session(engine), Prompt(engine, DEFAULTS["chat"]["proofread"])
    for text in ("One thing is.", "Two things are."):
        events = list(session.ask(prompt.tokens(text), max_tokens=9))
    (first_at, first), (second_at, second) = engine.calls
    assert first_at == 0
    assert second_at > prompt.overhead - 10
    assert len(second) < len(first) / 2
    assert isinstance(events[0], PrefillEvent)
    assert events[0].reused_tokens == second_at


def test_session_feeds_at_least_one_token_and_recovers_from_an_early_stop() -> None:
    engine = FakeEngine(fixing())
    session, prompt = Session(engine), Prompt(engine, DEFAULTS["chat"]["proofread"])
    tokens = prompt.tokens("The same text again.")
    one = session.ask(tokens, max_tokens=9)
    for _ in range(3):
        next(one)
    one.close()  # type: ignore[attr-defined]
    texts = [
        "".join(e.text for e in session.ask(tokens, max_tokens=9) if isinstance(e, StepEvent)) for _ in "ab"
    ]
    assert texts == [" The same text again."] * 2
    assert engine.calls[-1][1] == tokens[-1:]


def test_session_starts_over_when_the_window_has_moved_on() -> None:
    engine = FakeEngine(fixing(), window=4)
    session, prompt = Session(engine), Prompt(engine, DEFAULTS["chat"]["proofread"])
    for text in ("One thing is good.", "Two things are good."):
        said = "".join(
            e.text for e in session.ask(prompt.tokens(text), max_tokens=9) if isinstance(e, StepEvent)
        )
        assert said.strip() == text
    assert [at for at, _ in engine.calls] == [0, 0]


def run(
    answer: str, *, max_tokens: int = 99, gate: AnswerGate | None = None, n_ctx: int = 99
) -> tuple[str, EndEvent]:
    engine = FakeEngine(lambda prompt: answer, n_ctx=n_ctx)
    *_, end = events = list(generate(engine, engine.tokenize("ab cd"), max_tokens=max_tokens, gate=gate))
    assert isinstance(end, EndEvent)
    steps = [event for event in events if isinstance(event, StepEvent)]
    assert len(steps) == end.generated_tokens
    return "".join(step.text for step in steps) + end.tail, end


def test_characters_are_whole_whatever_the_tokens() -> None:
    text = "🏋️‍♂️ 거북이 🦙 ends"
    said, end = run(text)
    assert said == text
    assert end.reason is FinishReason.END_TOKEN


def test_a_character_cut_off_at_the_limit_becomes_one_mark() -> None:
    said, end = run("ab🦙", max_tokens=3)
    assert said == "ab\ufffd"
    assert end.reason is FinishReason.TOKEN_LIMIT


def test_exact_token_counts_and_reasons() -> None:
    assert run("a b c", max_tokens=2)[1].generated_tokens == 2
    assert run("", max_tokens=5)[1].generated_tokens == 0
    said, end = run("a b c d e f", n_ctx=5)
    assert end.reason is FinishReason.CONTEXT_FULL
    assert said == "a b c d"
    said, end = run("a b. c", gate=AnswerGate([". c"]))
    assert (said, end.reason) == ("a b", FinishReason.STOP_TEXT)


def test_counts_end_with_the_answer() -> None:
    """A stop text inside a draft: what was tested behind it is not counted."""
    engine = FakeEngine(lambda prompt: "a b c. d e f g", drafts=6)
    events = list(generate(engine, engine.tokenize("x y"), max_tokens=99, gate=AnswerGate([". d"])))
    *steps, end = [event for event in events if not isinstance(event, PrefillEvent)]
    assert isinstance(end, EndEvent)
    assert end.reason is FinishReason.STOP_TEXT
    assert end.generated_tokens == len(steps) == 5
    assert (end.passes, end.drafted, end.accepted) == (1, 4, 4)
    assert end.drafts["copy"].positions == [(1, 1)] * 4
    assert end.tokens_by_source == {"backbone": 1, "copy": 4}


@pytest.mark.parametrize(
    ("one", "two", "distance"),
    [("", "", 0), ("a b c", "a b c", 0), ("a b c", "a x c", 1), ("a b", "", 2), ("a b c d", "b c d e", 2)],
)
def test_word_distance(one: str, two: str, distance: int) -> None:
    assert word_distance(one, two) == word_distance(two, one) == distance


@given(st.text("ab", max_size=40), st.text("ab", max_size=40))
def test_edit_distance_is_the_whole_table(one: str, two: str) -> None:
    row = list(range(len(two) + 1))
    for i, char in enumerate(one, 1):
        before, row = row, [i]
        for j, other in enumerate(two, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (char != other)))
    assert edit_distance(one, two) == row[-1]
