"""How far two texts are apart."""

from __future__ import annotations

from collections.abc import Sequence


def word_distance(text: str, other: str) -> int:
    """Words to insert, drop or replace to make one text of the other; words are what white space parts."""
    return edit_distance(text.split(), other.split())


def edit_distance(left: Sequence[object], right: Sequence[object]) -> int:
    """Items to insert, drop or replace. Time grows with the length times the distance."""
    band = 8
    while True:
        distance = _banded(left, right, band)
        if distance is not None:
            return distance
        band *= 4


def _banded(left: Sequence[object], right: Sequence[object], band: int) -> int | None:
    """The distance when it is at most `band`, else None."""
    far = len(left) + len(right) + 1
    row = [j if j <= band else far for j in range(len(right) + 1)]
    for i, item in enumerate(left, 1):
        low, high = max(0, i - band), min(len(right), i + band)
        if low > high:
            return None
        before, row = row, [far] * (len(right) + 1)
        for j in range(low, high + 1):
            row[j] = before[j] + 1
            if j:
                row[j] = min(row[j], row[j - 1] + 1, before[j - 1] + (item != right[j - 1]))
    return row[-1] if row[-1] <= band else None
