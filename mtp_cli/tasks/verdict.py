"""Whether a change of a sentence is a correction. What is not gets a reason, and is unsafe.

A small model rewrites, answers or drops text instead of correcting it. A change is safe only when it is
one that a proofreader makes: another form of the same word, a small word put right, a mark, a doubled word
gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mtp_cli.tasks.edits import NO_CORRECTION
from mtp_cli.tasks.pieces import Piece
from mtp_cli.tasks.words import (
    dialect_of,
    is_akin,
    is_small,
    is_swap,
    letters,
    negations,
    number_words,
    shouts,
    spoils_name,
)

_MOST_PIECES = 4
"""Longest change in pieces, on either side."""
_LEAST_SLIP = 5
"""Letters of a word whose swapped letters make no other word: on and no would be two."""
_FREE_MARKS = frozenset(",.;:?!'’")
_OPENERS = frozenset("\"'“‘«„(:;.!?…-–—")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a change is: its neighbours in the source, and what the sentence is like.

    `full`: the sentence may get a mark at its end. `dialect`: us, gb or "" for whatever the text has."""

    left: Sequence[Piece]
    right: Sequence[Piece]
    full: bool = True
    dialect: str = ""

    @property
    def opens(self) -> bool:
        """True where a word has a capital for being the first."""
        return not self.left or self.left[-1].text in _OPENERS


def objection(before: Sequence[Piece], after: Sequence[Piece], place: Place) -> str:
    """Why this change is none of a proofreader's, or ""."""
    reason = _objection(before, after, place)
    # what an answer has in front of a sentence or behind it is talk about it
    around = not before and not (place.left and place.right)
    talk = reason == "mark" or any(piece.kind != "mark" for piece in after)
    return NO_CORRECTION if reason and around and talk else reason


def _objection(before: Sequence[Piece], after: Sequence[Piece], place: Place) -> str:
    both = [*before, *after]
    if len(before) > _MOST_PIECES or len(after) > _MOST_PIECES:
        return NO_CORRECTION
    if any(piece.kind == "protected" for piece in both):
        return "protected text"
    if any(piece.kind == "number" for piece in both):
        return "number"
    old, new = _words(before), _words(after)
    if negations(old) != negations(new) and not _is_slip(old, new):
        return "negation"
    if number_words(old) - number_words(new):
        return "number"
    if any(piece.kind == "mark" and piece.text not in _FREE_MARKS for piece in both):
        return "mark"
    if not before and not place.full and not place.right and after[-1].kind == "mark":
        return "mark at the end of a title or item"
    if not after:
        return _objection_to_loss(before, place)
    if not before:
        return "" if all(p.kind == "mark" or is_small(p.text) for p in after) else "adds words"
    return _objection_to_swap(before, after, place)


def _objection_to_loss(before: Sequence[Piece], place: Place) -> str:
    near = _words([*place.left, *place.right])
    for piece in before:
        word = piece.text.lower()
        if piece.kind == "word" and word not in near and not is_small(word):
            return "drops words"
        if piece.kind == "mark" and piece.text in "?!":
            return "mark"
    return ""


def _objection_to_swap(before: Sequence[Piece], after: Sequence[Piece], place: Place) -> str:
    old = [piece.text for piece in before if piece.kind == "word"]
    new = [piece.text for piece in after if piece.kind == "word"]
    if not old and not new:
        return ""
    if not old or not new:
        return "drops words" if old else "adds words"
    if len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            if reason := _objection_to_word(one, other, opens=place.opens and not at, dialect=place.dialect):
                return reason
    if letters("".join(old)) == letters("".join(new)):  # joined, parted, or another case
        return "capitals" if len(new) == len(old) and any(map(shouts, old, new)) else ""
    left_old = [word for word in old if not is_small(word)]
    left_new = [word for word in new if not is_small(word)]
    if not left_old and not left_new:
        return ""
    if len(left_old) != len(left_new):
        # one of them may be a slip for a small word: "teh" -> "the", "mor" -> "more"
        return "" if len(old) == len(new) and all(map(is_akin, old, new)) else "other words"
    return "" if all(map(is_akin, left_old, left_new)) else "other word"


def _objection_to_word(old: str, new: str, *, opens: bool, dialect: str) -> str:
    if not opens and spoils_name(old, new):
        return "name"
    found = dialect_of(old, new)
    return "the other English" if found and found != dialect else ""


def _is_slip(old: set[str], new: set[str]) -> bool:
    """True for one long word with two letters swapped: "doens't" negates as much as "doesn't"."""
    if len(old) != 1 or len(new) != 1:
        return False
    (before,), (after,) = old, new
    return len(before) >= _LEAST_SLIP and is_swap(before, after)


def _words(row: Sequence[Piece]) -> set[str]:
    return {piece.text.lower() for piece in row if piece.kind == "word"}
