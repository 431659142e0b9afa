"""Word documents (.docx, package python-docx): the text of the paragraphs; edits go back into their runs.

The text that is shown has a line for each paragraph; a tab or line break inside one is a line break too."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mtp_cli.tasks.documents.document import Block, Document, Span
from mtp_cli.tasks.edits import Edit

_CODE_STYLE = re.compile(r"code|preformatted|macro|source", re.IGNORECASE)
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_BREAKS = ("br", "cr", "tab")


@dataclass(frozen=True, slots=True)
class WordFile:
    """The document as text, and the way back. `places`: where each text element stands in it."""

    document: Document
    file: Any
    places: tuple[tuple[Span, Any], ...]
    data: bytes
    """as it was read"""

    def saved(self, edits: Sequence[Edit]) -> bytes:
        """The file with these edits, which are in order. Formatting stays with the characters that stay; new
        text has that of the first character it replaces."""
        for edit in reversed(edits):
            _put(edit, self.places)
        target = io.BytesIO()
        self.file.save(target)
        return target.getvalue()


def load(data: bytes) -> WordFile:
    """Raises ImportError without python-docx, ValueError for what is no Word document."""
    from docx import Document as open_file
    from docx.oxml.ns import qn

    try:
        file = open_file(io.BytesIO(data))
    except Exception as error:  # zipfile, lxml and python-docx all have their own
        raise ValueError(str(error)) from None
    text = ""
    blocks: list[Block] = []
    places: list[tuple[Span, Any]] = []
    names = {style.style_id: style.name or "" for style in file.styles}
    for paragraph in file.element.body.iter(qn("w:p")):
        start = len(text)
        for part in paragraph.iter(qn("w:t"), *(qn(f"w:{name}") for name in _BREAKS)):
            if part.tag == qn("w:t"):
                said = part.text or ""
                places.append(((len(text), len(text) + len(said)), part))
                text += said
            elif part.getparent().tag == qn("w:r"):
                text += "\n"
        style = names.get(paragraph.style or "", "")
        if len(text) > start and not _CODE_STYLE.search(style):
            title = style.startswith(("Heading", "Title", "List"))
            blocks.append(Block(((start, len(text)),), not title))
        text += "\n"
    return WordFile(Document(text, tuple(blocks)), file, tuple(places), data)


def _put(edit: Edit, places: Sequence[tuple[Span, Any]]) -> None:
    rest = edit.replacement
    for (start, end), part in places:
        if end < edit.start or start > edit.end:
            continue
        low, high = max(edit.start, start) - start, min(edit.end, end) - start
        inside = low < high or (edit.start == edit.end and rest)
        if not inside:
            continue
        said = part.text or ""
        part.text = said[:low] + rest + said[high:]
        part.set(_SPACE, "preserve")
        rest = ""
