"""Plain text, as people type it: paragraphs, list items, headings, code, and mail that quotes other mail."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mtp_cli.tasks.documents.document import Block, Document, Span
from mtp_cli.tasks.documents.lines import content, front_matter, lines, merged

_MARK = r"#{1,6}|[*+•]{1,6}|-{1,2}>?|[=~]>|\d{1,3}[.)]|\[[ xX]\]"
_MARKER = re.compile(rf"[ \t]*(?:(?:{_MARK})(?=\s)[ \t]*)+")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_QUOTE = re.compile(r"[ \t]*(?:>|\|[ \t]*>|\w{1,3}>[ \t])")
_ATTRIBUTION = re.compile(
    r"(?:on|am|le|el|il|op)\b.{5,120}(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|schreef)\s*:"
    r"|.{1,80}\bwrote:",
    re.IGNORECASE,
)
_FORWARDED = re.compile(
    r"-{2,}\s*(?:Original Message|Forwarded message|Ursprüngliche Nachricht)\s*-{2,}", re.IGNORECASE
)
_SIGNATURE = "-- "


def read(text: str) -> Document:
    """See document.Reader. Quoted mail, signatures, code, tables and front matter are no prose."""
    return Document(text, tuple(prose(text, lines(text))))


def prose(text: str, rows: list[Span]) -> Iterator[Block]:
    """The blocks of these lines of `text`."""
    block: list[Span] = []
    item = False  # `block` is a list item or a heading
    for kind, (start, end) in _kinds(text, rows):
        if block and ((kind == "text" and not item) or kind in ("indented", "text-indented")):
            block.append((start, end))
            continue
        if block:
            yield Block(merged(iter(block)), not item)
            block = []
        if kind in ("text", "text-indented"):
            block, item = [(start, end)], False
        elif kind == "marked":
            marker = _MARKER.match(text, start, end)
            block, item = [(marker.end() if marker else start, end)], True
    if block:
        yield Block(merged(iter(block)), not item)


def _kinds(text: str, rows: list[Span]) -> Iterator[tuple[str, Span]]:
    """(kind, line): text | text-indented | indented | marked | keep. An indented line continues what it
    follows, or else is code."""
    fence = ""
    skip = front_matter(text, rows)
    for number, row in enumerate(rows):
        line = content(text, row)
        stripped = line.strip()
        if number < skip:
            yield "keep", row
        elif line == _SIGNATURE or _FORWARDED.fullmatch(stripped):
            yield from (("keep", rest) for rest in rows[number:])
            return
        elif fence:
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
            yield "keep", row
        elif opened := _FENCE.match(line):
            fence = opened.group(1)
            yield "keep", row
        else:
            yield _kind(line, stripped), row


def _kind(line: str, stripped: str) -> str:
    if (
        not any(map(str.isalnum, stripped))
        or stripped.startswith("|")
        or _QUOTE.match(line)
        or _ATTRIBUTION.fullmatch(stripped)
    ):
        return "keep"
    if _MARKER.match(line) and (not line.startswith(("    ", "\t")) or not stripped.startswith("#")):
        return "marked"
    if line.startswith(("    ", "\t")):
        return "indented"
    return "text-indented" if line[0].isspace() else "text"
