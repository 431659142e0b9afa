"""Markdown -> its prose: headings, paragraphs and list items; links by their text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mtp_cli.readers.document import Document, Kind, counted
from mtp_cli.readers.html import without_comments

_TITLE = re.compile(r"title\s*[:=]\s*[\"']?(.+?)[\"']?\s*\Z")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_IMAGE = re.compile(r"!\[[^\[\]]{0,400}\](?:\([^()\s]{0,2000}(?:\s+\"[^\"]{0,400}\")?\)|\[[^\[\]]{0,400}\])")
_LINK = re.compile(
    r"\[([^\[\]]{0,400})\](?:\([^()\s]{0,2000}(?:\([^()]{0,400}\)[^()\s]{0,400})?(?:\s+\"[^\"]{0,400}\")?\)"
    r"|\[[^\[\]]{0,400}\])"
)
_DEFINITION = re.compile(r"[ \t]{0,3}\[[^\]]+\]:[ \t]*\S")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,400}>")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
_STRONG = re.compile(r"(\*\*\*|\*\*|__)(?=\S)(.{1,400}?)(?<=\S)\1")
_LINE_CHARS = 20000
"""Longer lines are no prose: they are taken as they are."""


def read(name: str, text: str) -> Document:
    """Front matter, code blocks, comments and pictures are left out."""
    title, body = _front_matter(text.replace("\r\n", "\n"))
    lines = without_comments(body).split("\n")
    prose = list(_without_code(lines))
    out = "\n".join(_plain(line) for line in prose if not _is_furniture(line))
    blocks = sum(line is None for line in prose)
    head = f"{title}\n\n" if title and not out.lstrip().startswith(title) else ""
    left_out = (counted(blocks, "block of code", "blocks of code"),) if blocks else ()
    return Document(
        name, head + re.sub(r"\n{3,}", "\n\n", out).strip() + "\n", Kind.article, left_out=left_out
    )


def _front_matter(text: str) -> tuple[str, str]:
    """(title in the front matter, what follows it)."""
    mark = text[:3]
    end = text.find(f"\n{mark}", 3) if mark in ("---", "+++") and text[3:4] == "\n" else -1
    if end < 0:
        return "", text
    titles = (_TITLE.match(line) for line in text[4:end].split("\n"))
    return next((found[1] for found in titles if found), ""), text[end + 4 :].lstrip("- \t")


def _without_code(lines: list[str]) -> Iterator[str | None]:
    """The lines outside of fences; None for each block of code."""
    fence = ""
    for line in lines:
        if fence:
            stripped = line.strip()
            fence = "" if stripped.startswith(fence) and not stripped.strip(fence[0]) else fence
        elif opened := _FENCE.match(line):
            fence = opened[1]
            yield None
        else:
            yield line


def _is_furniture(line: str | None) -> bool:
    """Lines that are no text: rules, underlines of headings, rows below the heads of tables, link targets."""
    bare = (line or "").strip()
    rule = len(bare) > 1 and not bare.strip("-=*_|: \t") and any(mark * 2 in bare for mark in "-=*_")
    return line is None or rule or bool(_DEFINITION.match(line))


def _plain(line: str | None) -> str:
    """One line without marks of form."""
    if not line or len(line) > _LINE_CHARS:
        return line or ""
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub("", line)))  # pictures stand inside links
    text = _STRONG.sub(r"\2", _TAG.sub("", text)).rstrip()
    heading = _HEADING.match(text)
    return f"\n{text[heading.end() :].rstrip('# ')}\n" if heading else text
