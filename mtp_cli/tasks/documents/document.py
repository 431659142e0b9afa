"""Prose with the places where it stands. Nothing of a document is ever rebuilt: edits go back to its text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mtp_cli.tasks.pieces import pieces
from mtp_cli.tasks.split import sentences

Span = tuple[int, int]
"""[start, end) in the source."""

_MOST_CHARS = 600


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading, a cell: spans that follow each other are read as one text. What stands between
    two spans (a quote mark at the start of a line, a tag, a link's target) is a gap: it is not shown to the
    model and no edit may cross it.

    `sentence` is False for headings, cells and list items, which need no full stop."""

    spans: tuple[Span, ...]
    sentence: bool = True


class Stretch:
    """A row of spans read as one text, with the way back to the source."""

    __slots__ = ("_source", "_starts", "spans", "text")

    def __init__(self, source: str, spans: Sequence[Span]) -> None:
        self._source = source
        self.spans = tuple(spans)
        self.text = "".join(source[start:end] for start, end in spans)
        self._starts: list[int] = []  # of each span, in `text`
        at = 0
        for start, end in spans:
            self._starts.append(at)
            at += end - start

    def slice(self, start: int, end: int) -> Stretch:
        """A part of it, by places in `text`."""
        found: list[Span] = []
        for begin, (low, high) in zip(self._starts, self.spans, strict=True):
            a, b = max(start, begin), min(end, begin + high - low)
            if a < b:
                found.append((low + a - begin, low + b - begin))
        return Stretch(self._source, found)

    @property
    def gaps(self) -> Sequence[int]:
        """Where in `text` something was left out."""
        return self._starts[1:]

    def within(self, places: Sequence[Span]) -> tuple[Span, ...]:
        """What of `places` (in the source) falls into it, as places in `text`."""
        found: list[Span] = []
        for begin, (start, end) in zip(self._starts, self.spans, strict=True):
            for low, high in places:
                a, b = max(low, start), min(high, end)
                if a < b:
                    found.append((begin + a - start, begin + b - start))
        return tuple(found)

    def place(self, start: int, end: int) -> Span | None:
        """[start, end) of `text` in the source, or None when a gap stands in between. An empty place at a gap
        is behind it, and at the end of the text before what follows it."""
        at = bisect_right(self._starts, start) - 1
        low, high = self.spans[at]
        first = low + start - self._starts[at]
        last = first + end - start
        return (first, last) if last <= high else None


@dataclass(frozen=True, slots=True)
class Sentence:
    """What goes to the model at once. `fixed`: places in its text that stay; `full`: see Block.sentence;
    `block`: where its block begins and ends in the source."""

    stretch: Stretch
    fixed: tuple[Span, ...]
    full: bool
    block: Span


@dataclass(frozen=True, slots=True)
class Document:
    """`text`, its prose in order, and stretches of it (`fixed`, in order) that stay byte for byte. `remark`:
    what a person should know about how it was read."""

    text: str
    blocks: tuple[Block, ...]
    fixed: tuple[Span, ...] = ()
    remark: str = ""
    shape: tuple[object, ...] = ()
    """what a parser makes of the text besides its words"""

    def sentences(self) -> Iterator[Sentence]:
        """In order. Each has the white space behind it, as far as that belongs to its block."""
        starts = [start for start, _ in self.fixed]
        for block in self.blocks:
            if not block.spans:
                continue
            whole = Stretch(self.text, block.spans)
            extent = block.spans[0][0], block.spans[-1][1]
            at = 0
            for text in _pieces(whole.text):
                part = whole.slice(at, at + len(text))
                at += len(text)
                low, high = part.spans[0][0], part.spans[-1][1]
                near = self.fixed[max(bisect_left(starts, low) - 1, 0) : bisect_right(starts, high)]
                yield Sentence(part, part.within(near), block.sentence, extent)


Reader = Callable[[str], Document]


def _pieces(text: str) -> Iterator[str]:
    """Sentences; one without an end in sight is cut behind a space."""
    for piece in sentences(text):
        while len(piece) > _MOST_CHARS:
            cut = _cut(piece)
            yield piece[:cut]
            piece = piece[cut:]
        if piece:
            yield piece


def _cut(text: str) -> int:
    """Where to cut a long sentence: never inside of what must come back as it is, if that can be."""
    head = text[: 2 * _MOST_CHARS]
    free, last = list(head), _MOST_CHARS
    for piece in pieces(head):
        if piece.fixed:
            free[piece.start : piece.end] = "x" * len(piece.text)
            last = piece.start if piece.start < _MOST_CHARS < piece.end else last
    spots = ("".join(free).rfind(mark, 0, _MOST_CHARS) + len(mark) for mark in ("; ", ", ", "\n", " "))
    least = _MOST_CHARS // 3
    return next((end for end in (*spots, last) if end > least), _MOST_CHARS)
