"""reStructuredText, by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mtp_cli.tasks.documents.document import Block, Document, Span
from mtp_cli.tasks.documents.inline import placed, rst
from mtp_cli.tasks.documents.lines import content, lines, merged

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*")
_EXPLICIT = re.compile(r"[ \t]*\.\.(?:[ \t]|$)|[ \t]*__[ \t]")
_PROSE_DIRECTIVE = re.compile(
    r"[ \t]*\.\.[ \t]+(?:note|warning|tip|hint|important|caution|attention|danger|error|admonition|topic|"
    r"sidebar|versionadded|versionchanged|deprecated|seealso|epigraph|container|rubric|todo)::[ \t]*"
)
_MARKER = re.compile(
    r"[ \t]*(?:(?:[-*+•]|(?:\d{1,3}|#|[A-Za-z])[.)]|\((?:\d{1,3}|[a-z])\))[ \t]+|:[^:\s][^:\n]*:(?:[ \t]+|$))"
)
_OPTION = re.compile(r"[ \t]*:[\w-]+:")
_SIMPLE_BORDER = re.compile(r"[ \t]*=+(?:[ \t]+=+)+\s*")
_KEPT = re.compile(r"[ \t]*(?:\||\+[-=+]|>>>|\.\.\.[ \t])")


def read(text: str) -> Document:
    """See document.Reader. Directives, literal blocks, tables, targets and adornments are no prose."""
    blocks: list[Block] = []
    fixed: list[Span] = []
    for spans, full in _paragraphs(text, lines(text)):
        marks = rst("".join(text[start:end] for start, end in spans))
        shown, stay = placed(text, merged(iter(spans)), marks)
        fixed += stay
        if shown:
            blocks.append(Block(shown, full))
    return Document(text, tuple(blocks), tuple(sorted(fixed)))


class _Lines:
    """The lines with what is asked about them."""

    def __init__(self, text: str, rows: list[Span]) -> None:
        self.rows = rows
        self.text = [content(text, row) for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def blank(self, at: int) -> bool:
        return at >= len(self) or not self.text[at].strip()

    def indent(self, at: int) -> int:
        return len(self.text[at]) - len(self.text[at].lstrip())

    def is_adornment(self, at: int, least: int = 2) -> bool:
        return at < len(self) and not self.indent(at) and self._long(at, least)

    def _long(self, at: int, least: int) -> bool:
        return len(self.text[at].rstrip()) >= least and _ADORNMENT.fullmatch(self.text[at]) is not None

    def skip_deeper(self, at: int, indent: int) -> int:
        """The first line from `at` on that is neither blank nor indented deeper."""
        while at < len(self) and (self.blank(at) or self.indent(at) > indent):
            at += 1
        return at


def _paragraphs(text: str, rows: list[Span]) -> Iterator[tuple[list[Span], bool]]:
    """(lines of a paragraph without their marker, Block.sentence)"""
    page = _Lines(text, rows)
    at = 0
    while at < len(page):
        line = page.text[at]
        directive = _PROSE_DIRECTIVE.match(line)
        if page.blank(at) or page.is_adornment(at):
            at += 1
        elif directive:
            first, at = at, at + 1
            while not page.blank(at) and page.indent(at) > page.indent(first):
                if _OPTION.match(page.text[at]):
                    break
                at += 1
            if line[directive.end() :].strip() and "version" not in directive.group():
                yield [(rows[first][0] + directive.end(), rows[first][1]), *rows[first + 1 : at]], True
            while at < len(page) and _OPTION.match(page.text[at]):
                at += 1
        elif _EXPLICIT.match(line) or line.strip() == "::":
            at = page.skip_deeper(at + 1, page.indent(at))
        elif _SIMPLE_BORDER.fullmatch(line):
            at = _behind_table(page, at)
        elif _KEPT.match(line):
            while not page.blank(at):
                at += 1
        else:
            first, at = at, _paragraph_end(page, at)
            yield _paragraph(page, first, at), _is_full(page, first, at)
            if page.text[at - 1].rstrip().endswith("::"):
                at = page.skip_deeper(at, page.indent(first))


def _paragraph_end(page: _Lines, first: int) -> int:
    """A title is one line; an item goes on where its text is indented, other text where it is not."""
    if _is_title(page, first):
        return first + 1
    marker = _MARKER.match(page.text[first])
    at = first + 1
    while not page.blank(at) and not page.is_adornment(at):
        if _MARKER.match(page.text[at]) or (page.indent(at) > page.indent(first)) != bool(marker):
            break
        if not marker and page.indent(at) != page.indent(first):
            break
        at += 1
    return at


def _is_title(page: _Lines, at: int) -> bool:
    length = len(page.text[at].strip())
    return page.is_adornment(at + 1, max(length, 2)) and not page.indent(at)


def _is_full(page: _Lines, first: int, end: int) -> bool:
    if _is_title(page, first) or _MARKER.match(page.text[first]):
        return False
    term = end < len(page) and not page.blank(end) and page.indent(end) > page.indent(first)
    return not term


def _paragraph(page: _Lines, first: int, end: int) -> list[Span]:
    marker = _MARKER.match(page.text[first])
    spans = page.rows[first:end]
    skip = marker.end() if marker else page.indent(first)
    return [(spans[0][0] + skip, spans[0][1]), *spans[1:]]


def _behind_table(page: _Lines, at: int) -> int:
    """A simple table ends with a border before a blank line."""
    for end in range(at + 1, len(page)):
        if _SIMPLE_BORDER.fullmatch(page.text[end]) and page.blank(end + 1) and end > at + 1:
            return end + 1
    return at + 1
