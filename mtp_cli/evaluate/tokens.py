"""Text cut into tokens as the references of public sets are (Penn Treebank style)."""

from __future__ import annotations

import re

_STEPS = (
    (re.compile(r"(?<=\w)(n['’]t)\b", re.IGNORECASE), r" \1"),
    (re.compile(r"(?<=\w)(['’](?:s|re|ve|ll|d|m))\b", re.IGNORECASE), r" \1"),
    (re.compile(r"(?<=[^\s.])([,;:!?])(?=\s|$)"), r" \1"),
    (re.compile(r"(?<=[^\s.])(\.)(?=\s*$)"), r" \1"),
)

_JOINED = re.compile(r"(?<=\w) (n['’]t|['’](?:s|re|ve|ll|d|m))\b|(?<=\S) ([,;:.!?])(?=\s|$)", re.IGNORECASE)


def tokenised(text: str) -> str:
    """Marks and contracted words parted by blanks; what is parted already stays."""
    for pattern, form in _STEPS:
        text = pattern.sub(form, text)
    return " ".join(text.split())


def as_written(text: str) -> str:
    """Tokenised text as a person writes it: marks and contracted words without the blank before them. Text
    that would not come back the same from `tokenised` stays as it is."""
    text = " ".join(text.split())
    joined = _JOINED.sub(lambda found: found[1] or found[2], text)
    return joined if tokenised(joined) == text else text
