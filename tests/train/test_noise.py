"""Errors in correct text: seeded, small, of every kind."""

from __future__ import annotations

import random
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtp_cli.train.noise import add_errors, confusions, grammar, marks, spelling
from mtp_cli.train.noise.edit import ErrorKind, from_table
from mtp_cli.train.noise.inject import _KINDS
from mtp_cli.train.noise.misspellings import MISSPELLINGS

TEXT = (
    "She has received many letters from her friends, and they believe that the government's advice was not "
    "necessary because people usually listen to the news. He wanted to write about it."
)


def outcomes(kind: ErrorKind, text: str, tries: int = 300) -> set[str]:
    """What an error can make of `text`."""
    found = set()
    for seed in range(tries):
        words = text.split(" ")
        kind(words, random.Random(seed))
        found.add(" ".join(words))
    return found


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (from_table(MISSPELLINGS), "It is necessary.", "It is neccessary."),
        (from_table(confusions.CONFUSED), "Their house is big.", "There house is big."),
        (from_table(confusions.CONFUSED), "I think it’s late.", "I think its late."),
        (from_table(confusions.AGREEMENT), "They were late.", "They was late."),
        (from_table(confusions.PREPOSITIONS), "We met on Monday.", "We met in Monday."),
        (from_table(confusions.UNCOUNTABLE), "He gave advice, too.", "He gave advices, too."),
        (from_table(confusions.IRREGULAR), "She taught us.", "She teached us."),
        (grammar.agreement, "He goes home.", "He go home."),
        (grammar.agreement, "They try it.", "They tries it."),
        (grammar.tense, "He decided it.", "He decide it."),
        (grammar.tense, "He stopped there.", "He stop there."),
        (grammar.tense, "He carried it.", "He carry it."),
        (grammar.tense, "I like to write it.", "I like to writing it."),
        (grammar.article, "The cat saw a dog.", "Cat saw a dog."),
        (grammar.article, "He is an old man.", "He is a old man."),
        (grammar.article, "We love nature.", "We love the nature."),
        (grammar.plural, "Many stories were told.", "Many story were told."),
        (grammar.plural, "It was a house.", "It was a houses."),
        (grammar.missing_word, "He lives in the town.", "He lives the town."),
        (grammar.doubled_word, "It is the end.", "It is is the end."),
        (grammar.word_order, "She always wins it.", "She wins always it."),
        (grammar.phrase, "We discussed this.", "We discussed about this."),
        (grammar.phrase, "It depends on you.", "It depends of you."),
        (grammar.phrase, "That is better.", "That is more better."),
        (grammar.phrase, "There are two.", "There is two."),
        (spelling.typo, "A letter.", "A lettre."),
        (spelling.typo, "A letter.", "A letyer."),
        (spelling.by_ear, "It is different.", "It is diferent."),
        (marks.apostrophe, "I don’t know.", "I dont know."),
        (marks.apostrophe, "Two houses.", "Two house's."),
        (marks.comma, "Yes, I do.", "Yes I do."),
        (marks.comma, "I know that it is so.", "I know, that it is so."),
        (marks.full_stop, "It rains. We stay.", "It rains, we stay."),
        (marks.full_stop, "It rains.", "It rains"),
        (marks.capital, "My friend Anna came.", "My friend anna came."),
        (marks.capital, "good music", "good Music"),
    ],
)
def test_kinds_of_errors(kind: ErrorKind, right: str, wrong: str) -> None:
    assert wrong in outcomes(kind, right)


@given(st.integers(0, len(_KINDS) - 1), st.text(alphabet=" aA'’.,sed1é", max_size=30), st.integers(0, 99))
def test_a_kind_says_whether_it_changed_anything(kind: int, text: str, seed: int) -> None:
    words = text.split(" ")
    changed = list(_KINDS)[kind](words, random.Random(seed))
    assert changed == (words != text.split(" "))


def test_the_same_seed_gives_the_same_errors() -> None:
    assert add_errors(TEXT, random.Random(4)) == add_errors(TEXT, random.Random(4))


def test_some_texts_stay_clean_and_the_others_stay_close() -> None:
    rng = random.Random(0)
    noisy = [add_errors(TEXT, rng) for _ in range(500)]
    assert 0.12 < sum(text == TEXT for text in noisy) / len(noisy) < 0.28
    assert min(SequenceMatcher(None, TEXT, text, autojunk=False).ratio() for text in noisy) > 0.8
    assert len(set(noisy)) > 300


def test_short_lines_get_few_errors() -> None:
    rng = random.Random(0)
    assert all(len(add_errors("Dear Anna,", rng).split()) <= 3 for _ in range(200))
    assert add_errors("", rng) == ""


def test_the_lists_hold_wrong_forms_only() -> None:
    assert len(MISSPELLINGS) >= 150
    for table in (MISSPELLINGS, confusions.CONFUSED, confusions.PHRASES, confusions.IRREGULAR):
        for right, wrong in table.items():
            assert right == right.lower().strip()
            assert wrong
            assert right not in wrong
            assert all(form == form.strip() != "" for form in wrong)


def test_verb_forms() -> None:
    assert [grammar.third_person(base) for base in ("go", "try", "play", "watch", "make")] == [
        "goes",
        "tries",
        "plays",
        "watches",
        "makes",
    ]
    assert [grammar.base_form(form) for form in ("goes", "tries", "plays", "makes", "table")] == [
        "go",
        "try",
        "play",
        "make",
        "table",
    ]
