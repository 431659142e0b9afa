"""Correct text -> the same text with errors in it."""

from __future__ import annotations

import random

from mtp_cli.train.noise import confusions, grammar, marks, spelling
from mtp_cli.train.noise.edit import ErrorKind, Words, from_table
from mtp_cli.train.noise.misspellings import MISSPELLINGS

_COUNTS = (0, 1, 2, 3, 4)
_COUNT_WEIGHTS = (18, 27, 26, 18, 11)
_WORDS_PER_ERROR = 5
_TRIES = 8

# How often each kind is tried; those that need a rare word come about less often than that.
_KINDS: dict[ErrorKind, int] = {
    from_table(MISSPELLINGS): 16,
    spelling.typo: 12,
    spelling.by_ear: 8,
    from_table(confusions.CONFUSED): 11,
    from_table(confusions.AGREEMENT): 6,
    from_table(confusions.PREPOSITIONS): 7,
    from_table(confusions.UNCOUNTABLE): 3,
    from_table(confusions.IRREGULAR): 5,
    grammar.agreement: 5,
    grammar.tense: 5,
    grammar.article: 9,
    grammar.plural: 7,
    grammar.missing_word: 6,
    grammar.doubled_word: 2,
    grammar.word_order: 2,
    grammar.phrase: 9,
    marks.apostrophe: 4,
    marks.comma: 6,
    marks.full_stop: 4,
    marks.capital: 5,
}


def add_errors(text: str, rng: random.Random) -> str:
    """`text`, a line, with 0 to 4 errors; about one text in five stays as it is, short ones get few."""
    words = text.split(" ")
    wanted = rng.choices(_COUNTS, _COUNT_WEIGHTS)[0]
    for _ in range(min(wanted, 1 + len(words) // _WORDS_PER_ERROR)):
        _add_one(words, rng)
    return " ".join(words)


def _add_one(words: Words, rng: random.Random) -> None:
    for kind in rng.choices(list(_KINDS), list(_KINDS.values()), k=_TRIES):
        if kind(words, rng):
            return
