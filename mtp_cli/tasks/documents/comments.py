"""Source code: its comments and docstrings, found by Pygments; everything else stays."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mtp_cli.tasks.documents import plain
from mtp_cli.tasks.documents.document import Block, Document, Span
from mtp_cli.tasks.documents.inline import Marks, placed
from mtp_cli.tasks.documents.lines import lines

_LINE_MARK = re.compile(r"[ \t]*(?:#+:?|//+!?|--+|;+|%+)[ \t]?")
_OPENER = re.compile(r"[ \t]*(?:/\*+!?|<!--|[rRuUbBfF]{0,2}(?:\"\"\"|''')|\{-|\(\*)[ \t]?")
_CLOSER = re.compile(r"[ \t]*(?:\*+/|-->|\"\"\"|'''|-\}|\*\))[ \t]*$")
_STAR = re.compile(r"[ \t]*\*(?!/)[ \t]?")
_PRAGMA = re.compile(
    r"(?:!|noqa\b|type:|pylint:|ruff:|fmt:|isort:|mypy:|pragma\b|eslint|ts-|@ts|clang-format|NOLINT|-\*-|vim:|"
    r"SPDX-|Copyright\b|cspell|coding[:=])",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[;{}\\]\s*$|^\s*(?:if|for|while|def|return|import|from|class|var|let|const|else|elif)\b.*[:=({]\s*\S*$"
    r"|^\s*[\w.\[\]]+\s*[-+*/|&]?=[^=]|^\s*[\w.]+\([^)]*\)\s*$|^\s*@\w|->|=>|==|&&"
)
_INLINE = re.compile(r"``.+?``|:\w+:`[^`]*`|`[^`\n]*`|(?<!\w)@\w+(?:\s+\w+)?|\\\w+")


def read(text: str, name: str) -> Document:
    """See document.Reader; `name` is the file's, for its language. Raises UserError for an unknown one."""
    blocks: list[Block] = []
    fixed: list[Span] = []
    for rows in _comments(text, name):
        for block in plain.prose(text, rows):
            shown = "".join(text[start:end] for start, end in block.spans)
            marks = Marks(fixed=[found.span() for found in _INLINE.finditer(shown)])
            fixed += placed(text, block.spans, marks)[1]
            blocks.append(Block(block.spans, sentence=False))
    return Document(text, tuple(blocks), tuple(sorted(fixed)))


def _comments(text: str, name: str) -> Iterator[list[Span]]:
    """The lines of each comment without its marks. Line comments under each other are one."""
    held: list[Span] = []
    column, last = -1, -1
    for start, end, many in _tokens(text, name):
        begin = text.rfind("\n", 0, start) + 1
        here = start - begin if not text[begin:start].strip() and not many else -1
        if held and not (here >= 0 and here == column and text.count("\n", last, start) == 1):
            yield from _checked(text, held)
            held = []
        if many:
            yield from _checked(text, _block_lines(text, start, end))
            continue
        marker = _LINE_MARK.match(text, start, end)
        held.append((marker.end() if marker else start, _line_end(text, end)))
        column, last = here, start
    if held:
        yield from _checked(text, held)


def _checked(text: str, rows: list[Span]) -> Iterator[list[Span]]:
    """Without pragmas and code that is commented out."""
    shown = [text[start:end].strip() for start, end in rows]
    kept = [bool(_PRAGMA.match(line) or _CODE.search(line)) for line in shown]
    yield [row for row, keep in zip(rows, kept, strict=True) if not keep]


def _block_lines(text: str, start: int, end: int) -> list[Span]:
    """A comment over lines, or a docstring: without its delimiters, stars and common indentation."""
    opener = _OPENER.match(text, start, end)
    closer = _CLOSER.search(text, start, end)
    start = opener.end() if opener else start
    end = closer.start() if closer and closer.start() >= start else end
    rows = [(start + a, start + b) for a, b in lines(text[start:end])]
    rest = [row for row in rows[1:] if text[row[0] : row[1]].strip()]
    if rest and all(_STAR.match(text, *row) for row in rest):
        return rows[:1] + [(found.end() if (found := _STAR.match(text, a, b)) else a, b) for a, b in rows[1:]]
    indent = min((len(text[a:b]) - len(text[a:b].lstrip()) for a, b in rest), default=0)
    return rows[:1] + [(min(a + indent, b), b) for a, b in rows[1:]]


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return found + 1 if found >= 0 and not text[at:found].strip() else at


def _tokens(text: str, name: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, whether it has an end mark) of each comment and docstring."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.token import Comment, String
    from pygments.util import ClassNotFound

    from mtp_cli.exits import UserError

    try:
        lexer = get_lexer_for_filename(name)
    except ClassNotFound:
        raise UserError(f"{name}: no known kind of source code") from None
    other = (Comment.Preproc, Comment.PreprocFile, Comment.Hashbang)
    open_from = open_to = -1  # a comment over lines that comes in several tokens
    for at, kind, value in lexer.get_tokens_unprocessed(text):
        comment = kind in Comment and not any(kind in name for name in other)
        if open_from >= 0 and not (comment and at == open_to):
            yield open_from, open_to, True
            open_from = -1
        if comment and (open_from >= 0 or kind in Comment.Multiline):
            open_from = at if open_from < 0 else open_from
            open_to = at + len(value)
        elif comment:
            yield at, at + len(value.rstrip("\r\n")), False
        elif kind in String.Doc:
            yield at, at + len(value), True
    if open_from >= 0:
        yield open_from, open_to, True
