"""A correction as others read it: findings line by line, records for JSON, SARIF."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from mtp_cli import __version__
from mtp_cli.tasks.edits import LABELS, Edit
from mtp_cli.tasks.proofread import Correction

_LINE_END = re.compile(r"\r\n|\r|\n")
_SHOWN_CHARS = 40


class Lines:
    """Lines and columns of a text, both from 1."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]

    def position(self, at: int) -> tuple[int, int]:
        """(line, column) of a place."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1


def record(edit: Edit, lines: Lines) -> dict[str, Any]:
    """One edit for JSON. start and end count characters of the source."""
    line, column = lines.position(edit.start)
    found: dict[str, Any] = {
        "start": edit.start,
        "end": edit.end,
        "line": line,
        "column": column,
        "before": edit.before,
        "replacement": edit.replacement,
        "label": edit.label,
        "safe": edit.safe,
        "origin": edit.origin,
    }
    return found if edit.safe else {**found, "reason": edit.reason}


def records(found: Correction) -> dict[str, Any]:
    """What the JSON of a text says about its edits."""
    lines = Lines(found.source)
    return {
        "text": found.text,
        "input_tokens": found.input_tokens,
        "used_tokens": found.input_tokens,
        "sentences": found.sentences,
        "truncated": False,
        "edits": [record(edit, lines) for edit in found.applied],
        "refused": [record(edit, lines) for edit in found.refused],
    }


def findings(name: str, found: Correction) -> str:
    """One line for each edit that would be made: file:line:column: label: what."""
    lines = Lines(found.source)
    rows = []
    for edit in found.applied:
        line, column = lines.position(edit.start)
        rows.append(f"{name}:{line}:{column}: {edit.label}: {described(edit)}\n")
    return "".join(rows)


def described(edit: Edit) -> str:
    """The edit in words."""
    if not edit.before.strip():
        return f"insert {short(edit.replacement.strip())!r}"
    if not edit.replacement.strip():
        return f"drop {short(edit.before.strip())!r}"
    return f"{short(edit.before)!r} -> {short(edit.replacement)!r}"


def short(text: str) -> str:
    """One line of a bearable length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN_CHARS else flat[: _SHOWN_CHARS - 1] + "…"


def sarif(corrections: Iterable[tuple[str, Correction]]) -> dict[str, Any]:
    """SARIF 2.1.0 of (file, correction): safe edits are warnings with a fix, the others notes."""
    results = [
        _result(name, edit, Lines(found.source))
        for name, found in corrections
        for edit in found.edits
        if edit.possible
    ]
    driver = {
        "name": "mtp",
        "version": __version__,
        "rules": [{"id": name, "shortDescription": {"text": f"A correction: {name}"}} for name in LABELS],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _result(name: str, edit: Edit, lines: Lines) -> dict[str, Any]:
    line, column = lines.position(edit.start)
    end_line, end_column = lines.position(edit.end)
    place = {"uri": PurePath(name).as_posix()}
    region = {
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
        "charOffset": edit.start,
        "charLength": edit.end - edit.start,
    }
    replacement = {"deletedRegion": region, "insertedContent": {"text": edit.replacement}}
    change = {"artifactLocation": place, "replacements": [replacement]}
    note = "" if edit.safe else f" (unsafe: {edit.reason})"
    return {
        "ruleId": edit.label,
        "ruleIndex": LABELS.index(edit.label),
        "level": "warning" if edit.safe else "note",
        "message": {"text": described(edit) + note},
        "locations": [{"physicalLocation": {"artifactLocation": place, "region": region}}],
        "fixes": [{"description": {"text": described(edit)}, "artifactChanges": [change]}],
        "properties": {"safe": edit.safe, "origin": edit.origin},
    }


def count_of(edits: Sequence[Edit], what: str = "correction") -> str:
    """How many, in words."""
    return f"{len(edits)} {what}{'' if len(edits) == 1 else 's'}"
