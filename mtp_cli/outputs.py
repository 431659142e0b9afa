"""Where the result goes: stdout as it comes, or a file that is replaced whole."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from mtp_cli.exits import UserError


def _ignore(text: str) -> None:
    """Nobody listens."""


class Stdout:
    """Text to stdout as it comes. `before` and `after` hear each text, so that a live line can make way."""

    def __init__(
        self, before: Callable[[str], None] = _ignore, after: Callable[[str], None] = _ignore
    ) -> None:
        self._before = before
        self._after = after
        self._last = ""

    def write(self, text: str) -> None:
        """Show `text` now. Raises BrokenPipeError."""
        if text:
            self._before(text)
            self._last = text  # before the text is out: an interrupt may come in between
            _out(text)
            self._after(text)

    def end(self) -> None:
        """The result is complete: end its last line, unless that is done or there is none."""
        if self._last and not self._last.endswith(("\n", "\r")):
            self.write("\n")


def _out(text: str) -> None:
    """UTF-8 whatever the locale says, and no translation of line ends."""
    stream = sys.stdout
    if stream is None:
        raise BrokenPipeError
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text)
    else:
        buffer.write(text.encode("utf-8", "replace"))
    stream.flush()


def check_target(path: Path) -> None:
    """Raise UserError now for what would only fail after the work was done."""
    if path.is_dir():
        raise UserError(f"-o {path}: that is a folder; name a file in it")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise UserError(f"-o {path}: there is no folder {folder}; make it first")
    target = path if path.exists() else folder
    if not os.access(target, os.W_OK):
        raise UserError(f"-o {path}: no permission to write there")


def check_writable(path: Path) -> None:
    """The same for a file that is to be written in place, if it is there."""
    if path.is_file() and not os.access(path, os.W_OK):
        raise UserError(f"-w {path}: no permission to write it")
    if path.is_file() and not os.access(path.resolve().parent, os.W_OK):
        raise UserError(
            f"-w {path}: no permission to write in its folder, which replacing it in one step needs"
        )


def write_whole(path: Path, text: str) -> None:
    """Replace the file in one step: it has the old content or the new, never half. Its mode stays.

    Raises UserError."""
    _write(path, text.encode("utf-8", "replace"))


def _write(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            target.write_bytes(data)  # a device or a pipe cannot be replaced
            return
        _replace(target, data, mode)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UserError(f"cannot write {path}: {reason}; nothing was changed") from None


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new = Path(name)
        new.chmod(stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        new.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_bytes(name: str, old: bytes, new: bytes, *, backup: bool) -> None:
    """Put `new` in the place of a file's `old` content in one step; its mode stays. `backup`: the old file
    stays beside it as NAME.bak. Raises UserError, also when the file is no longer what was read."""
    path = Path(name)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {name} again: {(error.strerror or str(error)).lower()}") from None
    if data != old:
        raise UserError(f"{name} was changed by something else meanwhile; nothing was written, run it again")
    if backup:
        _write(path.with_name(path.name + ".bak"), data)
    _write(path, new)
