"""HTML: the text between block tags is a block; inline tags are gaps in it."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser

from mtp_cli.tasks.documents.document import Block, Document, Span
from mtp_cli.tasks.documents.lines import merged

_INLINE = frozenset(
    """a abbr b bdi bdo big cite del dfn em font i ins label mark q s small span strike strong sub sup u
    time data wbr""".split()  # noqa: SIM905
)
_FIXED = frozenset("code kbd samp var tt".split())  # noqa: SIM905
_SKIPPED = frozenset(
    "pre script style textarea svg math template object iframe select noscript".split()  # noqa: SIM905
)
_FULL = frozenset("p div body section article main aside blockquote dd figcaption center".split())  # noqa: SIM905


def read(text: str) -> Document:
    """See document.Reader."""
    return blocks(text, 0, len(text))


def blocks(text: str, start: int, end: int) -> Document:
    """The same for text[start:end], with places in all of `text`."""
    parser = _Parser(text[start:end])
    return Document(
        text,
        tuple(
            Block(tuple((a + start, b + start) for a, b in block.spans), block.sentence)
            for block in parser.found
        ),
        tuple((a + start, b + start) for a, b in parser.fixed),
    )


class _Parser(HTMLParser):
    """Collects blocks while it reads."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[Block] = []
        self.fixed: list[Span] = []
        self._text = text
        self._starts = [0]
        for at, char in enumerate(text):
            if char == "\n":
                self._starts.append(at + 1)
        self._spans: list[Span] = []
        self._full = True
        self._skipping: list[str] = []
        self._holding: list[str] = []  # open elements whose text is shown and stays
        self.feed(text)
        self.close()
        self._end()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.append(tag)
            return
        if tag in _FIXED:
            self._holding.append(tag)
        elif tag not in _INLINE:
            self._end()
            self._full = tag in _FULL
        given = dict(attrs)
        if tag in _SKIPPED or given.get("translate") == "no" or "notranslate" in (given.get("class") or ""):
            self._skipping.append(tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if not self._skipping and tag not in _INLINE and tag not in _FIXED:
            self._end()

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.pop()
            return
        if tag in self._holding:
            del self._holding[self._holding.index(tag) :]
        elif tag not in _INLINE and tag not in _FIXED:
            self._end()
            self._full = True

    def handle_data(self, data: str) -> None:
        self._add(len(data))

    def handle_entityref(self, name: str) -> None:
        self._add_reference(len(name) + 1)

    def handle_charref(self, name: str) -> None:
        self._add_reference(len(name) + 2)

    def _add_reference(self, length: int) -> None:
        start = self._at()
        closed = self._text[start + length : start + length + 1] == ";"
        self._add(length + closed, stays=True)

    def _add(self, length: int, stays: bool = False) -> None:
        """The next `length` characters are text."""
        if self._skipping:
            return
        start = self._at()
        self._spans.append((start, start + length))
        if stays or self._holding:
            self.fixed.append((start, start + length))

    def _at(self) -> int:
        line, column = self.getpos()
        return self._starts[line - 1] + column

    def _end(self) -> None:
        spans = merged(iter(self._spans))
        self._spans = []
        if any(not self._text[start:end].isspace() for start, end in spans):
            self.found.append(Block(spans, self._full))
