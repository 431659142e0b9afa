"""A mail as a file: its headers, attachments and encoded parts stay, its plain text is read like plain.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from email import message_from_string
from email.message import Message

from mtp_cli.tasks.documents import plain
from mtp_cli.tasks.documents.document import Block, Document, Span
from mtp_cli.tasks.documents.lines import content, lines

_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*:(?:\s|$)")
_BOUNDARY = re.compile(r"boundary=\"?([^\";\s]+)", re.IGNORECASE)


def read(text: str) -> Document:
    """See document.Reader. Text without headers is a draft or a reply, and read as plain text."""
    rows = lines(text)
    if not rows or not _HEADER.match(content(text, rows[0])):
        return plain.read(text)
    marks = {f"--{name}" for name in _BOUNDARY.findall(text)}
    blocks: list[Block] = []
    encoded = False
    at = 0
    while at < len(rows):
        body = _first(text, rows, at, lambda line: not line.strip())
        end = _first(text, rows, body, lambda line: _ends_part(line, marks))
        head = message_from_string("".join(content(text, row) + "\n" for row in rows[at:body]))
        if _is_plain(head):
            if _is_encoded(head):
                encoded = True
            else:
                blocks += plain.prose(text, rows[body:end])
        at = end + 1
    remark = "its text is encoded and was left as it is; save it as plain text first" if encoded else ""
    return Document(text, tuple(blocks), remark=remark)


def _first(text: str, rows: list[Span], at: int, wanted: Callable[[str], bool]) -> int:
    """The first line from `at` on that is wanted, or the end."""
    return next((n for n in range(at, len(rows)) if wanted(content(text, rows[n]))), len(rows))


def _ends_part(line: str, marks: set[str]) -> bool:
    return line.rstrip() in marks or line.rstrip().removesuffix("--") in marks


def _is_plain(head: Message) -> bool:
    return head.get_content_type() == "text/plain" and head.get_content_disposition() != "attachment"


def _is_encoded(head: Message) -> bool:
    return str(head.get("Content-Transfer-Encoding", "7bit")).strip().lower() not in (
        "7bit",
        "8bit",
        "binary",
    )
