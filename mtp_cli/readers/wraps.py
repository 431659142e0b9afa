"""Lines that an editor has broken at some width -> paragraphs."""

from __future__ import annotations

import re
from itertools import pairwise

_BREAK = re.compile(r"((?:\r?\n)[ \t]*(?:\r?\n)\s*)")
_ITEM = re.compile(r"\s*(?:[-*+•–·▪>|]|\(?\w{1,3}[.)])\s|\s{2,}\S|\t|[^\s:]{1,20}:\s")
_LEAST_WIDTH = 40
_SLACK = 12
"""How much shorter than the longest a line may be where the next word would still have had room."""
_WRAPPED_SHARE = 0.8


def unwrapped(text: str) -> str:
    """`text` with the lines of each wrapped paragraph in one. Lists, verses, tables and short lines stay."""
    if "\n" not in text:
        return text
    return "".join(map(_joined, _BREAK.split(text)))


def _joined(paragraph: str) -> str:
    end = paragraph[len(paragraph.rstrip("\r\n")) :]
    lines = paragraph.removesuffix(end).split("\n")
    if len(lines) < 2 or any(map(_ITEM.match, lines[1:])) or not _is_wrapped(lines):
        return paragraph
    return " ".join([lines[0].rstrip(), *(line.strip() for line in lines[1:])]) + end


def _is_wrapped(lines: list[str]) -> bool:
    """True when nearly every line ends where its next word would have had no room."""
    width = max(map(len, lines))
    if width < _LEAST_WIDTH:
        return False
    full = sum(
        len(line.rstrip()) + 1 + len(after.split(maxsplit=1)[0]) > width - _SLACK
        for line, after in pairwise(lines)
    )
    return full >= _WRAPPED_SHARE * (len(lines) - 1)
