"""The sentences that a proofreader should leave alone, and what makes one."""

from __future__ import annotations

import pytest

from jobs.clean_sentences import REPORTED, TUNED, clean_sentences, is_whole
from mtp_cli.train.corpora import load_corpora
from mtp_cli.train.documents import Document


@pytest.mark.parametrize(
    ("sentence", "whole"),
    [
        ("You can restore the files that were deleted.", True),
        ("Is it right to say that of them?", True),
        ("It does.", False),
        ("and so it goes on and on here.", False),
        ("Name | Size | Date of the last change.", False),
        ("See the list of all of them below:", False),
        ("word " * 60 + "end.", False),
    ],
)
def test_only_whole_sentences_count(sentence: str, whole: bool) -> None:
    assert is_whole(sentence) is whole


def test_sources_share_evenly_and_the_draw_is_the_same_again() -> None:
    long = "The number {} is one of those that nobody remembers."
    documents = [
        Document("a", "1", tuple(long.format(number) for number in range(50))),
        Document("b", "1", (long.format("last") + " " + long.format("first"),)),
    ]
    found = clean_sentences(documents, 10, seed=1)
    assert found == clean_sentences(documents, 10, seed=1) != clean_sentences(documents, 10, seed=2)
    assert len(set(found)) == 10
    assert sum("first" in sentence or "last" in sentence for sentence in found) == 2


def test_nothing_that_is_reported_was_tuned_with() -> None:
    known = load_corpora()
    assert set(REPORTED) | set(TUNED) <= set(known)
    packages = [{known[name].package for name in names} for names in (REPORTED, TUNED)]
    assert not packages[0] & packages[1]
