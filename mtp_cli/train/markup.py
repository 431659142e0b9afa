"""The running text of Markdown and reStructuredText; good enough for prose, not a full parser."""

from __future__ import annotations

import re

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$", re.DOTALL | re.MULTILINE)
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*?(?=[ \t]*\S)")
_MARKDOWN_BLOCK = re.compile(r"^(#|\||<|!\[|\[[^\]]+\]:|    |\t|[-*_=]{3,}\s*$)")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d+[.)]|#\.|>)[ \t]+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"(\*\*|__|\*|\b_|`+)(\S(?:.*?\S)?)\1")
_RST_BLOCK = re.compile(r"^(\.\.|:\w[\w -]*:|\s|\+[-=]|[=-]{3,} |>>>)")
_RST_RULE = re.compile(r"^([=\-~^\"'`#*+.:_])\1{2,}\s*$", re.MULTILINE)
_RST_ROLE = re.compile(r"(?::[\w:+-]+:)?`([^`<]+?)\s*(?:<[^>]*>)?`_{0,2}")


def markdown_paragraphs(text: str) -> list[str]:
    """Paragraphs and list items; no headings, code, tables or pictures."""
    text = _FENCE.sub("\n", _FRONT_MATTER.sub("", text.replace("\r\n", "\n")))
    blocks = (block for block in _BLANK_LINE.split(text) if not _MARKDOWN_BLOCK.match(block))
    return [_EMPHASIS.sub(r"\2", _LINK.sub(r"\1", part)) for block in blocks for part in _items(block)]


def rst_paragraphs(text: str) -> list[str]:
    """Paragraphs and list items; no headings, directives, literal blocks or tables."""
    blocks = _BLANK_LINE.split(text.replace("\r\n", "\n"))
    running = (block for block in blocks if not _RST_BLOCK.match(block) and not _RST_RULE.search(block))
    return [_plain_rst(part) for block in running for part in _items(block)]


def _items(block: str) -> list[str]:
    """The items of a list, or the paragraph itself."""
    return [part for part in _ITEM.split(block) if part.strip()]


def _plain_rst(block: str) -> str:
    text = _RST_ROLE.sub(r"\1", block.replace("``", "`"))
    return re.sub(r"::\s*$", ":", _EMPHASIS.sub(r"\2", text))
