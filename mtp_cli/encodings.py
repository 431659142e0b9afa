"""Bytes of a file <-> its text. No input, no output."""

from __future__ import annotations

import codecs
import sys
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: it begins with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SIGNATURES = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a ZIP or office document",
    b"GGUF": "a model file",
    b"\xd0\xcf\x11\xe0": "an old office document",
}
_SNIFF_BYTES = 8192
_LEAST_LETTERS = 0.8


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text without its byte-order mark, and what is needed to write it again as it was."""

    text: str
    encoding: str = "utf-8"
    bom: bool = False

    def encode(self, text: str) -> bytes:
        """`text` in the same encoding, with the mark that was there."""
        data = text.encode(self.encoding)
        return mark_of(self.encoding) + data if self.bom else data


PLAIN = Decoded("")
"""UTF-8 without a mark."""


class NoTextError(ValueError):
    """Bytes that are no text: the message goes on with "NAME is ..."."""


def mark_of(encoding: str) -> bytes:
    """The byte-order mark of one of the known encodings."""
    return next(mark for mark, name in _MARKS if name == encoding)


def refuse_binary(head: bytes) -> None:
    """Raise NoTextError for the beginning of a file that is no text, before the rest of it is read."""
    for signature, what in _SIGNATURES.items():
        if head.startswith(signature):
            raise NoTextError(f"{what}, not text; convert it to plain text first")
    if _marked(head) is None and b"\0" in head[:_SNIFF_BYTES]:
        kind = _utf16_without_mark(head[:_SNIFF_BYTES])
        hint = f"; it may be {kind} without a byte-order mark: save it as UTF-8" if kind else ""
        raise NoTextError(f"a binary file, not text{hint}")


def decode(data: bytes) -> Decoded:
    """UTF-8, or UTF-16 or UTF-32 with a byte-order mark. Raises NoTextError."""
    refuse_binary(data)
    mark, encoding = _marked(data) or (b"", "utf-8")
    try:
        return Decoded(data[len(mark) :].decode(encoding), encoding, bool(mark))
    except UnicodeDecodeError as error:
        offset = len(mark) + error.start
        name = encoding[:6].upper().rstrip("-")
        raise NoTextError(
            f"not valid {name}: byte 0x{data[offset]:02x} at offset {offset}; {_way_out(data)}"
        ) from None


def in_utf8(data: bytes) -> bytes:
    """UTF-16 and UTF-32 text with a byte-order mark as UTF-8 with one; all else, and what is not valid, as it
    is."""
    found = _marked(data)
    if found is None or found[1] == "utf-8":
        return data
    try:
        return codecs.BOM_UTF8 + decode(data).text.encode("utf-8")
    except NoTextError:
        return data


def _marked(data: bytes) -> tuple[bytes, str] | None:
    return next((known for known in _MARKS if data.startswith(known[0])), None)


def _utf16_without_mark(data: bytes) -> str:
    """ "UTF-16" where every second byte is nearly always zero, as in western text; else ""."""
    even, odd = data[::2], data[1::2]
    for zeros, letters in ((odd, even), (even, odd)):
        if len(zeros) > 1 and zeros.count(0) > _LEAST_LETTERS * len(zeros) and letters.count(0) == 0:
            return "UTF-16"
    return ""


def _way_out(data: bytes) -> str:
    """What to do with it: an old 8-bit encoding is the likeliest cause, and there is a tool for that."""
    controls = sum(byte < 32 and byte not in b"\t\n\f\r\x1b" for byte in data[:_SNIFF_BYTES])
    if controls or _marked(data) or sys.platform == "win32":
        return "save it as UTF-8"
    return "save it as UTF-8, for instance with iconv -f WINDOWS-1252 -t UTF-8"
