"""From a model's words to a result: gates, cleaning, the guard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtp_cli.tasks.clean import clean_answer
from mtp_cli.tasks.gate import AnswerGate, is_looping, strip_preamble
from mtp_cli.tasks.guard import Frame, check
from mtp_cli.tasks.pieces import pieces


def passed(gate: AnswerGate, *texts: str) -> str:
    """All that the gate lets through, fed until it stops."""
    out = ""
    for text in texts:
        out += gate.feed(text)
        if gate.stopped:
            return out
    return out + gate.finish()


def by_char(text: str) -> list[str]:
    return list(text)


def test_stop_text_over_several_pieces_is_not_shown() -> None:
    assert passed(AnswerGate(["\n\nText:"]), "One", " two.", "\n", "\n", "Te", "xt", ": three") == "One two."


def test_part_of_a_stop_text_that_does_not_become_one_is_shown() -> None:
    assert passed(AnswerGate(["END"]), "the E", "N", "D", "!") == "the"
    assert passed(AnswerGate(["END"]), "the E", "N", "T") == "the ENT"


@pytest.mark.parametrize("cut", [lambda text: [text], by_char])
def test_a_repeated_sentence_ends_the_answer_unseen(cut: object) -> None:
    text = "The bridge is closed. Buses take a detour. The bridge is closed. The bridge is closed."
    assert passed(AnswerGate(), *cut(text)).rstrip() == "The bridge is closed. Buses take a detour."  # type: ignore[operator]


def test_a_sentence_that_only_begins_like_another_is_shown() -> None:
    text = "The bridge is closed. The bridge is closed for cars only. Done."
    assert passed(AnswerGate(), *by_char(text)) == text


def test_sentence_limit() -> None:
    gate = AnswerGate(max_sentences=2)
    assert passed(gate, *by_char("Dr. Kim came, e.g. at 3.15 p.m. on foot. Then he left. More.")) == (
        "Dr. Kim came, e.g. at 3.15 p.m. on foot. Then he left."
    )
    assert gate.stopped


def test_short_loops_end() -> None:
    shown = passed(AnswerGate(), *(["no no "] * 500))
    assert len(shown) < 80
    assert is_looping("ha" * 40)
    assert not is_looping("It was the best of times, it was the worst of times, it was the age of wisdom.")


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Here is a summary of the text:\n\nTwo cats met.", "Two cats met."),
        ("Sure! Here's a short summary: Two cats met.", "Two cats met."),
        ("Summary: Two cats met.", "Two cats met."),
        (" Here is where two cats met.", "Here is where two cats met."),
        ("Okay is a town.", "Okay is a town."),
    ],
)
def test_preamble(said: str, left: str) -> None:
    assert strip_preamble(said) == left
    assert passed(AnswerGate(preamble=True), *by_char(said)) == left


@given(st.text(alphabet="ab .\n", max_size=60), st.integers(1, 7))
def test_gate_output_does_not_depend_on_how_text_arrives(text: str, size: int) -> None:
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    assert passed(AnswerGate(["b.b"]), *chunks).split() == passed(AnswerGate(["b.b"]), *by_char(text)).split()


@pytest.mark.parametrize(
    ("answer", "source", "clean"),
    [
        ('"The meeting is on Tuesday."', "the meeting are on tuesday", "The meeting is on Tuesday."),
        ("Corrected text: It is fine.", "It are fine.", "It is fine."),
        ("Sure, here is the corrected version: It is fine.", "It are fine.", "It is fine."),
        ('"Yes," he said, "no."', '"Yes," he say, "no."', '"Yes," he said, "no."'),
        ("Text: keep", "Text: keep", "Text: keep"),
        ("a\n b", "a b", "a b"),
        ("", "a", ""),
    ],
)
def test_clean_answer(answer: str, source: str, clean: str) -> None:
    assert clean_answer(answer, source) == clean


@pytest.mark.parametrize(
    ("source", "answer", "result"),
    [
        ("the meeting are on tuesday", "The meeting is on Tuesday.", "The meeting is on Tuesday."),
        ("Please fix teh login page.", "Please fix the login page.", "Please fix the login page."),
        ("Most of the the things are true.", "Most of the things are true.", "Most of the things are true."),
        ("I has two  cat.", "I have two cats.", "I have two  cats."),
        ("Its late,\nisnt it?", "It's late, isn't it?", "It's late,\nisn't it?"),
        ("They went too the the\nshop.", "They went to the shop.", "They went to the\nshop."),
    ],
)
def test_corrections_are_taken(source: str, answer: str, result: str) -> None:
    found = check(source, answer)
    assert found.text == result
    assert found.taken
    assert not found.refused


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("i want this tool to fix my english", "I'm sorry, but I cannot help with that."),
        ("Tell me a joke about cats.", "Why did the cat cross the road? To get to the other side."),
        ("There are big streets in my town.", "There are big roads in my town."),
        ("The patient must not take 10 mg.", "The patient must take 10 mg."),
        ("He don't take it.", "He takes it."),
        ("The patient must not take 10 mg.", "The patient must not take 20 mg."),
        ("Run `pip instal foo` now.", "Run `pip install foo` now."),
        ("See https://exmaple.com/teh-page?x=1 for it.", "See https://example.com/the-page?x=1 for it."),
        ("Hello {name}, you have %d in $INBOX.", "Hello Kim, you have %d in $INBOX."),
        ("Hello {name}, you have %d in $INBOX.", "Hello {name}, you have 3 in $INBOX."),
        ("<div>The div is good", "The div is good"),
        ("Write to a_b@exmaple.org soon.", "Write to a_b@example.org soon."),
        ("He said 'yes' and went.", 'He said "yes" and went.'),
        ("A title here", "A TITLE HERE"),
        ("One two three four.", "One two three four. And then some more words."),
        ("We shipped it on Monday and it was good.", ""),
    ],
)
def test_all_else_is_refused(source: str, answer: str) -> None:
    found = check(source, answer)
    assert found.text == source
    assert not found.taken
    assert found.refused


def test_good_and_bad_changes_of_one_answer_are_told_apart() -> None:
    source = "Run `pip instal foo` and see https://exmaple.com/teh-page?x=1 for mroe."
    answer = "Run `pip install foo` and see https://exmaple.com/teh-page?x=1 for more."
    found = check(source, answer)
    assert found.text == source.replace("mroe", "more")
    assert [source[c.start : c.end] for c in found.taken] == ["mroe"]
    assert [c.reason for c in found.refused] == ["protected text"]


def test_no_full_stop_at_the_end_of_a_heading() -> None:
    assert check("A nice tittle", "A nice title.", Frame(full=False)).text == "A nice title"
    assert check("It is a nice day", "It is a nice day.").text == "It is a nice day."


WORDS = st.lists(
    st.sampled_from(["the", "cat", "{x}", "42", "`a b`", "not", ",", ".", "\n", "  ", "go", "https://a.b/c"])
).map(" ".join)


@given(WORDS, WORDS)
def test_guard_keeps_protected_text_and_line_ends(source: str, answer: str) -> None:
    found = check(source, answer)
    assert found.text.count("\n") == source.count("\n")

    def kept(text: str) -> list[str]:
        return [piece.text for piece in pieces(text) if piece.kind == "protected"]

    assert kept(found.text) == kept(source)
    if not found.taken:
        assert found.text == source


@given(st.text(max_size=80))
def test_pieces_lose_nothing(text: str) -> None:
    row = pieces(text)
    tail = text[row[-1].end :] if row else text
    assert "".join(piece.space + piece.text for piece in row) + tail == text
    assert not tail.strip()
    assert check(text, text).text == text
