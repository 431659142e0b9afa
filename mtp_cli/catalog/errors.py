"""What can go wrong between a model's name and a verified file. Every message is one line for a person.

All of them end the program with exit code 3 (`EXIT_CODE`).
"""

from __future__ import annotations

import errno
from pathlib import Path

EXIT_CODE = 3

_FULL = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})


class ModelError(Exception):
    """A model that is missing, damaged or cannot be fetched. The message says what and what to do."""


class UnknownModelError(ModelError):
    """No model goes by this name."""


class ModelMissingError(ModelError):
    """The file is not on this machine, and fetching was not allowed or not possible."""


class ModelDamagedError(ModelError):
    """The file on disk, or the one that came, is not the one the catalog describes."""


class DiskFullError(ModelError):
    """No room in the cache folder."""


class CacheFolderError(ModelError):
    """The cache folder cannot be written or read."""


class NetworkError(ModelError):
    """The place that the model comes from cannot be reached."""


class FetchError(ModelError):
    """Fetching failed for another reason. `detail` holds the tool's own words, for -v."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class CatalogError(ModelError):
    """A file in models/ is not valid."""


def size_text(count: int) -> str:
    """Bytes for a person, decimal units: 98362432 -> "98.4 MB"."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.95 or unit == "GB":
            break
    return f"{value:.1f} {unit}"


def from_os_error(error: OSError, folder: Path) -> ModelError:
    """The ModelError that says what an OSError in `folder` means for a person."""
    if error.errno in _FULL:
        return DiskFullError(
            f"the disk that holds {folder} is full; free some space or set MTP_CACHE_DIR to another folder"
        )
    reason = (error.strerror or str(error)).lower()
    return CacheFolderError(
        f"cannot use the cache folder {folder} ({reason}); set MTP_CACHE_DIR to a folder you can write"
    )
