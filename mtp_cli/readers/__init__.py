"""Bytes of a file -> its text with structure: paragraphs, headings, who said what. No input, no output.

document(name, data)                    # the kind of file is guessed from its name and its first bytes
document(name, data, Kind.chat)         # what the text is, where a person said so
"""

from __future__ import annotations

from dataclasses import replace

from mtp_cli.encodings import in_utf8
from mtp_cli.readers.document import Document, Kind, Message, ReadError
from mtp_cli.readers.formats import SUFFIXES, format_of
from mtp_cli.readers.wraps import unwrapped

__all__ = ["SUFFIXES", "Document", "Kind", "Message", "ReadError", "document"]


def document(name: str, data: bytes, kind: Kind | None = None) -> Document:
    """The text of a file. `kind` None: guessed. Raises ReadError, of one line, for what cannot be read."""
    found = _read(name, in_utf8(data), kind)
    if found.kind in (Kind.article, Kind.mail):
        return replace(found, text=unwrapped(found.text))
    return found


def _read(name: str, data: bytes, kind: Kind | None) -> Document:
    form = format_of(name, data)
    if form == "pdf":
        from mtp_cli.readers import pdf

        return pdf.read(name, data, kind or Kind.article)
    if form == "docx":
        from mtp_cli.readers import docx

        return docx.read(name, data, kind or Kind.article)
    if form in ("eml", "mbox"):
        from mtp_cli.readers import mail

        return mail.read(name, data, kind or Kind.mail, mailbox=form == "mbox")
    if form == "html":
        from mtp_cli.readers import html

        return html.read(name, data, kind or Kind.article)
    from mtp_cli.readers import plain

    text = plain.decode(name, data)
    if form in ("json", "json?"):
        from mtp_cli.readers import records

        try:
            return records.read(name, text, kind)
        except ReadError:
            if form == "json":
                raise
    if form == "subtitles":
        from mtp_cli.readers import subtitles

        return subtitles.read(name, text, kind)
    if form == "markdown" and kind in (None, Kind.article):
        from mtp_cli.readers import markdown

        return markdown.read(name, text)
    return plain.read(name, text, kind)
