"""A text's layout: what is a unit of prose to correct, and what stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mtp_cli.tasks.pieces import word_count
from mtp_cli.tasks.split import sentences

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_MARKER = re.compile(r"[ \t]*(?:(?:>|#{1,6}(?=\s)|[-*+•](?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s))[ \t]*)*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_FRONT_MATTER = re.compile(r"(?:---|\+\+\+)[ \t]*")
_LEAST_WORDS = 2
_MOST_CHARS = 600


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of the text. `prose` units go to the model: a sentence with the white space behind it.

    `sentence` is False for headings and list items, which need no full stop."""

    text: str
    prose: bool
    sentence: bool = True


def units(text: str) -> Iterator[Unit]:
    """The whole text in order; joined the units are `text`."""
    block = ""
    for kind, line in _lines(text):
        if kind == "text":
            block += line
            continue
        yield from _prose(block, sentence=True)
        block = ""
        if kind == "keep":
            yield Unit(line, False)
            continue
        marker = _MARKER.match(line)
        end = marker.end() if marker else 0
        yield Unit(line[:end], False)
        if kind == "quote":  # its next line has its own marker, so it cannot be joined
            yield from _prose(line[end:], sentence=True)
        else:
            yield from _prose(line[end:], sentence=False)
    yield from _prose(block, sentence=True)


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """(kind, line with its end): text | marked | quote | keep."""
    fence = ""
    front = ""
    for number, found in enumerate(_LINE.finditer(text)):
        line = found.group()
        if not line:
            continue
        stripped = line.strip()
        if number == 0 and _FRONT_MATTER.fullmatch(stripped) and f"\n{stripped}" in text:
            front = stripped
            yield "keep", line
        elif front:
            front = "" if stripped == front else front
            yield "keep", line
        elif fence:
            fence = "" if stripped.startswith(fence) and not stripped.strip(fence[0]) else fence
            yield "keep", line
        elif opened := _FENCE.match(line):
            fence = opened.group(1)
            yield "keep", line
        else:
            yield _kind(line), line


def _kind(line: str) -> str:
    stripped = line.strip()
    if not stripped or stripped.startswith("|") or line.startswith(("    ", "\t")):
        return "keep"
    marker = _MARKER.match(line)
    if marker and marker.group().strip():
        return "quote" if ">" in marker.group() else "marked"
    return "text"


def _prose(block: str, *, sentence: bool) -> Iterator[Unit]:
    for piece in sentences(block):
        for part in _short(piece):
            wanted = word_count(part) >= _LEAST_WORDS and max(map(len, part.split())) <= _MOST_CHARS // 2
            yield Unit(part, wanted, sentence)


def _short(piece: str) -> Iterator[str]:
    """A sentence without an end in sight is cut behind a space."""
    while len(piece) > _MOST_CHARS:
        ends = [piece.rfind(mark, 0, _MOST_CHARS) + 1 for mark in ("; ", ", ", " ", "\n")]
        cut = next((end for end in ends if end > _MOST_CHARS // 3), _MOST_CHARS)
        yield piece[:cut]
        piece = piece[cut:]
    if piece:
        yield piece
