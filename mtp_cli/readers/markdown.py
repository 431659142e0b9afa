"""Markdown -> its prose: headings, paragraphs and list items; links by their text."""

from __future__ import annotations

import re

from mtp_cli.readers.document import Document, Kind, counted

_FRONT = re.compile(
    r"\A(?:---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)|\+\+\+[ \t]*\n.*?\n\+\+\+[ \t]*(?:\n|\Z))", re.DOTALL
)
_TITLE = re.compile(r"^title\s*[:=]\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
_FENCE = re.compile(
    r"^([ \t]*)(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\2[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]]*)\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])")
_DEFINITION = re.compile(r"^[ \t]{0,3}\[[^\]]+\]:[ \t]*\S.*$", re.MULTILINE)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>")
_HEADING = re.compile(r"^[ \t]{0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_UNDERLINE = re.compile(r"^(?:=+|-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_STRONG = re.compile(r"(\*\*\*|\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_RULE_ROW = re.compile(
    r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$\n?", re.MULTILINE
)


def read(name: str, text: str) -> Document:
    """Front matter, code blocks, comments and pictures are left out."""
    text = text.replace("\r\n", "\n")
    title = ""
    if front := _FRONT.match(text):
        text = text[front.end() :]
        named = _TITLE.search(front.group())
        title = f"{named[1]}\n\n" if named and not text.lstrip().startswith("# ") else ""
    text, blocks = _FENCE.subn("", text)
    text = _COMMENT.sub("", text)
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))  # pictures first: they stand inside links
    text = _LINK.sub(r"\1", text)
    text = _RULE_ROW.sub("", _DEFINITION.sub("", text))
    text = _TAG.sub("", text)
    text = _HEADING.sub(r"\n\2\n", text)
    text = _STRONG.sub(r"\2", _UNDERLINE.sub("", text))
    text = re.sub(r"[ \t]+\n", "\n", text)
    left_out = (counted(blocks, "block of code", "blocks of code"),) if blocks else ()
    return Document(
        name, title + re.sub(r"\n{3,}", "\n\n", text).strip() + "\n", Kind.article, left_out=left_out
    )
