"""What of an answer is taken into its source: the answer's edits, each with a label and a verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mtp_cli.tasks.align import Step, differences, is_near_copy
from mtp_cli.tasks.edits import BESIDE, LAYOUT, NO_CORRECTION, Edit, apply
from mtp_cli.tasks.labels import label
from mtp_cli.tasks.pieces import Piece, pieces
from mtp_cli.tasks.verdict import Place, objection

_MOST_REWRITTEN = 0.5
"""Largest share of words of a sentence that safe edits may touch."""
_REWRITE_LEAST = 8
"""Words a sentence must have for that share to say something."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The text that results, with what was taken and what was refused of the answer."""

    text: str
    taken: tuple[Edit, ...]
    refused: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """What is known about a sentence besides its text. `full` False (a heading, a list item): no mark is put
    at its end. `fixed`: places that stay; `gaps`: where the document has something that is not shown here.
    `dialect`: us, gb or "" for whatever the text has."""

    full: bool = True
    fixed: Sequence[tuple[int, int]] = ()
    gaps: Sequence[int] = ()
    dialect: str = ""


PLAIN = Frame()


def check(source: str, answer: str, frame: Frame = PLAIN) -> Checked:
    """Take over the safe edits of `answer` into `source`; its line ends and spacing stay."""
    found = edits_of(source, answer, frame)
    taken = tuple(edit for edit in found if edit.safe)
    return Checked(apply(source, taken), taken, tuple(edit for edit in found if not edit.safe))


def edits_of(source: str, answer: str, frame: Frame = PLAIN, origin: str = "model") -> list[Edit]:
    """The edits from `source` to `answer` in order, each with its verdict. They do not overlap."""
    answer = " ".join(answer.split())
    old, new = pieces(source, frame.fixed), pieces(answer, _found_again(source, frame.fixed, answer))
    if not is_near_copy(old, new):
        whole = Edit(0, len(source), source, answer, "style", NO_CORRECTION, origin)
        return [whole] if answer != " ".join(source.split()) else []
    found: list[Edit] = []
    for steps in differences(old, new):
        found += _judged(_Row(source, old, new, frame, origin), steps)
    return _not_too_many(found, old)


def _found_again(source: str, fixed: Sequence[tuple[int, int]], answer: str) -> list[tuple[int, int]]:
    """Where in the answer the fixed texts of the source stand, each behind the one before."""
    found: list[tuple[int, int]] = []
    at = 0
    for low, high in fixed:
        text = " ".join(source[low:high].split())
        start = answer.find(text, at) if text else -1
        if start >= 0:
            at = start + len(text)
            found.append((start, at))
    return found


@dataclass(frozen=True, slots=True)
class _Row:
    """A sentence and its answer side by side."""

    source: str
    old: Sequence[Piece]
    new: Sequence[Piece]
    frame: Frame
    origin: str


def _judged(row: _Row, steps: Sequence[Step]) -> list[Edit]:
    """Edits without an unchanged word between them. Words go together: half of "don't take" -> "takes" would
    be worse than all or nothing."""
    found: list[tuple[Edit, bool]] = []
    for step in steps:
        i1, i2, j1, j2 = step
        before, after = row.old[i1:i2], row.new[j1:j2]
        left, right = row.old[max(i1 - 1, 0) : i1], row.old[i2 : i2 + 1]
        reason = objection(before, after, Place(left, right, row.frame.full, row.frame.dialect))
        start, end, text = _in_place(row.source, row.old, row.new, step)
        if breaks_layout(row.source, start, end, text, row.frame.gaps):
            reason = NO_CORRECTION if reason == NO_CORRECTION else LAYOUT
        edit = Edit(start, end, row.source[start:end], text, label(before, after), reason, row.origin)
        found.append((edit, any(piece.kind != "mark" for piece in (*before, *after))))
    spoilt = any(edit.reason and words for edit, words in found)
    return [replace(edit, reason=BESIDE) if spoilt and words and edit.safe else edit for edit, words in found]


def _in_place(source: str, old: Sequence[Piece], new: Sequence[Piece], step: Step) -> tuple[int, int, str]:
    """(start, end, replacement) with the spacing of the source, or of the answer where it has none."""
    i1, i2, j1, j2 = step
    if i1 == i2:
        return _insertion(old, new, step)
    if j1 == j2:
        return _loss(source, old, i1, i2)
    before, after = old[i1:i2], new[j1:j2]
    texts = [after[0].text]
    for at, piece in enumerate(after[1:], 1):
        same = at < len(before) and (piece.kind != "mark" or before[at].kind == "mark")
        texts.append((before[at].space if same else piece.space) + piece.text)
    return before[0].start, before[-1].end, "".join(texts)


def _insertion(old: Sequence[Piece], new: Sequence[Piece], step: Step) -> tuple[int, int, str]:
    i1, _, j1, j2 = step
    behind = new[j2].space if j2 < len(new) else ""
    if i1 == 0:
        text = "".join(piece.space + piece.text for piece in new[j1:j2]).lstrip()
        at = old[0].start if old else 0
        return at, at, text + behind
    text = "".join(piece.space + piece.text for piece in new[j1:j2])
    glued = i1 < len(old) and not old[i1].space
    return old[i1 - 1].end, old[i1 - 1].end, text + (behind if glued else "")


def _loss(source: str, old: Sequence[Piece], i1: int, i2: int) -> tuple[int, int, str]:
    """Dropped with one of the blanks around it; a line break is never dropped."""
    start, end = old[i1].start, old[i2 - 1].end
    before = old[i1].space if i1 else ""
    behind = old[i2].space if i2 < len(old) else ""
    if before and not _breaks(before):
        return start - len(before), end, ""
    if behind and not _breaks(behind) and (before or not i1):
        return start, end + len(behind), ""
    return start, end, ""


def _breaks(space: str) -> bool:
    return "\n" in space or "\r" in space


def breaks_layout(source: str, start: int, end: int, text: str, gaps: Sequence[int]) -> bool:
    """True when the edit takes or brings a line break, crosses a gap, or leaves nothing on a line or between
    two gaps."""
    before = source[start:end]
    if [char for char in before if char in "\r\n"] != [char for char in text if char in "\r\n"]:
        return True
    if any(start < gap < end for gap in gaps):
        return True
    if text.strip() or not before.strip():
        return False
    left = max([0, *(gap for gap in gaps if gap <= start)])
    right = min([len(source), *(gap for gap in gaps if gap >= end)])
    rest = re.split("[\r\n]", source[left:start])[-1] + re.split("[\r\n]", source[end:right])[0]
    return not rest.strip()


def _not_too_many(found: list[Edit], old: Sequence[Piece]) -> list[Edit]:
    """All unsafe when the safe ones together rewrite the sentence."""
    words = [piece for piece in old if piece.kind == "word"]
    if len(words) < _REWRITE_LEAST:
        return found
    safe = [edit for edit in found if edit.safe]
    touched = sum(any(edit.start < word.end and word.start < edit.end for edit in safe) for word in words)
    if touched <= _MOST_REWRITTEN * len(words):
        return found
    return [replace(edit, reason=edit.reason or "rewrites too much") for edit in found]
