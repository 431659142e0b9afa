"""Paths and standard input -> text. Every fault is a UserError of one line."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtp_cli.exits import UserError

STDIN = "-"
_WAIT_SECONDS = 1.0
_SNIFF_BYTES = 8192
_SIGNATURES = {b"%PDF-": "a PDF", b"PK\x03\x04": "a ZIP or office document", b"GGUF": "a model file"}


@dataclass(frozen=True, slots=True)
class Source:
    """One text to work on. Line ends are as they were; a byte-order mark is noted and left out."""

    name: str
    text: str
    bom: bool = False


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
    if list(paths).count(STDIN) > 1:
        raise UserError("standard input (-) can be read only once")
    return list(paths)


def read_raw(path: str, waiting: Callable[[], None]) -> bytes:
    """All bytes of a file of any kind; "-": of standard input. Raises UserError or KeyboardInterrupt."""
    return _read_stdin(waiting) if path == STDIN else _read_file(path, binary=True)


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


def _refuse_binary(name: str, data: bytes) -> None:
    for signature, what in _SIGNATURES.items():
        if data.startswith(signature):
            raise UserError(f"{name} is {what}, not text; convert it to plain text first")
    if b"\0" in data[:_SNIFF_BYTES]:
        hint = "; it may be UTF-16: save it as UTF-8" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise UserError(f"{name} is a binary file, not text{hint}")


def _decode(name: str, data: bytes) -> Source:
    _refuse_binary(name, data)
    bom = data.startswith(b"\xef\xbb\xbf")
    skipped = 3 if bom else 0
    try:
        return Source(name, data[skipped:].decode("utf-8"), bom)
    except UnicodeDecodeError as error:
        offset = skipped + error.start
        raise UserError(
            f"{name} is not valid UTF-8: byte 0x{data[offset]:02x} at offset {offset}; save it as UTF-8"
        ) from None
