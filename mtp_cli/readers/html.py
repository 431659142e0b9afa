"""HTML -> the prose of the page, by the standard library's parser."""

from __future__ import annotations

import codecs
import re
from html.parser import HTMLParser

from mtp_cli.readers import plain
from mtp_cli.readers.document import Document, Kind, ReadError

_SKIPPED = re.compile(
    "script|style|noscript|template|svg|math|nav|aside|footer|form|button|select|iframe|object|canvas|head"
)
_BLOCK = re.compile(
    "p|div|section|article|main|header|h[1-6]|[uod]l|d[td]|li|tr|table|blockquote|pre|figure|figcaption|address|hr|"
    "details|summary|body|html"
)
_VOID = {"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"}
_OPTIONAL_END = {"p", "li", "dt", "dd", "tr", "td", "th", "option", "thead", "tbody", "tfoot"}
_MAIN = ("article", "main")
_MAIN_SHARE = 0.4
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)


def read(name: str, data: bytes, kind: Kind) -> Document:
    """The text of a page. Raises ReadError."""
    return Document(name, text_of(_decode(name, data)), kind)


def text_of(markup: str) -> str:
    """The prose of `markup`; of its <article> or <main> alone where most of the text is in there."""
    page = _Page()
    page.feed(without_comments(markup))
    page.close()
    page.end_block()
    inner = _tidy(page.main)
    whole = _tidy(page.blocks)
    text = inner if len(inner) >= _MAIN_SHARE * len(whole) else whole
    title = " ".join(page.title.split())
    return (
        f"{title}\n\n{text}" if title and title.lower() not in text[:400].lower() and text else text or title
    )


def without_comments(markup: str) -> str:
    """`markup` without <!-- comments -->; of one that is never closed the text stays."""
    kept, at = [], 0
    while (start := markup.find("<!--", at)) >= 0 and (end := markup.find("-->", start + 4)) >= 0:
        kept.append(markup[at:start])
        at = end + 3
    rest = markup[at:]
    return "".join(kept) + (rest.replace("<!--", "") if start >= 0 else rest)


class _Page(HTMLParser):
    """Collects blocks of text. What is in elements like scripts and menus is left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self.main: list[str] = []
        self.title = ""
        self._open: list[str] = []
        self._text = ""
        self._lead = ""
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = not self.title
        if tag == "body" and "head" in self._open:  # a head that was never closed
            del self._open[self._open.index("head") :]
        if _BLOCK.fullmatch(tag):
            self.end_block()
        if tag == "li":
            self._lead = "- "
        elif tag == "br":
            self._text += "\n"
        elif tag in ("td", "th") and self._text.strip():
            self._text += " | "
        if tag not in _VOID:
            if tag in _OPTIONAL_END and self._open and self._open[-1] == tag:
                self._open.pop()
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if _BLOCK.fullmatch(tag):
            self.end_block()
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not any(map(_SKIPPED.fullmatch, self._open)):
            self._text += data if "pre" in self._open else re.sub(r"\s+", " ", data)

    def end_block(self) -> None:
        """The text so far is one paragraph."""
        lines = [" ".join(line.split()) for line in self._text.split("\n")]
        text = "\n".join(line for line in lines if line)
        if text:
            block = self._lead + text
            self.blocks.append(block)
            if any(tag in self._open for tag in _MAIN):
                self.main.append(block)
            self._lead = ""
        self._text = ""


def _tidy(blocks: list[str]) -> str:
    """Paragraphs with blank lines between them, list items without."""
    out = ""
    for block in blocks:
        item = block.startswith("- ")
        out += ("\n" if item and out.rpartition("\n")[2].startswith("- ") else "\n\n") * bool(out) + block
    return out


def _decode(name: str, data: bytes) -> str:
    declared = _CHARSET.search(data[:2048])
    marked = data.startswith(codecs.BOM_UTF8)  # which knows better
    if declared and not marked and declared[1].lower() not in (b"utf-8", b"utf8"):
        try:
            return data.decode(declared[1].decode("ascii"))
        except LookupError:
            pass
        except UnicodeDecodeError as error:
            raise ReadError(
                f"{name} is not valid {declared[1].decode()}: {error.reason} at offset {error.start}"
            ) from None
    return plain.decode(name, data)
