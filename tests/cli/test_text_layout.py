"""Cutting text: nothing is lost, and the right stretches go to the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtp_cli.tasks.documents import plain
from mtp_cli.tasks.pieces import word_count
from mtp_cli.tasks.split import paragraphs, parts, sentences

TEXTS = st.text(alphabet="aB .!?\n\r\t-#>*`|1é中", max_size=120)


def words(text: str) -> int:
    return len(text.split())


@given(TEXTS)
def test_nothing_is_lost(text: str) -> None:
    assert "".join(paragraphs(text)) == text
    assert "".join(sentences(text)) == text
    at = 0
    for sentence in plain.read(text).sentences():
        for start, end in sentence.stretch.spans:
            assert at <= start < end
            at = end
        assert sentence.stretch.text == "".join(text[a:b] for a, b in sentence.stretch.spans)
    assert at <= len(text)


@given(TEXTS, st.integers(1, 10))
def test_parts_lose_nothing_and_fit(text: str, limit: int) -> None:
    found = parts(text, limit, len)
    assert "".join(found) == text
    assert all(len(part) <= limit for part in found)


def test_parts_break_at_paragraphs_and_are_even() -> None:
    text = "\n\n".join(" ".join(["word"] * 10) for _ in range(9))
    found = parts(text, 40, words)
    assert [words(part) for part in found] == [30, 30, 30]
    assert all(part.endswith("\n\n") for part in found[:-1])


def test_one_endless_paragraph_breaks_at_sentences_then_words() -> None:
    sentence = " ".join(["word"] * 7) + ". "
    assert all(part.endswith(". ") for part in parts(sentence * 40, 50, words)[:-1])
    assert all(words(part) <= 50 for part in parts("word " * 400, 50, words))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Kim met Mr. Lee at 3.15 p.m. on Monday.", 1),
        ("See e.g. the manual. It helps.", 2),
        ("He left... then he came back.", 1),
        ('"Go." She went.', 2),
        ("一。二。", 2),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def prose(text: str) -> list[str]:
    found = [sentence.stretch.text for sentence in plain.read(text).sentences()]
    return [sentence for sentence in found if word_count(sentence) > 1]


def test_markers_code_tables_and_front_matter_stay_out() -> None:
    text = (
        "---\ntitle: teh page\n---\n# Teh titel here\n\n- first point is ok\n1. second point dont work\n"
        "> quoted line here\n\n```\ncode is not prose\n```\n\n| a cell | here |\n"
        "\n    indented code here\n\nEnd it now.\n"
    )
    assert [unit.strip() for unit in prose(text)] == [
        "Teh titel here",
        "first point is ok",
        "second point dont work",
        "End it now.",
    ]


def test_wrapped_lines_are_one_sentence_and_single_words_are_left_alone() -> None:
    assert prose("This sentence goes\non here. Kim\n") == ["This sentence goes\non here. "]


def test_endless_sentence_is_cut() -> None:
    found = prose("word " * 1000)
    assert all(len(piece) <= 600 for piece in found)
    assert len(found) >= 8
