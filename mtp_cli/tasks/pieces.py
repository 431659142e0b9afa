"""Text as a row of words, marks and protected spans, for comparing an answer with its source."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PROTECTED = (
    r"(?:[a-zA-Z][a-zA-Z+.-]*://|www\.)[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}]"  # addresses
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # mail
    r"|`+[^`]+`+"  # code
    r"|</?[A-Za-z!][^<>]*>"  # tags
    r"|\]\([^()\s]*\)"  # targets of links
    r"|\$?\{\{?[^{}\s]*\}?\}|\$\w+|%\(\w+\)[a-z]|%[-+0-9.]*[a-zA-Z]\b"  # placeholders
    r"|&#?\w+;"
    r"|(?:[\w.~-]*[/\\])+[\w.~-]*\w"  # paths
    r"|\w*[_@#]\w[\w@#]*"  # identifiers, handles
    r"|[-+]?(?:\d+(?:[.,:/-]\d+)*)(?:\s?%)?\w*"  # numbers, with a unit or ending joined on
)
_PIECE = re.compile(
    rf"(?P<protected>{_PROTECTED})|(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*\w*)|(?P<mark>[^\w\s]|_)|(?P<rest>\S)"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """`text` at [start, end) of the whole; `space` is the white space before it."""

    text: str
    space: str
    start: int
    kind: str
    """protected | word | mark"""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def pieces(text: str) -> list[Piece]:
    """All pieces in order. Joined with their space, plus the white space at the end, they are `text`."""
    found: list[Piece] = []
    at = 0
    for match in _PIECE.finditer(text):
        kind = match.lastgroup or "mark"
        found.append(
            Piece(match.group(), text[at : match.start()], match.start(), "mark" if kind == "rest" else kind)
        )
        at = match.end()
    return found


def word_count(text: str) -> int:
    """Words in `text`, protected spans left out."""
    return sum(1 for piece in pieces(text) if piece.kind == "word")
