"""Which reader a text gets: by what is asked for, else by the name of its file."""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath

from mtp_cli.tasks.documents.document import Document, Reader

KINDS = ("text", "markdown", "html", "rst", "srt", "mail", "comments")
"""Each is mtp_cli.tasks.documents.NAME with `read(text)`, except "text" and "comments"."""
_SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".rst": "rst",
    ".rest": "rst",
    ".srt": "srt",
    ".eml": "mail",
}
_CODE = frozenset(
    """.py .pyi .js .mjs .ts .tsx .jsx .c .h .cc .cpp .hpp .cxx .rs .go .java .kt .swift .rb .php .pl .sh
    .bash .cs .scala .lua .r .jl .sql .css .scss .hs .ex .exs .dart .zig .toml .yaml .yml""".split()  # noqa: SIM905
)


def kind_of(name: str) -> str:
    """The kind of a file by its name; "comments" for source code, "text" for what is not known."""
    suffix = PurePath(name).suffix.lower()
    return _SUFFIXES.get(suffix) or ("comments" if suffix in _CODE else "text")


def reader_of(kind: str, name: str = "") -> Reader:
    """The reader for one of KINDS; `name` tells the language of source code. Raises ImportError."""
    if kind == "comments":
        from mtp_cli.tasks.documents import comments

        return lambda text: comments.read(text, name)
    module = "plain" if kind == "text" else kind
    found: Reader = vars(import_module(f"mtp_cli.tasks.documents.{module}"))["read"]
    return found


def read(text: str, kind: str = "text", name: str = "") -> Document:
    """`text` as a document of that kind."""
    return reader_of(kind, name)(text)
