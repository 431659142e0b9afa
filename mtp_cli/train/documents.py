"""Document: one text that belongs together, in paragraphs."""

from __future__ import annotations

import re
from dataclasses import dataclass

PART_WORDS = 6000

_SPACES = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r" +([,.;:?!)\]])")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


@dataclass(frozen=True, slots=True)
class Document:
    """A chapter, an article, a speech or a file. `doc_id` is unique within `source`."""

    source: str
    doc_id: str
    paragraphs: tuple[str, ...]

    @property
    def words(self) -> int:
        """How many words it has."""
        return sum(len(paragraph.split()) for paragraph in self.paragraphs)


def tidy(text: str) -> str:
    """`text` on one line: single spaces, none before a closing mark, nothing invisible."""
    return _BEFORE_MARK.sub(r"\1", _SPACES.sub(" ", text.translate(_INVISIBLE))).strip()


def make_document(source: str, doc_id: str, paragraphs: list[str]) -> Document:
    """A Document of the paragraphs that are not empty, tidied."""
    tidied = (tidy(paragraph) for paragraph in paragraphs)
    return Document(source, doc_id, tuple(paragraph for paragraph in tidied if paragraph))


def parted(document: Document, size: int = PART_WORDS) -> list[Document]:
    """A long document, a novel say, in parts of about `size` words that count as documents of their own."""
    parts: list[list[str]] = [[]]
    count = 0
    for paragraph in document.paragraphs:
        if count >= size:
            parts.append([])
            count = 0
        parts[-1].append(paragraph)
        count += len(paragraph.split())
    if len(parts) == 1:
        return [document]
    return [
        Document(document.source, f"{document.doc_id}#{number}", tuple(part))
        for number, part in enumerate(parts, start=1)
    ]
