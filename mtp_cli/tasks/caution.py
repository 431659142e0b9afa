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
    what both must come to together; `beside`: what they must come to, less a share of the ceiling, in a
    sentence that another edit is made in, for an error rarely comes alone."""

    said: float
    ceiling: float
    gain: float
    answer: float
    total: float
    beside: float


BARS = {
    "article": Bar(-2.7, 2.5, 1.5, -3.5, 6.0, -3.0),
    "inserted": Bar(-2.0, 5.0, 2.0, -3.0, 6.0, -3.0),
    "dropped": Bar(-5.5, 1.0, 1.5, -4.0, 7.0, -5.0),
    "swapped": Bar(-4.2, 3.2, 2.5, -5.5, 6.5, 0.5),
    "form": Bar(ANYTHING, 1.0, 1.5, -3.7, 6.0, -1.7),
    "mark": Bar(-2.2, 5.5, 1.5, -2.5, 7.0, -5.5),
    "opening": Bar(-3.0, 2.0, -0.5, -3.0, 1.5, -8.0),
    "capital": Bar(ANYTHING, ANYTHING, 0.0, -6.0, 0.5, -7.3),
    "joined": Bar(ANYTHING, ANYTHING, 1.5, -5.0, 3.5, -5.0),
    "rule": Bar(ANYTHING, -6.0, 0.0, -7.0, 1.3, -3.0),
    "spelling": Bar(ANYTHING, -4.0, 1.5, -10.5, 3.0, -5.5),
}
MOST_OVER_CEILING = 4.0
"""What an edit that is no other spelling may gain more than its ceiling; hardly any gains so much."""
LEAST_ANSWER_BESIDE = -4.0
"""What `Judge.answer_gains` must say there of anything but a misspelt word: half of the gains need not be
computed then."""
LESS_BESIDE_SAID, LESS_BESIDE_CEILING = 1.0, 1.5
"""What `said` and `ceiling` are lower by in such a sentence."""
FROM_HELPERS = -5.5
"""The ceiling for what helpers propose, which is little and often right."""
ANSWER_SHARE = 0.8
"""What a nat of the answer is worth beside one of gain."""
CEILING_SHARE = 0.4
"""What a nat of the ceiling takes away from `beside`: a likely first word says less than that the rest of the
sentence goes better with it."""
CEILING_RANGE = -8.0, 12.0
"""Lower and higher ones count as these there."""
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
_CUT_LETTERS, _CUT = 2, 3.0
"""More for a word that only loses so many letters at its end: a name made of it (postrm) is likelier."""
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
    if word.startswith(other) and len(word) - len(other) >= _CUT_LETTERS:
        more += _CUT
    return more
