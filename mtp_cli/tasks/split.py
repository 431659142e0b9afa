"""Cutting text without losing a character: paragraphs, sentences, parts that fit a number of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_PARAGRAPH = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)\s*")
_SENTENCE_END = re.compile(r"(?:[.!?…]+[\"'”’»)\]]*|[。！？]+)(?:\s+|(?<=[。！？]))")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])(?:[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|cf|e\.g|i\.e|[ap]\.m|No|Nos|Fig|Vol|pp|approx|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|U\.S|U\.K|z\.B|d\.h|bzw|ca|Nr)\.\s*$"
)


def ends_in_abbreviation(text: str) -> bool:
    """True for "... e.g." and the like: the full stop at the end need not end a sentence."""
    return _ABBREVIATION.search(text[-24:]) is not None


def paragraphs(text: str) -> list[str]:
    """Pieces that end with the blank lines behind them; joined they are `text`."""
    return _cut(text, (found.end() for found in _PARAGRAPH.finditer(text)))


def lines(text: str) -> list[str]:
    """Lines with their ends; joined they are `text`."""
    return text.splitlines(keepends=True)


def sentences(text: str) -> list[str]:
    """Pieces that end with the white space behind them; joined they are `text`."""
    return _cut(text, _sentence_ends(text))


def _sentence_ends(text: str) -> Iterator[int]:
    for found in _SENTENCE_END.finditer(text):
        follows = text[found.end() : found.end() + 1]
        if follows.islower() or ends_in_abbreviation(text[max(0, found.start() - 16) : found.end()]):
            continue
        yield found.end()


def _cut(text: str, ends: Iterator[int]) -> list[str]:
    pieces, start = [], 0
    for end in ends:
        if start < end < len(text):
            pieces.append(text[start:end])
            start = end
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def halves(text: str) -> list[str]:
    """`text` in two at the white space nearest its middle, or in the middle of its characters."""
    middle = len(text) // 2
    spaces = [found.end() for found in re.finditer(r"\s+", text) if 0 < found.end() < len(text)]
    at = min(spaces, key=lambda end: abs(end - middle), default=middle)
    if abs(at - middle) > len(text) // 3:
        at = middle
    return [text[:at], text[at:]] if 0 < at < len(text) else [text]


def parts(
    text: str,
    limit: int,
    count: Callable[[str], int],
    units: Callable[[str], list[str]] = paragraphs,
) -> list[str]:
    """`text` in as few consecutive parts of at most `limit` tokens as whole paragraphs allow; a paragraph
    that is too long is cut between sentences, a sentence between words, a word between characters.

    Parts are of even size, so that the last one is not a scrap. `count` gives the tokens of a text. A single
    character may exceed `limit`: it is a part of its own then. `units` are kept whole
    where that goes: paragraphs, or `lines`."""
    total = count(text)
    if total <= limit or len(text) < 2:
        return [text]
    wanted = -(-total // limit)
    even = min(limit, -(-total // wanted) + limit // 8)
    found: list[str] = []
    held, size = "", 0
    for piece, tokens in _small_pieces(text, even, count, units):
        if held and size + tokens > even:
            found.append(held)
            held, size = "", 0
        held += piece
        size += tokens
    if held:
        found.append(held)
    return found


def beginning(text: str, limit: int, count: Callable[[str], int]) -> str:
    """What `limit` tokens hold of the beginning of `text`, to the end of a sentence where there is one."""
    held, size = "", 0
    for piece, tokens in _small_pieces(text, limit, count):
        if size + tokens <= limit:
            held += piece
            size += tokens
            continue
        for smaller in sentences(piece):
            size += count(smaller)
            if size > limit:
                break
            held += smaller
        break
    return held or text[:1]


def _small_pieces(
    text: str,
    limit: int,
    count: Callable[[str], int],
    units: Callable[[str], list[str]] = paragraphs,
) -> Iterator[tuple[str, int]]:
    """(piece, tokens) in order, none above `limit` where that is possible."""
    for paragraph in units(text):
        yield from _shrink(paragraph, limit, count, sentences)


def _shrink(
    text: str, limit: int, count: Callable[[str], int], cut: Callable[[str], list[str]]
) -> Iterator[tuple[str, int]]:
    tokens = count(text)
    if tokens <= limit or len(text) < 2:
        yield text, tokens
        return
    smaller = cut(text)
    for piece in smaller if len(smaller) > 1 else halves(text):
        yield from _shrink(piece, limit, count, halves)
