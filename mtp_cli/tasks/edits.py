"""Edits: what is put in the place of what, and whether that may be done unasked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

LABELS = ("spelling", "grammar", "punctuation", "capitalisation", "style")

LAYOUT = "layout"
NO_CORRECTION = "not a correction of its source"
BESIDE = "part of an unsafe change"
UNLIKELY = "the model finds the sentence no likelier with it"
_NEVER = frozenset((LAYOUT, NO_CORRECTION))
"""Reasons that no option overrules."""


@dataclass(frozen=True, slots=True)
class Edit:
    """text[start:end], which is `before`, becomes `replacement`. `reason`: why it is unsafe; "": it is safe.
    `origin`: who proposed it (model, harper, dictionary)."""

    start: int
    end: int
    before: str
    replacement: str
    label: str
    reason: str = ""
    origin: str = "model"

    @property
    def safe(self) -> bool:
        """True when it may be applied unasked."""
        return not self.reason

    @property
    def possible(self) -> bool:
        """True when a person may ask for it."""
        return self.reason not in _NEVER

    def moved(self, start: int, end: int) -> Edit:
        """The same at another place."""
        return replace(self, start=start, end=end)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """`text` with the edits, which are in order and do not overlap."""
    out: list[str] = []
    at = 0
    for edit in edits:
        out += (text[at : edit.start], edit.replacement)
        at = edit.end
    return "".join(out) + text[at:]


def overlap(one: Edit, other: Edit) -> bool:
    """True when not both can be applied. Two insertions at one place overlap."""
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


def clash(one: Edit, other: Edit) -> bool:
    """True when not both can be applied, or both may mend the same thing: a word put in right beside another
    edit ("fix teh page": "the" put in, and "teh" made "the")."""
    return overlap(one, other) or (
        (_puts_in_words(one) or _puts_in_words(other))
        and one.start <= other.end + 1
        and other.start <= one.end + 1
    )


def _puts_in_words(edit: Edit) -> bool:
    return not edit.before.strip() and any(letter.isalnum() for letter in edit.replacement)
