"""Which changes of an answer are corrections. Everything else keeps the source.

A small model rewrites, answers or drops text instead of correcting it. So its answer is compared with the
source word by word, and a change is taken only when it is one a proofreader makes: another form of the same
word, a small word put right, a mark, a doubled word gone."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from mtp_cli.tasks.pieces import Piece, pieces

NEAR_COPY = 0.55
"""Least share of pieces an answer has in common with its source (0..1)."""
_SAME_WORD = 0.6
_SHORT_WORD = 4
_MOST_PIECES = 4
"""Longest change in pieces, on either side."""

_SMALL_WORDS = frozenset(
    "a an the of to in on at for from by with into about as than then that which who whom whose this these "
    "those is are was were be been being am has have had do does did will would can could it its it's their "
    "there they're your you're our my his her and or but so if because".split()
)
_NEGATIONS = frozenset("not no never none nor cannot without neither nothing nobody kein keine nicht nie pas".split())
_FREE_MARKS = frozenset(",.;:?!'’")
_QUOTES = "\"'“”‘’«»„`"


@dataclass(frozen=True, slots=True)
class Change:
    """source[start:end] became `after`. `reason` is empty for a change that was taken."""

    start: int
    end: int
    before: str
    after: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """The text that results, with what was taken and what was refused of the answer."""

    text: str
    taken: tuple[Change, ...]
    refused: tuple[Change, ...]


def check(source: str, answer: str, *, prose: bool = True) -> Checked:
    """Take over the corrections of `answer` into `source`; line ends and spacing of the source stay.

    `prose` False (a heading, a list item): no mark is put at the end."""
    old, new = pieces(source), pieces(answer)
    matcher = difflib.SequenceMatcher(None, [p.text for p in old], [p.text for p in new], autojunk=False)
    if matcher.ratio() < NEAR_COPY and not _few_words_close(old, new):
        whole = Change(0, len(source), source, answer, "not a copy of its source")
        return Checked(source, (), (whole,) if answer.strip() != source.strip() else ())
    out: list[str] = []
    taken: list[Change] = []
    refused: list[Change] = []
    edited = False
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        before, after = old[i1:i2], new[j1:j2]
        if tag == "equal":
            out += _kept(before, after[0].space if edited and i1 < i2 else None)
            edited = False
            continue
        at_end = i2 == len(old)
        reason = _objection(before, after, old[i1 - 1 : i1], old[i2 : i2 + 1], at_end and not prose)
        change = _change(source, old, i1, i2, after, reason)
        if reason:
            refused.append(change)
            out += _kept(before, None)
        else:
            taken.append(change)
            out += _replaced(before, after)
        edited = not reason
    tail = source[old[-1].end :] if old else source
    return Checked("".join(out) + tail, tuple(taken), tuple(refused))


def _kept(row: Sequence[Piece], first_space: str | None) -> list[str]:
    """Source pieces as they were; after an edit, the first one's space may come from the answer."""
    texts = [piece.space + piece.text for piece in row]
    if first_space is not None and not row[0].space.strip(" ") and len(row[0].space) <= 1:
        texts[0] = first_space + row[0].text
    return texts


def _replaced(before: Sequence[Piece], after: Sequence[Piece]) -> list[str]:
    """Pieces of the answer with the spacing of the source where the two correspond."""
    texts = []
    for at, piece in enumerate(after):
        space = before[at].space if at < len(before) and (piece.kind != "mark" or before[at].kind == "mark") else piece.space
        texts.append(space + piece.text)
    lost = "".join(piece.space for piece in before[len(after) :])
    breaks = "".join(char for char in lost if char in "\r\n")
    return [*texts, breaks] if breaks else texts


def _change(
    source: str, old: Sequence[Piece], i1: int, i2: int, after: Sequence[Piece], reason: str
) -> Change:
    end_before = old[i1 - 1].end if i1 else 0
    start, end = (old[i1].start, old[i2 - 1].end) if i1 < i2 else (end_before, end_before)
    text = "".join(piece.space + piece.text for piece in after)
    return Change(start, end, source[start:end], text.strip() if i1 < i2 else text, reason)


def _objection(
    before: Sequence[Piece],
    after: Sequence[Piece],
    left: Sequence[Piece],
    right: Sequence[Piece],
    no_end_mark: bool,
) -> str:
    """Why this change is none of a proofreader's, or "". `left` and `right` are the neighbours in the source."""
    both = [*before, *after]
    if any(piece.kind == "protected" for piece in both):
        return "protected text"
    if len(before) > _MOST_PIECES or len(after) > _MOST_PIECES:
        return "too long"
    if _words(before) & _NEGATIONS != _words(after) & _NEGATIONS:
        return "negation"
    if any(piece.kind == "mark" and piece.text not in _FREE_MARKS for piece in both):
        return "mark"
    if not before and no_end_mark and after[-1].kind == "mark":
        return "end mark"
    if not after:
        return _objection_to_loss(before, left, right)
    if not before:
        return "" if all(p.kind == "mark" or p.text.lower() in _SMALL_WORDS for p in after) else "added words"
    return _objection_to_swap(before, after)


def _objection_to_loss(before: Sequence[Piece], left: Sequence[Piece], right: Sequence[Piece]) -> str:
    near = _words([*left, *right])
    for piece in before:
        word = piece.text.lower()
        if piece.kind == "word" and word not in near and word not in _SMALL_WORDS:
            return "dropped words"
        if piece.kind == "mark" and piece.text in "?!":
            return "mark"
    return ""


def _objection_to_swap(before: Sequence[Piece], after: Sequence[Piece]) -> str:
    old = [piece.text for piece in before if piece.kind == "word"]
    new = [piece.text for piece in after if piece.kind == "word"]
    if not old and not new:
        return ""
    if "".join(old).lower() == "".join(new).lower():  # joined, parted, or another case
        return "capitals" if len(new) == len(old) and any(_shouts(o, n) for o, n in zip(old, new)) else ""
    left_old = [word for word in old if word.lower() not in _SMALL_WORDS]
    left_new = [word for word in new if word.lower() not in _SMALL_WORDS]
    if not left_old and not left_new:
        return ""
    if len(left_old) != len(left_new):
        # one of them may be a slip for a small word: "teh" -> "the", "mor" -> "more"
        return "" if len(old) == len(new) and all(map(_akin, old, new)) else "other words"
    return "" if all(map(_akin, left_old, left_new)) else "other word"


def _akin(old: str, new: str) -> bool:
    """True when `new` is likely the same word put right."""
    if _shouts(old, new):
        return False
    a, b = old.lower(), new.lower()
    if a == b or {a, b} <= _SMALL_WORDS:
        return True
    if max(len(a), len(b)) <= _SHORT_WORD:
        return a[:1] == b[:1] and (sorted(a) == sorted(b) or abs(len(a) - len(b)) <= 1 and _ratio(a, b) >= _SAME_WORD)
    return _ratio(a, b) >= _SAME_WORD and (a[:1] == b[:1] or _ratio(a, b) >= 0.8)


def _ratio(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def _shouts(old: str, new: str) -> bool:
    """True when a word that was not in capitals now is."""
    return len(new) > 1 and new.isupper() and not old.isupper() and old.upper() != "I"


def _words(row: Sequence[Piece]) -> set[str]:
    return {
        part
        for piece in row
        if piece.kind == "word"
        for part in (piece.text.lower(), "not" if piece.text.lower().replace("’", "'").endswith("n't") else piece.text.lower())
    }


def _few_words_close(old: Sequence[Piece], new: Sequence[Piece]) -> bool:
    """For very short texts the share of equal pieces says little: compare letters."""
    a = " ".join(piece.text for piece in old).lower()
    b = " ".join(piece.text for piece in new).lower()
    return len(old) <= 12 and _ratio(a, b) >= 0.75
