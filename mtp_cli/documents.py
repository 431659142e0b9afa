"""Paths, folders and standard input -> documents. A file that was named and cannot be read is a UserError."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mtp_cli.exits import UserError
from mtp_cli.inputs import STDIN, input_paths, read_raw, shown_name
from mtp_cli.readers import SUFFIXES, Document, Kind, ReadError, document


def read_documents(
    paths: Sequence[str],
    *,
    kind: Kind | None,
    recursive: bool,
    waiting: Callable[[], None],
    note: Callable[[str], None],
) -> Iterator[Document]:
    """The texts of `paths`, one after another; "-" and no path at all mean standard input.

    `recursive`: of a folder, all files of a known kind below it, in the order of their names. One of them
    that cannot be read is left out and told to `note`; a named one is an error."""
    for path, named in _files(input_paths(paths), recursive, note):
        try:
            yield document(shown_name(path), read_raw(path, waiting), kind)
        except (ReadError, UserError) as error:
            if named:
                raise UserError(str(error)) from None
            note(f"left out: {error}")


def _files(paths: Sequence[str], recursive: bool, note: Callable[[str], None]) -> Iterator[tuple[str, bool]]:
    """(path, whether it was named itself)."""
    for path in paths:
        if path == STDIN or not Path(path).is_dir():
            yield path, True
            continue
        if not recursive:
            raise UserError(f"{path} is a folder; name the files in it, or use --recursive")
        found = 0
        for file in _below(Path(path)):
            found += 1
            yield str(file), False
        if not found:
            note(f"{path}: no files that can be read ({', '.join(sorted(SUFFIXES))})")


def _below(folder: Path) -> Iterator[Path]:
    """Files of a known kind, hidden ones and links to folders left out."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES:
                yield Path(root) / name
