"""Bytes of a file -> its paragraphs, one function per kind of file."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable
from html.parser import HTMLParser

from mtp_cli.train.errors import TrainError

Reader = Callable[[bytes], list[str]]

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
_RDB_HEAD = 4  # the unpacked size stands before each packed object
_R_STRING = 9  # type code of one string in R's serialisation
_MARK_TWICE = re.compile(r"([.?!;:])(?: \1)+")
_QUOTED = re.compile(r'" ([^"]*?) ?"')


def plain_paragraphs(data: bytes) -> list[str]:
    """Plain text: paragraphs lie between blank lines."""
    return _BLANK_LINE.split(_decoded(data))


def line_paragraphs(data: bytes) -> list[str]:
    """Plain text in which every line is a paragraph, as in speeches."""
    return _decoded(data).splitlines()


def brown_paragraphs(data: bytes) -> list[str]:
    """word/tag text of the Brown corpus: paragraphs lie between blank lines; headlines are left out."""
    blocks = _BLANK_LINE.split(_decoded(data))
    return [_untagged(block) for block in blocks]


def html_paragraphs(data: bytes) -> list[str]:
    """HTML, DocBook's and Mallard's too: running text only, no headings, tables or listings."""
    collector = _Paragraphs()
    collector.feed(_decoded(data))
    collector.close()
    collector.flush()
    return collector.found


def json_paragraphs(data: bytes) -> list[str]:
    """JSON: every string in it that has several words is a paragraph."""
    try:
        value = json.loads(data)
    except ValueError as error:
        raise TrainError(f"not valid JSON: {error}") from None
    return _strings(value)


def rdb_paragraphs(data: bytes) -> list[str]:
    """R's lazy-load data base of character vectors, lines of a book each: blank lines part paragraphs."""
    lines: list[str] = []
    rest = data
    while len(rest) > _RDB_HEAD:
        packer = zlib.decompressobj()
        lines += _r_strings(packer.decompress(rest[_RDB_HEAD:]))
        rest = packer.unused_data
    return plain_paragraphs("\n".join(lines).encode())


READERS: dict[str, Reader] = {
    "plain": plain_paragraphs,
    "lines": line_paragraphs,
    "brown": brown_paragraphs,
    "html": html_paragraphs,
    "json": json_paragraphs,
    "rdb": rdb_paragraphs,
}


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _untagged(block: str) -> str:
    pairs = (token.rpartition("/") for token in block.split() if "/" in token)
    text = " ".join(word for word, _, tag in pairs if "-hl" not in tag)
    text = _MARK_TWICE.sub(r"\1", text.replace("``", '"').replace("''", '"'))
    return _QUOTED.sub(r'"\1"', text).replace("( ", "(")


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if " " in value else []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return []


def _r_strings(data: bytes) -> list[str]:
    """The strings of a serialised character vector (XDR): type word, length, bytes, again and again."""
    found: list[str] = []
    position = data.find(b"\0\x04\0\x09")
    while 0 <= position <= len(data) - 8:
        flags, size = struct.unpack_from(">Ii", data, position)
        if flags & 0xFF != _R_STRING:
            break
        start, size = position + 8, max(size, 0)
        found.append(data[start : start + size].decode("utf-8", errors="replace"))
        position = start + size
    return found


class _Paragraphs(HTMLParser):
    """Collects the text of paragraph-like elements."""

    _SKIPPED = frozenset(
        "head script style pre table nav footer header aside info screen title sup svg".split()
    )
    _KEPT = frozenset("p li dd blockquote".split())
    _BLOCKS = frozenset(
        "p li dd dt dl ul ol blockquote div section article body main h1 h2 h3 h4 h5 h6 hr br-block td tr"
        " page note steps item list listing".split()
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._text: list[str] = []
        self._skipping = 0
        self._keep = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._SKIPPED:
            self._skipping += 1
        elif tag in self._BLOCKS:
            self.flush()
            para = tag == "div" and ("class", "para") in attrs
            self._keep = para or tag in self._KEPT
        elif tag == "br":
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._SKIPPED:
            self.flush()
            self._skipping = max(0, self._skipping - 1)
        elif tag in self._BLOCKS:
            self.flush()
            self._keep = False

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self._text.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self._text.append(data)

    def flush(self) -> None:
        """End the paragraph that is being read."""
        text = "".join(self._text)
        self._text.clear()
        if self._keep and text.strip():
            self.found.append(text)
