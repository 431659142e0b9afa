"""What a person wants of a summary."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from mtp_cli.readers.document import Kind

TOLERANCE = 0.25
"""How far the words of a summary may be from those asked for."""


class Style(str, Enum):
    """Form of a summary."""

    paragraph = "paragraph"
    bullets = "bullets"
    headline = "headline"
    notification = "notification"


class Overflow(str, Enum):
    """What becomes of a text that does not fit the context."""

    chunk = "chunk"
    error = "error"
    truncate = "truncate"


@dataclass(frozen=True, slots=True)
class Length:
    """`words` to aim at, 0: as many as `sentences` give. `strict`: asked again until the words are met."""

    name: str
    words: int = 0
    sentences: int = 0
    strict: bool = False

    def __str__(self) -> str:
        return self.name

    def kept(self, words: int, sentences: int) -> bool | None:
        """Whether a summary of that size meets it; None: no length was asked for."""
        if self.strict:
            return self.least <= words <= self.most
        return sentences <= self.sentences if self.sentences else None

    @property
    def least(self) -> int:
        """Fewest words that still meet it."""
        return -int(-self.words * (1 - TOLERANCE) // 1)

    @property
    def most(self) -> int:
        """Most words that still meet it."""
        return int(self.words * (1 + TOLERANCE))


SHORT = Length("short", 28, 2)
MEDIUM = Length("medium")
LONG = Length("long", 150, 0, True)
LEAST_WORDS, MOST_WORDS = 5, 2000


def parse_length(value: str) -> Length:
    """short | medium | long | a number of words. Raises ValueError, of one line."""
    named = {length.name: length for length in (SHORT, MEDIUM, LONG)}.get(value.strip().lower())
    if named is not None:
        return named
    try:
        words = int(value)
    except ValueError:
        raise ValueError(f"'{value}' is none of short, medium, long or a number of words") from None
    if not LEAST_WORDS <= words <= MOST_WORDS:
        raise ValueError(f"{words} words are out of range: {LEAST_WORDS} to {MOST_WORDS} can be asked for")
    return Length(str(words), words, 0, True)


@dataclass(frozen=True, slots=True)
class Wish:
    """One summary, as it was asked for. `language` is a code like "de", or "" for that of the text."""

    style: Style = Style.paragraph
    length: Length = MEDIUM
    kind: Kind = Kind.article
    language: str = ""
    overflow: Overflow = Overflow.chunk

    @property
    def one_line(self) -> bool:
        """The result is one short line."""
        return self.style in (Style.headline, Style.notification)
