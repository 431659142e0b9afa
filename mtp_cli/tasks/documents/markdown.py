"""Markdown: markdown-it-py tells the blocks, inline.py what is inside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mtp_cli.tasks.documents import html
from mtp_cli.tasks.documents.document import Block, Document, Span
from mtp_cli.tasks.documents.inline import markdown, placed
from mtp_cli.tasks.documents.lines import content, front_matter, lines

if TYPE_CHECKING:
    from markdown_it.token import Token

_KEPT_LINE = re.compile(r"\s*(?:!!!|\?\?\?\+?|:::|\{[:%#]|import\s.*\sfrom\s|export\s|\[\^[^\]]+\]:\s*$)")


def read(text: str) -> Document:
    """See document.Reader. Code, HTML tags, front matter, link targets and definitions are no prose."""
    from markdown_it import MarkdownIt

    rows = lines(text)
    skip = front_matter(text, rows)
    body = "".join(content(text, row) + "\n" for row in rows[skip:])
    env: dict[str, Any] = {}
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(body, env)
    labels = frozenset(env.get("references", {}))
    blocks: list[Block] = []
    fixed: list[Span] = []
    for spans, full in _blocks(text, rows[skip:], tokens):
        if full is None:
            part = html.blocks(text, spans[0][0], spans[-1][1])
            blocks += part.blocks
            fixed += part.fixed
            continue
        marks = markdown("".join(text[start:end] for start, end in spans), labels)
        shown, stay = placed(text, spans, marks)
        fixed += stay
        if shown:
            blocks.append(Block(shown, full))
    return Document(text, tuple(blocks), tuple(sorted(fixed)), shape=tuple(_shape(tokens)))


def _shape(tokens: Sequence[Token]) -> Iterator[object]:
    """What stands in what, without the words."""
    for token in tokens:
        yield token.type
        for child in token.children or ():
            if child.type not in ("text", "softbreak"):
                yield child.type, str(child.attrs), child.content


def _blocks(
    text: str, rows: Sequence[Span], tokens: Sequence[Token]
) -> Iterator[tuple[list[Span], bool | None]]:
    """(the lines of a block without their marks, Block.sentence); None instead of that for HTML."""
    inside: list[str] = []
    cell_at = 0
    for token in tokens:
        if token.nesting == 1:
            inside.append(token.type)
            if token.type == "tr_open" and token.map:
                cell_at = rows[token.map[0]][0]
        elif token.nesting == -1:
            inside.pop()
        if token.type == "html_block" and token.map:
            yield list(rows[token.map[0] : token.map[1]]), None
        if token.type != "inline" or not token.map or not token.content:
            continue
        if "tr_open" in inside:
            found = _cell(text, rows[token.map[0]], cell_at, token.content)
            if found:
                cell_at = found[1]
                yield [found], False
            continue
        spans = _content(text, rows[token.map[0] : token.map[1]], token.content)
        if spans:
            yield spans, inside[-1] == "paragraph_open" and "list_item_open" not in inside


def _cell(text: str, row: Span, at: int, said: str) -> Span | None:
    """Where the content of a table's cell stands, behind `at`."""
    for form in (said, said.replace("|", "\\|")):
        start = text.find(form, at, row[1])
        if start >= 0 and not text[at:start].strip("| \t>"):
            return start, start + len(form)
    return None


def _content(text: str, rows: Sequence[Span], said: str) -> list[Span]:
    """The lines of a block without quote marks, list markers and indentation, which `said` lacks already;
    nothing where they are not found again, or not prose."""
    spans: list[Span] = []
    for row, line in zip(rows, said.split("\n"), strict=False):
        start = text.rfind(line, row[0], row[1]) if line else -1
        if start < 0 or _KEPT_LINE.match(line):
            return []
        spans.append((start, row[1]))
    if spans:
        spans[-1] = spans[-1][0], spans[-1][0] + len(said.split("\n")[-1])
    return spans
