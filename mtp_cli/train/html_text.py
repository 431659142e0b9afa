"""The running text of an HTML page: DocBook's, Sphinx's and Mallard's too."""

from __future__ import annotations

from html.parser import HTMLParser

_SKIPPED = {
    "head",
    "script",
    "style",
    "pre",
    "table",
    "nav",
    "footer",
    "header",
    "aside",
    "info",
    "screen",
    "title",
    "sup",
    "svg",
}
_WITH_TEXT = {"p", "li", "dd", "blockquote"}
_PARTS = {
    "div",
    "dt",
    "dl",
    "ul",
    "ol",
    "section",
    "article",
    "body",
    "main",
    "page",
    "note",
    "steps",
    "item",
    "list",
    "listing",
    "hr",
}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_BLOCKS = _WITH_TEXT | _PARTS | _HEADINGS

Attributes = list[tuple[str, "str | None"]]


class ParagraphParser(HTMLParser):
    """Collects paragraphs in `found`; headings, tables and listings are left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._text: list[str] = []
        self._skipping = 0
        self._wanted = False

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        """A block ends the paragraph before it."""
        if tag in _SKIPPED:
            self._skipping += 1
        elif tag in _BLOCKS:
            self._end_paragraph()
            self._wanted = tag in _WITH_TEXT or (tag == "div" and ("class", "para") in attrs)
        elif tag == "br":
            self._text.append(" ")

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        """An empty element has no text; only a line break matters."""
        if tag == "br":
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """The end of a block ends its paragraph."""
        if tag in _SKIPPED:
            self._skipping = max(0, self._skipping - 1)
        elif tag in _BLOCKS:
            self._end_paragraph()
            self._wanted = False

    def handle_data(self, data: str) -> None:
        """Text counts outside of skipped elements."""
        if not self._skipping:
            self._text.append(data)

    def close(self) -> None:
        """End the page."""
        super().close()
        self._end_paragraph()

    def _end_paragraph(self) -> None:
        text = "".join(self._text)
        self._text.clear()
        if self._wanted and text.strip():
            self.found.append(text)
