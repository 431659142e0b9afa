"""The kind of an edit: spelling, grammar, punctuation, capitalisation or style."""

from __future__ import annotations

from collections.abc import Sequence

from mtp_cli.tasks.pieces import Piece
from mtp_cli.tasks.words import dialect_of, is_akin, is_inflection, is_small, letters


def label(before: Sequence[Piece], after: Sequence[Piece]) -> str:
    """One of edits.LABELS."""
    old = [piece.text for piece in before if piece.kind != "mark"]
    new = [piece.text for piece in after if piece.kind != "mark"]
    if old == new:
        return "punctuation"
    if not old or not new:
        return "grammar" if all(map(is_small, old + new)) else "style"
    if "".join(old).lower() == "".join(new).lower() and len(old) == len(new):
        return "capitalisation"
    if letters("".join(old)) == letters("".join(new)):  # an apostrophe, a hyphen, two words for one
        return "grammar" if len(old) == len(new) and all(map(is_small, new)) else "spelling"
    if len(old) != len(new):
        return "grammar" if any(map(is_small, old + new)) else "style"
    return _of_swap(old, new)


def _of_swap(old: Sequence[str], new: Sequence[str]) -> str:
    kinds = set()
    for one, other in zip(old, new, strict=True):
        if one == other:
            continue
        if dialect_of(one, other):
            kinds.add("style")
        elif (is_small(one) and is_small(other)) or is_inflection(one, other):
            kinds.add("grammar")
        else:
            kinds.add("spelling" if is_akin(one, other) else "style")
    return next(kind for kind in ("style", "grammar", "spelling") if kind in kinds)
