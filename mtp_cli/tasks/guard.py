"""Which changes of an answer are corrections. Everything else keeps the source.

A small model rewrites, answers or drops text instead of correcting it. So its answer is compared with the
source word by word, and a change is taken only when it is one a proofreader makes: another form of the same
word, a small word put right, a mark, a doubled word gone."""

from __future__ import annotations

import difflib
import re
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
    """a an the of to in on at for from by with into about as than then that which who whom whose this these
    those is are was were be been being am has have had do does did will would can could it its it's their
    there they're your you're our my his her and or but so if because""".split()  # noqa: SIM905
)
_NEGATIONS = frozenset(
    """not no never none nor cannot without neither nothing nobody
    kein keine nicht nie pas""".split()  # noqa: SIM905
)
_CONTRACTED = re.compile(r"(?:is|are|was|were|do|does|did|have|has|had|ca|wo|would|could|should|must)n'?t")
_FREE_MARKS = frozenset(",.;:?!'’")


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
    answer = " ".join(answer.split())
    old, new = pieces(source), pieces(answer)
    matcher = difflib.SequenceMatcher(None, [p.text for p in old], [p.text for p in new], autojunk=False)
    if matcher.ratio() < NEAR_COPY and not _few_words_close(old, new):
        whole = Change(0, len(source), source, answer, "not a copy of its source")
        return Checked(source, (), (whole,) if answer.strip() != source.strip() else ())
    merge = _Merge(source, old)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            merge.keep(i1, i2, new[j1].space)
        else:
            merge.judge(_steps(old, new, i1, i2, j1, j2), new, no_end_mark=not prose)
    return merge.result()


Step = tuple[int, int, int, int]
"""old[i1:i2] becomes new[j1:j2]"""


class _Merge:
    """Puts the result together from left to right."""

    def __init__(self, source: str, old: Sequence[Piece]) -> None:
        self._source, self._old = source, old
        self._out: list[str] = []
        self._taken: list[Change] = []
        self._refused: list[Change] = []
        self._edited = False  # the last piece of the result came from the answer

    def keep(self, i1: int, i2: int, answer_space: str | None = None) -> None:
        """Source pieces as they were. After an edit the first one may need the answer's space."""
        texts = [piece.space + piece.text for piece in self._old[i1:i2]]
        if texts and self._edited and answer_space is not None and self._old[i1].space in ("", " "):
            texts[0] = answer_space + self._old[i1].text
        self._out += texts
        self._edited = False

    def judge(self, steps: Sequence[Step], new: Sequence[Piece], *, no_end_mark: bool) -> None:
        """Steps without an unchanged word between them. Words go together: half of "don't take" -> "takes"
        would be worse than all or nothing."""
        reasons = [self._reason(step, new, no_end_mark) for step in steps]
        words = [_is_about_words(self._old[a:b], new[c:d]) for a, b, c, d in steps]
        spoilt = next((reason for reason, word in zip(reasons, words, strict=True) if reason and word), "")
        for step, reason, word in zip(steps, reasons, words, strict=True):
            self._apply(step, new, reason or (spoilt if word else ""))

    def _reason(self, step: Step, new: Sequence[Piece], no_end_mark: bool) -> str:
        i1, i2, j1, j2 = step
        old = self._old
        ends = no_end_mark and i2 == len(old)
        return _objection(old[i1:i2], new[j1:j2], old[max(i1 - 1, 0) : i1], old[i2 : i2 + 1], ends)

    def _apply(self, step: Step, new: Sequence[Piece], reason: str) -> None:
        i1, i2, j1, j2 = step
        before, after = self._old[i1:i2], new[j1:j2]
        change = _change(self._source, self._old, i1, i2, after, reason)
        if reason:
            self._refused.append(change)
            self.keep(i1, i2)
        else:
            self._taken.append(change)
            self._out += _replaced(before, after)
            self._edited = True

    def result(self) -> Checked:
        tail = self._source[self._old[-1].end :] if self._old else self._source
        return Checked("".join(self._out) + tail, tuple(self._taken), tuple(self._refused))


def _is_about_words(before: Sequence[Piece], after: Sequence[Piece]) -> bool:
    return any(piece.kind != "mark" for piece in (*before, *after))


def _steps(old: Sequence[Piece], new: Sequence[Piece], i1: int, i2: int, j1: int, j2: int) -> list[Step]:
    """One difference, taken apart piece by piece where that is of use."""
    small = i2 - i1 == j2 - j1 == 1 or (i2 - i1) * (j2 - j1) > _MOST_PIECES**4
    if i1 == i2 or j1 == j2 or small or _joined(old[i1:i2]) == _joined(new[j1:j2]):
        return [(i1, i2, j1, j2)]
    return [(i1 + a, i1 + b, j1 + c, j1 + d) for a, b, c, d in _aligned(old[i1:i2], new[j1:j2])]


def _joined(row: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in row if piece.kind == "word").lower()


def _aligned(old: Sequence[Piece], new: Sequence[Piece]) -> list[Step]:
    """The cheapest way from `old` to `new` in steps of one piece: swaps, losses, additions."""
    best: dict[tuple[int, int], tuple[float, list[Step]]] = {(0, 0): (0.0, [])}
    for i in range(len(old) + 1):
        for j in range(len(new) + 1):
            ways = []
            if i and j:
                cost, way = best[i - 1, j - 1]
                ways.append((cost + _swap_cost(old[i - 1], new[j - 1]), [*way, (i - 1, i, j - 1, j)]))
            if i:
                cost, way = best[i - 1, j]
                ways.append((cost + 1, [*way, (i - 1, i, j, j)]))
            if j:
                cost, way = best[i, j - 1]
                ways.append((cost + 1, [*way, (i, i, j - 1, j)]))
            if ways:
                best[i, j] = min(ways, key=lambda way: way[0])
    return best[len(old), len(new)][1]


def _swap_cost(old: Piece, new: Piece) -> float:
    """0 for the same, up to 1.9 for pieces with nothing in common (a loss and an addition cost 2)."""
    if old.text == new.text:
        return 0.0
    if old.kind != new.kind:
        return 3.0
    return 1.9 - 1.8 * _ratio(old.text.lower(), new.text.lower())


def _replaced(before: Sequence[Piece], after: Sequence[Piece]) -> list[str]:
    """Pieces of the answer with the spacing of the source where the two correspond."""
    texts = []
    for at, piece in enumerate(after):
        space = (
            before[at].space
            if at < len(before) and (piece.kind != "mark" or before[at].kind == "mark")
            else piece.space
        )
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
    """Why this change is none of a proofreader's, or "". `left` and `right`: its neighbours in the source."""
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
        return "capitals" if len(new) == len(old) and any(map(_shouts, old, new)) else ""
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
        near = abs(len(a) - len(b)) <= 1 and _ratio(a, b) >= _SAME_WORD
        return a[:1] == b[:1] and (near or sorted(a) == sorted(b))
    return _ratio(a, b) >= _SAME_WORD and (a[:1] == b[:1] or _ratio(a, b) >= 0.8)


def _ratio(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def _shouts(old: str, new: str) -> bool:
    """True when a word that was not in capitals now is."""
    return len(new) > 1 and new.isupper() and not old.isupper() and old.upper() != "I"


def _words(row: Sequence[Piece]) -> set[str]:
    """Lower-case words; "don't", "dont" and their kind count as "not"."""
    words = {piece.text.lower().replace("’", "'") for piece in row if piece.kind == "word"}
    return {"not" if _CONTRACTED.fullmatch(word) else word for word in words}


def _few_words_close(old: Sequence[Piece], new: Sequence[Piece]) -> bool:
    """For very short texts the share of equal pieces says little: compare letters."""
    a = " ".join(piece.text for piece in old).lower()
    b = " ".join(piece.text for piece in new).lower()
    return len(old) <= 12 and _ratio(a, b) >= 0.75
