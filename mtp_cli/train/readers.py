"""Bytes of a file -> its paragraphs, one function per kind of file."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable

from mtp_cli.train.html_text import ParagraphParser

Reader = Callable[[bytes], list[str]]
"""Raises ValueError for bytes that are not of its kind."""

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
_MARK_TWICE = re.compile(r"([.?!;:])(?: \1)+")
_QUOTE_BEFORE_MARK = re.compile(r"\" ([.,])(?!\S)")
_QUOTED = re.compile(r"(?<!\S)([\"']) ([^\"']*(?:\w'\w[^\"']*)*) \1(?!\S)")
_RDB_HEAD = 4  # the unpacked size stands before each packed object
_R_STRING = 9  # type code of one string in R's serialisation
_R_FIRST_STRING = b"\0\x04\0\x09"


def decoded(data: bytes) -> str:
    """UTF-8, or where it is not that, Windows-1252."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def plain_paragraphs(data: bytes) -> list[str]:
    """Plain text: paragraphs lie between blank lines."""
    return _BLANK_LINE.split(decoded(data))


def line_paragraphs(data: bytes) -> list[str]:
    """Plain text in which every line is a paragraph, as in speeches."""
    return decoded(data).splitlines()


def brown_paragraphs(data: bytes) -> list[str]:
    """word/tag text of the Brown corpus: paragraphs lie between blank lines; headlines are left out."""
    return [_untagged(block) for block in _BLANK_LINE.split(decoded(data))]


def _untagged(block: str) -> str:
    pairs = (token.rpartition("/") for token in block.split() if "/" in token)
    text = " ".join(word for word, _, tag in pairs if "-hl" not in tag)
    text = _MARK_TWICE.sub(r"\1", text.replace("``", '"').replace("''", '"'))
    text = _QUOTE_BEFORE_MARK.sub(r'\1 "', text)  # as printed, not as the corpus orders them
    return _QUOTED.sub(r"\1\2\1", text).replace("( ", "(")


def html_paragraphs(data: bytes) -> list[str]:
    """HTML: running text only."""
    parser = ParagraphParser()
    parser.feed(decoded(data))
    parser.close()
    return parser.found


def json_paragraphs(data: bytes) -> list[str]:
    """JSON: every string in it that has several words is a paragraph."""
    return list(_strings(json.loads(data)))


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if " " in value else []
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in _strings(item)]


def rdb_paragraphs(data: bytes) -> list[str]:
    """R's lazy-load data base of books as vectors of lines: paragraphs lie between empty lines."""
    lines: list[str] = []
    rest = data
    while len(rest) > _RDB_HEAD:
        packer = zlib.decompressobj()
        try:
            lines += _r_strings(packer.decompress(rest[_RDB_HEAD:]))
        except zlib.error as error:
            raise ValueError(str(error)) from None
        rest = packer.unused_data
    return plain_paragraphs("\n".join(lines).encode())


def _r_strings(data: bytes) -> list[str]:
    """The strings of a serialised character vector: type word, length, bytes, again and again."""
    found: list[str] = []
    position = data.find(_R_FIRST_STRING)
    while 0 <= position <= len(data) - 8:
        flags, size = struct.unpack_from(">Ii", data, position)
        if flags & 0xFF != _R_STRING:
            break
        start = position + 8
        position = start + max(size, 0)
        found.append(data[start:position].decode("utf-8", errors="replace"))
    return found


READERS: dict[str, Reader] = {
    "plain": plain_paragraphs,
    "lines": line_paragraphs,
    "brown": brown_paragraphs,
    "html": html_paragraphs,
    "json": json_paragraphs,
    "rdb": rdb_paragraphs,
}
