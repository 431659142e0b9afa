"""Text as a row of words, marks and protected spans, for comparing an answer with its source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_FILE_ENDINGS = (
    "py|pyi|js|ts|tsx|c|h|cc|cpp|hpp|rs|go|rb|java|md|rst|txt|html?|css|json|jsonl|toml|ya?ml|cfg|ini|sh|csv|xml|"
    "pdf|png|jpe?g|gif|svg|zip|gz|tar|exe|dll|so|log|docx?|xlsx?|gguf|com|org|net|io|dev|edu|gov"
)
_PROTECTED = (
    r"<!--.*?-->"
    r"|(?:[a-zA-Z][a-zA-Z+.-]*://|www\.)[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}]"  # addresses
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # mail
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"  # code
    r"|</?[A-Za-z!][^<>]*>"  # tags
    r"|\]\([^()\s]*\)"  # targets of links
    r"|\{\{.*?\}\}|\{%.*?%\}|<%.*?%>"  # templates
    r"|[$%#]?\{[^{}\n]{0,60}\}|\$\w+|%\(\w+\)[a-z]|%%|%[-+0-9.]*[a-zA-Z]\b|%\w+%"  # placeholders
    r"|&#?\w+;"
    rf"|(?<![\w.])[\w-]+(?:\.[\w-]+)*\.(?:{_FILE_ENDINGS})\b"  # files and sites
    r"|(?:[\w.~-]*[/\\])+[\w.~-]*\w"  # paths
    r"|(?<![\w-])--[a-z][\w-]*"  # options
    r"|\w+(?:\.\w+)*\(\)"  # calls
    r"|\w*[_@#]\w[\w@#]*"  # identifiers, handles
    r"|\b[a-z]{2,}[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*"  # more of them
)
_UNIT = r"(?:%|(?:°[CF]|[kmcµnMGT]?(?:g|m|l|L|W|V|A|B|Hz|s|Wh|J|bit)|min|h|px|pt|dpi|rpm|kWh)\b)"
_NUMBER = rf"[-+]?(?:\bv)?\d+(?:[.,:/-]\d+)*(?:\s?{_UNIT})?\w*|[^\W\d_]+\d\w*"
_PIECE = re.compile(
    rf"(?P<protected>{_PROTECTED})|(?P<number>{_NUMBER})"
    r"|(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*\w*)|(?P<mark>[^\w\s]|_)|(?P<rest>\S)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """`text` at [start, end) of the whole; `space` is the white space before it."""

    text: str
    space: str
    start: int
    kind: str
    """protected | number | word | mark"""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def key(self) -> str:
        """The text with single blanks: what two pieces are compared by."""
        return " ".join(self.text.split())

    @property
    def fixed(self) -> bool:
        """A proofreader never changes it."""
        return self.kind in ("protected", "number")


def pieces(text: str, fixed: Sequence[tuple[int, int]] = ()) -> list[Piece]:
    """All pieces in order. Joined with their space, plus the white space at the end, they are `text`. Each of
    `fixed` (places in order) becomes a protected piece of its own."""
    found: list[Piece] = []
    at = 0
    for start, end, kind in _found(text, fixed):
        found.append(Piece(text[start:end], text[at:start], start, kind))
        at = end
    return found


def _found(text: str, fixed: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    at = 0
    for low, high in fixed:
        low, high = max(_first(text, low, high), at), _last(text, low, high)
        if low >= high:
            continue
        yield from _matches(text, at, low)
        yield low, high, "protected"
        at = high
    yield from _matches(text, at, len(text))


def _matches(text: str, at: int, end: int) -> Iterator[tuple[int, int, str]]:
    for match in _PIECE.finditer(text, at, end):
        kind = next(
            name for name in ("protected", "number", "word", "mark", "rest") if match[name] is not None
        )
        yield match.start(), match.end(), "mark" if kind == "rest" else kind


def _first(text: str, low: int, high: int) -> int:
    """White space belongs to no piece."""
    return low + len(text[low:high]) - len(text[low:high].lstrip())


def _last(text: str, low: int, high: int) -> int:
    return low + len(text[low:high].rstrip())


def word_count(text: str, fixed: Sequence[tuple[int, int]] = ()) -> int:
    """Words in `text`, protected spans left out."""
    return sum(1 for piece in pieces(text, fixed) if piece.kind == "word")
