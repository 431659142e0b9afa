"""Word documents (.docx) through python-docx, the extra `docx`."""

from __future__ import annotations

import io

from mtp_cli.readers.document import Document, Kind, ReadError, counted, one_line


def read(name: str, data: bytes, kind: Kind) -> Document:
    """Paragraphs, list items and table rows in their order. Raises ReadError."""
    try:
        from docx import Document as open_docx
        from docx.table import Table
    except ImportError:
        raise ReadError(
            f"{name} is a Word document; reading it needs python-docx: pip install 'mtp-cli[docx]'"
        ) from None
    try:
        whole = open_docx(io.BytesIO(data))
        blocks: list[str] = []
        for block in whole.iter_inner_content():
            if isinstance(block, Table):
                rows = ([one_line(cell.text) for cell in row.cells] for row in block.rows)
                blocks.append("\n".join(" | ".join(_unmerged(row)) for row in rows))
                continue
            text = block.text.strip()
            if text:
                style = (block.style.name if block.style is not None else None) or ""
                blocks.append(f"- {text}" if style.startswith("List") else text)
        pictures = len(whole.inline_shapes)
    except Exception as error:  # the library names its faults by classes of its own, of zipfile and of lxml
        raise ReadError(f"{name} cannot be read as a Word document: {_reason(error)}") from None
    left_out = (counted(pictures, "picture"),) if pictures else ()
    return Document(
        name, "\n\n".join(block for block in blocks if block.strip()) + "\n", kind, left_out=left_out
    )


def _unmerged(row: list[str]) -> list[str]:
    """A merged cell is given once for every column it covers."""
    return [cell for at, cell in enumerate(row) if cell and (not at or cell != row[at - 1])]


def _reason(error: Exception) -> str:
    return one_line(str(error)) or type(error).__name__
