"""Which reader a file needs: by its first bytes where these are telling, else by its name."""

from __future__ import annotations

import re
from pathlib import PurePath

SUFFIXES = {
    ".txt": "text",
    ".text": "text",
    ".log": "text",
    ".rst": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".srt": "subtitles",
    ".vtt": "subtitles",
    ".eml": "eml",
    ".mbox": "mbox",
    ".docx": "docx",
    ".pdf": "pdf",
    ".json": "json",
    ".jsonl": "json",
}
"""Names of files that are read in folders, and their format."""

_HTML = re.compile(rb"\s*(?:<\?xml[^>]*\?>\s*)?<(?:!doctype\s+html|html\b)", re.IGNORECASE)
_MBOX = re.compile(rb"From \S+.*\d{4}\r?\n[A-Za-z-]+:")
_SUBTITLE = re.compile(rb"(?:WEBVTT\b|\d+\r?\n\d+:\d\d:\d\d[,.]\d{3} --> )")
_HEADERS = re.compile(rb"(?:(?:[A-Za-z]+(?:-[A-Za-z]+)*):[^\r\n]*\r?\n(?:[ \t]+\S[^\r\n]*\r?\n)*){3,}\r?\n")
_HEADER_NAMES = re.compile(rb"^(?:from|subject|date):", re.IGNORECASE | re.MULTILINE)
_HEAD = 4096


def format_of(name: str, data: bytes) -> str:
    """text | markdown | html | subtitles | eml | mbox | docx | pdf | json | json? (maybe)."""
    head = data.removeprefix(b"\xef\xbb\xbf")[:_HEAD]
    suffix = PurePath(name).suffix.lower()
    if head.startswith(b"%PDF-"):
        return "pdf"
    if head.startswith(b"PK\x03\x04") and (suffix == ".docx" or b"word/document.xml" in data):
        return "docx"
    known = SUFFIXES.get(suffix, "text")
    if known in ("docx", "pdf"):
        return known
    return known if known != "text" else _by_content(head)


def _by_content(head: bytes) -> str:
    markup = head.lstrip()
    while markup.startswith(b"<!--") and b"-->" in markup:
        markup = markup.partition(b"-->")[2].lstrip()
    if _HTML.match(markup):
        return "html"
    if _MBOX.match(head):
        return "mbox"
    if _SUBTITLE.match(head):
        return "subtitles"
    headers = _HEADERS.match(head)
    if headers and len(_HEADER_NAMES.findall(headers.group())) >= 2:
        return "eml"
    if head.lstrip()[:1] in (b"[", b"{") and re.match(rb"\s*[\[{]\s*[\[{\"]", head):
        return "json?"
    return "text"
