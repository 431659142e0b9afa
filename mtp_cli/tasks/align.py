"""An answer against its source, piece by piece: the steps from one to the other."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from mtp_cli.tasks.pieces import Piece

Step = tuple[int, int, int, int]
"""old[i1:i2] becomes new[j1:j2]"""

NEAR_COPY = 0.55
"""Least share of pieces an answer has in common with its source (0..1)."""
_LETTERS_IN_COMMON = 0.75
_FEW_PIECES = 12
_MOST_CELLS = 256


def is_near_copy(old: Sequence[Piece], new: Sequence[Piece]) -> bool:
    """False for an answer that is no edited source. For very short texts the share of equal pieces says
    little: there the letters count."""
    share = _matcher([p.key for p in old], [p.key for p in new]).ratio()
    if share >= NEAR_COPY:
        return True
    a = " ".join(piece.text for piece in old).lower()
    b = " ".join(piece.text for piece in new).lower()
    return len(old) <= _FEW_PIECES and ratio(a, b) >= _LETTERS_IN_COMMON


def differences(old: Sequence[Piece], new: Sequence[Piece]) -> Iterator[list[Step]]:
    """What differs, in order. The steps of one list have no unchanged piece between them."""
    matcher = _matcher([p.key for p in old], [p.key for p in new])
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield [step for step in _steps(old, new, i1, i2, j1, j2) if _differs(old, new, step)]


def ratio(a: str, b: str) -> float:
    """Share of letters in common, 0..1."""
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def _matcher(old: list[str], new: list[str]) -> difflib.SequenceMatcher[str]:
    return difflib.SequenceMatcher(None, old, new, autojunk=False)


def _differs(old: Sequence[Piece], new: Sequence[Piece], step: Step) -> bool:
    i1, i2, j1, j2 = step
    return [piece.key for piece in old[i1:i2]] != [piece.key for piece in new[j1:j2]]


def _steps(old: Sequence[Piece], new: Sequence[Piece], i1: int, i2: int, j1: int, j2: int) -> list[Step]:
    """One difference, taken apart piece by piece where that is of use."""
    small = i2 - i1 == j2 - j1 == 1 or (i2 - i1) * (j2 - j1) > _MOST_CELLS
    if i1 == i2 or j1 == j2 or small or _joined(old[i1:i2]) == _joined(new[j1:j2]):
        return [(i1, i2, j1, j2)]
    return [(i1 + a, i1 + b, j1 + c, j1 + d) for a, b, c, d in _cheapest(old[i1:i2], new[j1:j2])]


def _joined(row: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in row if piece.kind == "word").lower()


def _cheapest(old: Sequence[Piece], new: Sequence[Piece]) -> list[Step]:
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
    if old.key == new.key:
        return 0.0
    if old.kind != new.kind:
        return 3.0
    return 1.9 - 1.8 * ratio(old.text.lower(), new.text.lower())
