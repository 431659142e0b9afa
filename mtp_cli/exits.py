"""Exit codes, and what each kind of failure says to a person."""

from __future__ import annotations

import errno
import os
from enum import IntEnum


class ExitStatus(IntEnum):
    """The codes every command ends with."""

    OK = 0
    FOUND = 1
    ERROR = 2
    MODEL = 3
    TOO_LONG = 4
    INTERRUPTED = 130


class UserError(Exception):
    """Something a person can put right. The message is one line: what is wrong and what to do."""

    def __init__(self, message: str, status: ExitStatus = ExitStatus.ERROR) -> None:
        super().__init__(message)
        self.status = status


def describe(error: BaseException) -> tuple[str, ExitStatus]:
    """(one line without the leading "mtp: ", exit code) for any exception that ends a command."""
    from mtp_cli.engine import ContextFullError, EngineError, ModelFileError

    if isinstance(error, KeyboardInterrupt):
        return "interrupted", ExitStatus.INTERRUPTED
    if isinstance(error, UserError):
        return str(error), error.status
    if isinstance(error, ModelFileError):
        return str(error), ExitStatus.MODEL
    if isinstance(error, ContextFullError):
        return f"{error}; try a larger --ctx", ExitStatus.ERROR
    if isinstance(error, EngineError):
        return str(error), ExitStatus.ERROR
    if type(error).__module__.startswith("mtp_cli.catalog"):
        return str(error), ExitStatus.MODEL
    if isinstance(error, OSError):
        return _os_error(error), ExitStatus.ERROR
    if isinstance(error, MemoryError):
        return "not enough memory; try a smaller --ctx or a smaller model", ExitStatus.ERROR
    if isinstance(error, ImportError):
        return f"the installation is not complete ({error}); install mtp again", ExitStatus.ERROR
    return f"unexpected {type(error).__name__}: {error}; set MTP_DEBUG=1 to see where", ExitStatus.ERROR


def one_line(text: str) -> str:
    """`text` without line breaks and control characters, which a file name may bring in."""
    return "".join(char if char.isprintable() else "?" for char in " ".join(text.splitlines()))


def _os_error(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "no space left on the disk; free some and try again"
    reason = (os.strerror(error.errno) if error.errno else str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename is not None else reason
