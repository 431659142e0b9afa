"""How much the model must like an edit before it is made.

The figures, in nats, were set on right sentences from documentation (tests/jobs/clean_sentences.py --tuning)
and on the first 220 sentences of JFLEG's development set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mtp_cli.tasks.families import CAPITALISED, UNFINISHED
from mtp_cli.tasks.near_words import letter_distance
from mtp_cli.tasks.variants import Variant

ANYTHING = -99.0


@dataclass(frozen=True, slots=True)
class Bar:
    """For one kind of proposal. `said`, `ceiling`: what `Judge.ceiling` must come to for the rest to be
    computed; `gain` and `answer`: the least that `Judge.gain` and `Judge.answer_gains` must say; `total`:
    what both must come to together; `beside`: the same in a sentence that another edit is made in, for an
    error rarely comes alone."""

    said: float
    ceiling: float
    gain: float
    answer: float
    total: float
    beside: float


BARS = {
    "article": Bar(-2.7, 2.5, 1.5, -3.5, 6.0, -1.7),
    "inserted": Bar(-1.0, 6.5, 3.0, -3.0, 8.0, -1.0),
    "dropped": Bar(-4.5, 2.5, 2.5, -4.0, 10.0, 0.0),
    "swapped": Bar(-4.2, 3.2, 2.5, -5.5, 6.5, -1.1),
    "form": Bar(ANYTHING, 1.0, 1.5, -3.7, 5.0, -4.4),
    "mark": Bar(-2.2, 5.5, 1.5, -2.5, 7.0, -2.1),
    "opening": Bar(-3.0, 2.0, -0.5, -3.0, 1.5, -6.0),
    "capital": Bar(ANYTHING, ANYTHING, 0.0, -6.0, 0.5, -6.0),
    "joined": Bar(ANYTHING, ANYTHING, 1.5, -5.0, 3.5, -3.0),
    "rule": Bar(ANYTHING, -6.0, 0.0, -7.0, 1.3, -5.9),
    "spelling": Bar(ANYTHING, -4.0, 1.5, -10.5, 3.0, -5.0),
}
LESS_BESIDE = 2.0
"""What `gain` is lower by in such a sentence."""
FROM_HELPERS = -5.5
"""The ceiling for what helpers propose, which is little and often right."""
ANSWER_SHARE = 0.8
"""What a nat of the answer is worth beside one of gain."""
SURE = -6.0
"""The gain from which a sure edit is made."""
_SECOND_LETTER = 4.0
"""More for each further letter of a word that changes."""
_FIRST_LETTER = 3.0
"""More for another first letter."""
_TERM_TIMES, _TERM = 3, 3.0
"""A word that the document has so often is meant; more is needed to change its spelling."""
_SHORT_WORD, _SHORT = 5, 1.5
"""More for each letter that a word has less; it is an abbreviation more likely than a slip."""
_KNOWN = 4.0
"""More for a word that stands in a dictionary: a common word is likelier than a rare one that was meant."""
_OPENING_WORD = 1.5
"""More for the first word of a sentence, which may be a name."""
_PARTED = 5.0
"""More for two words instead of one."""
_ENDINGS, _ENDING_LETTERS, _ENDING = ("ing", "er", "ers", "or", "ness", "able"), 3, 2.0
"""More for another ending of the same stem: rare forms (subscripting) are no slips."""
_JOINTS = frozenset("-./_@:\\+")


def is_sure(text: str, variant: Variant) -> bool:
    """True for the capital of a word that always has one, and the apostrophe of a word that needs it."""
    word, other = text[variant.start : variant.end].lower(), variant.replacement.lower()
    if variant.kind == "capital":
        return other in CAPITALISED
    return word in UNFINISHED and (other.replace("'", "") == word or (word, other) == ("dont", "doesn't"))


def is_off_limits(text: str, variant: Variant) -> bool:
    """True for another spelling or form of an abbreviation, and of a part of something like rpc.statd."""
    word = text[variant.start : variant.end]
    if not word or " " in word:
        return False
    special = "-" in word or word[1:] != word[1:].lower()
    return (special and variant.kind in ("spelling", "form")) or _is_part(text, variant)


def _is_part(text: str, variant: Variant) -> bool:
    before, behind = text[: variant.start][-1:], text[variant.end :][:2]
    return before in _JOINTS or behind[:1] == "(" or (behind[:1] in _JOINTS and behind[1:].isalnum())


def dearer(text: str, variant: Variant, times: Callable[[str], int], known: Callable[[str], bool]) -> float:
    """What an edit must gain besides. `times`: how often the document has a word; `known`: whether a
    dictionary has it."""
    opening = _OPENING_WORD if text[variant.start : variant.start + 1].isupper() else 0.0
    if variant.kind == "form":
        return opening
    if variant.kind != "spelling":
        return 0.0
    word, other = text[variant.start : variant.end].lower(), variant.replacement.lower()
    more = opening + _SECOND_LETTER * max(letter_distance(word, other) - 1, 0)
    more += _SHORT * max(_SHORT_WORD - len(word), 0) + _PARTED * (" " in other) + _KNOWN * known(word)
    more += _TERM * (times(word) >= _TERM_TIMES)
    if word[:1] != other[:1] and word[:2] != other[1::-1]:
        more += _FIRST_LETTER
    stem = word[:-_ENDING_LETTERS]
    if word.endswith(_ENDINGS) and stem and other.startswith(stem):
        more += _ENDING
    return more
