"""Whether a corrected document still is built as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mtp_cli.tasks.documents.document import Document, Reader
from mtp_cli.tasks.edits import LAYOUT, Edit, apply


def skeleton(document: Document) -> list[object]:
    """All that is no prose, in order: what stands between the spans, and what is fixed inside them."""
    parts: list[object] = []
    at = 0
    for block in document.blocks:
        for start, end in block.spans:
            parts.append(document.text[at:start])
            at = end
        parts.append("full" if block.sentence else "part")
    parts.append(document.text[at:])
    return [*parts, *(document.text[start:end] for start, end in document.fixed), *document.shape]


def keeps_layout(read: Reader, document: Document, edits: Sequence[Edit]) -> bool:
    """True when the text with `edits` is read as the same document with other words."""
    return skeleton(read(apply(document.text, edits))) == skeleton(document)


def settled(read: Reader, document: Document, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, those that would break the document's build made unsafe for good."""
    wanted = [edit for edit in edits if edit.possible]
    safe = [edit for edit in wanted if edit.safe]
    bad: set[Edit] = set()
    if not keeps_layout(read, document, safe):
        bad = {edit for edit in safe if not keeps_layout(read, document, [edit])}
        if not keeps_layout(read, document, [edit for edit in safe if edit not in bad]):
            bad = set(safe)
    bad |= {edit for edit in wanted if not edit.safe and not keeps_layout(read, document, [edit])}
    return tuple(replace(edit, reason=LAYOUT) if edit in bad else edit for edit in edits)
