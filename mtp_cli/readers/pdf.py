"""PDF through pypdf, the extra `pdf`."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Sequence

from mtp_cli.readers.document import Document, Kind, ReadError, counted, one_line

_EDGE_LINES = 2
_REPEATED_SHARE = 0.5
_LEAST_PAGES = 3
_SENTENCE_END = (".", "!", "?", "…", ":", '"', "”", "。")


def read(name: str, data: bytes, kind: Kind) -> Document:
    """The text of all pages, without what stands at the edge of most of them. Raises ReadError."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        raise ReadError(f"{name} is a PDF; reading it needs pypdf: pip install 'mtp-cli[pdf]'") from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns of every flaw of a file
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ReadError(f"{name} is a PDF with a password; take the password off first")
        pages = [page.extract_text() for page in reader.pages]
    except ReadError:
        raise
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        RecursionError,
        ImportError,
    ) as error:
        raise ReadError(
            f"{name} is a PDF that cannot be read: {one_line(str(error)) or type(error).__name__}"
        ) from None
    empty = sum(not page.strip() for page in pages)
    if empty == len(pages):
        raise ReadError(
            f"{name} is a PDF without text, maybe a scan; run a text recognition (OCR) on it first"
        )
    left_out = (counted(empty, "page without text", "pages without text"),) if empty else ()
    return Document(name, "\n\n".join(map(flowing, without_edges(pages))) + "\n", kind, left_out=left_out)


def without_edges(pages: Sequence[str]) -> list[str]:
    """`pages` without running titles and page numbers: lines at the top or bottom of most pages, whatever
    number is in them."""
    rows = [[line.strip() for line in page.splitlines() if line.strip()] for page in pages]
    seen: Counter[str] = Counter()
    for lines in rows:
        seen.update({_key(line) for line in (*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:])})
    often = {key for key, count in seen.items() if count > _REPEATED_SHARE * len(pages)}
    out = []
    for page, lines in zip(pages, rows, strict=True):
        if len(pages) < _LEAST_PAGES or len(lines) <= 2 * _EDGE_LINES:
            out.append(page)
            continue
        edge = {*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]}
        kept = (
            line for line in page.splitlines() if line.strip() not in edge or _key(line.strip()) not in often
        )
        out.append("\n".join(kept))
    return out


def _key(line: str) -> str:
    return re.sub(r"\d+", "#", line.lower())


def flowing(page: str) -> str:
    """Lines of a page joined to paragraphs; a word that was divided at the end of a line is whole again."""
    text = re.sub(r"(?<=[^\W\d_])-\n(?=[a-zà-ÿ])", "", page.replace("\r\n", "\n"))
    lines = [line.strip() for line in text.split("\n")]
    widest = max(map(len, lines), default=0)
    out = ""
    for line in lines:
        before = out.rpartition("\n")[2]
        ends = before.endswith(_SENTENCE_END) and len(before) < 0.8 * widest
        if not line or not before:
            out += "\n\n" * (not line and not out.endswith("\n\n") and bool(out)) + line
        else:
            out += ("\n\n" if ends else " ") + line
    return out.strip()
