"""A person's own texts, files or folders of them -> documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mtp_cli.train.documents import Document, make_document, parted
from mtp_cli.train.errors import TrainError
from mtp_cli.train.markup import markdown_paragraphs, rst_paragraphs
from mtp_cli.train.readers import decoded, html_paragraphs, plain_paragraphs

_FORMATS: dict[str, Callable[[bytes], list[str]]] = {
    ".txt": plain_paragraphs,
    ".md": lambda data: markdown_paragraphs(decoded(data)),
    ".markdown": lambda data: markdown_paragraphs(decoded(data)),
    ".rst": lambda data: rst_paragraphs(decoded(data)),
    ".html": html_paragraphs,
    ".htm": html_paragraphs,
}


def read_texts(paths: Sequence[Path]) -> list[Document]:
    """The documents in files and folders; in a folder, files of other kinds and hidden ones are passed over.

    Each path is a source of its own. Raises TrainError of one line."""
    documents = [part for path in paths for document in _documents(path) for part in parted(document)]
    if not documents:
        raise TrainError("no text was found; name files or folders with .txt, .md, .rst or .html files")
    return documents


def _documents(path: Path) -> Iterator[Document]:
    if path.is_dir():
        for file in sorted(_files_below(path)):
            yield from _document(file, str(path), str(file.relative_to(path)))
    else:
        yield from _document(path, str(path), path.name)


def _files_below(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if not hidden and file.suffix.lower() in _FORMATS and file.is_file():
            yield file


def _document(file: Path, source: str, doc_id: str) -> Iterator[Document]:
    """The document of a file, unless there is no text in it."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise TrainError(f"{file}: {(error.strerror or str(error)).lower()}") from None
    if b"\0" in data:
        raise TrainError(f"{file} is a binary file, not text")
    read = _FORMATS.get(file.suffix.lower(), plain_paragraphs)
    document = make_document(source, doc_id, read(data))
    if document.paragraphs:
        yield document
