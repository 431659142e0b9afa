"""What has changed, for a terminal or a patch program."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from mtp_cli.tasks.edits import Edit

_RED, _GREEN, _CYAN, _BOLD, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")


def unified(name: str, before: str, after: str, *, colour: bool = False) -> str:
    """A unified diff that `patch` understands; "" when nothing has changed."""
    rows = difflib.unified_diff(_LINE.findall(before), _LINE.findall(after), f"a/{name}", f"b/{name}")
    return "".join(_painted(row, colour) for row in rows)


def _painted(row: str, colour: bool) -> str:
    text, end = (row[:-1], "\n") if row.endswith("\n") else (row, "\n\\ No newline at end of file\n")
    if colour:
        start = next((paint for mark, paint in _PAINTS if text.startswith(mark)), "")
        text = f"{start}{text}{_OFF}" if start else text
    return text + end


_PAINTS = (("---", _BOLD), ("+++", _BOLD), ("@@", _CYAN), ("-", _RED), ("+", _GREEN))


def by_word(name: str, before: str, edits: Sequence[Edit], *, colour: bool = False) -> str:
    """The lines with edits, each edit as [-old-]{+new+}, or struck in colour; "" without edits."""
    if not edits:
        return ""
    head = f"--- {name}\n"
    parts = [f"{_BOLD}{head[:-1]}{_OFF}\n" if colour else head]
    for number, start, end in _lines_of(before, edits):
        title = f"@@ line {number} @@"
        parts.append(f"{_CYAN}{title}{_OFF}\n" if colour else f"{title}\n")
        here = [edit for edit in edits if start <= edit.start and edit.end <= end]
        shown = marked(before, start, end, here, colour=colour)
        parts.append(shown if shown.endswith("\n") else shown + "\n")
    return "".join(parts)


def marked(text: str, start: int, end: int, edits: Sequence[Edit], *, colour: bool = False) -> str:
    """text[start:end] with these edits shown in place."""
    out: list[str] = []
    at = start
    for edit in edits:
        out.append(text[at : edit.start])
        if edit.before:
            out.append(f"{_RED}{edit.before}{_OFF}" if colour else f"[-{edit.before}-]")
        if edit.replacement:
            out.append(f"{_GREEN}{edit.replacement}{_OFF}" if colour else f"{{+{edit.replacement}+}}")
        at = edit.end
    return "".join(out) + text[at:end]


def _lines_of(text: str, edits: Sequence[Edit]) -> Iterator[tuple[int, int, int]]:
    """(number of the first, start, end) of the lines that hold edits; an edit over lines takes them all."""
    at = number = 0
    counted = 0
    for edit in edits:
        if number and edit.start < at:
            continue
        start = text.rfind("\n", 0, edit.start) + 1
        end = _line_end(text, edit.end)
        for other in edits:
            if start <= other.start < end < other.end:
                end = _line_end(text, other.end)
        number = text.count("\n", counted, start) + (number or 1)
        counted, at = start, end
        yield number, start, end


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return found + 1 if found >= 0 else len(text)
