"""A text as lines with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mtp_cli.tasks.documents.document import Span

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def lines(text: str) -> list[Span]:
    """Every line with its end; none for the empty rest behind the last one."""
    return [found.span() for found in _LINE.finditer(text) if found.group()]


def content(text: str, span: Span) -> str:
    """The line without its end."""
    return text[span[0] : span[1]].rstrip("\r\n")


def front_matter(text: str, rows: list[Span]) -> int:
    """How many lines a front matter (--- or +++) takes at the beginning."""
    mark = content(text, rows[0]).strip() if rows else ""
    if mark not in ("---", "+++"):
        return 0
    return next((n for n in range(1, len(rows)) if content(text, rows[n]).strip() == mark), -1) + 1


def merged(spans: Iterator[Span]) -> tuple[Span, ...]:
    """Spans in order, those that touch put together, empty ones left out."""
    found: list[Span] = []
    for start, end in spans:
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], end)
        elif start < end:
            found.append((start, end))
    return tuple(found)
