"""Paths and standard input -> text. Every fault is a UserError of one line."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtp_cli.encodings import PLAIN, Decoded, NoTextError, decode, refuse_binary
from mtp_cli.exits import UserError

STDIN = "-"
_WAIT_SECONDS = 1.0
_SNIFF_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Source:
    """One text to work on. Line ends are as they were; a byte-order mark is noted and left out."""

    name: str
    text: str
    form: Decoded = PLAIN
    """how it is written in the file"""

    @property
    def mark(self) -> str:
        """What the text begins with on its way out, which is in UTF-8."""
        return "\ufeff" if self.form.bom and self.form.encoding == "utf-8" else ""


def read_inputs(paths: Sequence[str], waiting: Callable[[], None]) -> list[Source]:
    """The texts of `paths`, "-" meaning standard input; without paths standard input, unless it is a
    terminal. `waiting` is called once when standard input has brought nothing for a second.

    With paths standard input is not touched. Raises UserError or KeyboardInterrupt."""
    return [_decode(shown_name(path), _bytes_of(path, waiting)) for path in input_paths(paths)]


def input_paths(paths: Sequence[str]) -> list[str]:
    """`paths`, or "-" where none are named and something can come from standard input. Raises UserError."""
    if not paths:
        if _stdin_is_terminal():
            raise UserError("no input: name a file or pipe text in; - reads standard input, --help says more")
        return [STDIN]
    if "" in paths:
        raise UserError("a file name is empty; check the quotes and variables of the command line")
    if list(paths).count(STDIN) > 1:
        raise UserError("standard input (-) can be read only once")
    return list(paths)


def read_raw(path: str, waiting: Callable[[], None]) -> bytes:
    """All bytes of a file of any kind; "-": of standard input. Raises UserError or KeyboardInterrupt."""
    return _read_stdin(waiting) if path == STDIN else _read_file(path, binary=True)


def read_text_file(path: str) -> str:
    """The text of one file that is named by an option. Raises UserError."""
    return _decode(path, _read_file(path)).text


def shown_name(path: str) -> str:
    """What a person calls it."""
    return "standard input" if path == STDIN else path


def _bytes_of(path: str, waiting: Callable[[], None]) -> bytes:
    return _read_stdin(waiting) if path == STDIN else _read_file(path)


def _stdin_is_terminal() -> bool:
    """Also true for a closed standard input: nothing will come from it."""
    try:
        return sys.stdin is None or sys.stdin.isatty()
    except ValueError:
        return True


def _read_stdin(waiting: Callable[[], None]) -> bytes:
    if sys.stdin is None:
        raise UserError("standard input is closed; name a file")
    try:
        _wait(waiting)
        return sys.stdin.buffer.read()
    except OSError as error:
        raise UserError(f"cannot read standard input ({_reason(error)}); name a file") from None


def _wait(waiting: Callable[[], None]) -> None:
    import select

    try:
        ready, _, _ = select.select([sys.stdin], [], [], _WAIT_SECONDS)
    except (OSError, ValueError, io.UnsupportedOperation):
        return  # no such thing for this kind of stream: just read
    if not ready:
        waiting()


def _read_file(path: str, *, binary: bool = False) -> bytes:
    try:
        with Path(path).open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            head = file.read(_SNIFF_BYTES)
            if stat.S_ISREG(mode) and not binary:
                _refuse_binary(path, head)
            return head + file.read()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; check the name") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder; name the files in it") from None
    except PermissionError:
        raise UserError(f"{path}: no permission to read it") from None
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _refuse_binary(name: str, head: bytes) -> None:
    try:
        refuse_binary(head)
    except NoTextError as error:
        raise UserError(f"{name} is {error}") from None


def _decode(name: str, data: bytes) -> Source:
    try:
        found = decode(data)
    except NoTextError as error:
        raise UserError(f"{name} is {error}") from None
    return Source(name, found.text, found)
