"""Text cut into tokens as the references of public sets are (Penn Treebank style)."""

from __future__ import annotations

import re

_STEPS = (
    (re.compile(r"(?<=\w)(n['’]t)\b", re.IGNORECASE), r" \1"),
    (re.compile(r"(?<=\w)(['’](?:s|re|ve|ll|d|m))\b", re.IGNORECASE), r" \1"),
    (re.compile(r"(?<=[^\s.])([,;:!?])(?=\s|$)"), r" \1"),
    (re.compile(r"(?<=[^\s.])(\.)(?=\s*$)"), r" \1"),
)


def tokenised(text: str) -> str:
    """Marks and contracted words parted by blanks; what is parted already stays."""
    for pattern, form in _STEPS:
        text = pattern.sub(form, text)
    return " ".join(text.split())
