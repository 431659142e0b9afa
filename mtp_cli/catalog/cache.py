"""The cache folder: where model files lie, that they are whole, one process at a time."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from mtp_cli.catalog.errors import DiskFullError, from_os_error, size_text

PARTIAL = ".partial-"
"""Prefix of the folders that hold a download in progress."""
_BLOCK = 1 << 20
_LOCK_POLL_SECONDS = 0.2


def cache_dir() -> Path:
    """$MTP_CACHE_DIR, else `mtp` in the platform's cache folder. It need not exist."""
    own = os.environ.get("MTP_CACHE_DIR")
    if own:
        return Path(own).expanduser().absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or ""
        if not Path(base).is_absolute():
            base = str(Path.home() / ".cache")
    return Path(base) / "mtp"


def models_root() -> Path:
    """The folder below which every fetched model lies."""
    return cache_dir() / "models"


def sha256_of(path: Path, progress: Callable[[int], None] | None = None) -> str:
    """Hex digest of a file; `progress` hears the bytes read so far. Raises OSError."""
    import hashlib

    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            done += len(block)
            if progress is not None:
                progress(done)
    return digest.hexdigest()


def _stamp_path(path: Path) -> Path:
    return path.with_name(path.name + ".ok")


def write_stamp(path: Path, sha256: str) -> None:
    """Remember that this very file (by size and time of change) has been checked.

    A failure to do so only costs time later."""
    with contextlib.suppress(OSError):
        found = path.stat()
        stamp = {"size": found.st_size, "mtime_ns": found.st_mtime_ns, "sha256": sha256}
        _stamp_path(path).write_text(json.dumps(stamp), encoding="utf-8")


def read_stamp(path: Path) -> str | None:
    """The checksum found earlier, when the file has not changed since; else None."""
    try:
        stamp = json.loads(_stamp_path(path).read_text(encoding="utf-8"))
        found = path.stat()
        if stamp["size"] == found.st_size and stamp["mtime_ns"] == found.st_mtime_ns:
            return str(stamp["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def stamped_sha256(path: Path) -> str | None:
    """The checksum noted when the file came, whatever became of it since; None without a note."""
    try:
        return str(json.loads(_stamp_path(path).read_text(encoding="utf-8"))["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remove_file(path: Path) -> int:
    """Delete a model file with its stamp, and the folders that this leaves empty; returns the bytes freed."""
    freed = path.stat().st_size
    path.unlink()
    _stamp_path(path).unlink(missing_ok=True)
    root = models_root()
    for folder in path.parents:
        if folder == root or root not in folder.parents:
            break
        try:
            folder.rmdir()
        except OSError:
            break
    return freed


def require_space(folder: Path, needed: int, what: str) -> None:
    """Raise DiskFullError when `folder` has less than `needed` bytes free; pass when that cannot be told."""
    import shutil

    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return
    if free < needed:
        raise DiskFullError(
            f"not enough room for {what}: {size_text(needed)} needed, {size_text(free)} free in {folder}; "
            "free some space or set MTP_CACHE_DIR to another folder"
        )


def biggest_file(folder: Path) -> int:
    """Size in bytes of the biggest file below `folder`: what is coming in, in a download's folder."""
    biggest = 0
    for path in folder.rglob("*"):
        try:
            biggest = max(biggest, path.stat().st_size if path.is_file() else 0)
        except OSError:
            continue
    return biggest


def sweep_partials(folder: Path) -> None:
    """Delete what interrupted downloads left. Call it with the lock held: then nobody works in them."""
    import shutil

    for left in folder.glob(PARTIAL + "*"):
        shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def locked(name: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of one model; `waiting` is called again and again while another process has it.

    Lock files stay where they are: deleting one would let two processes hold "the" lock. The system drops
    a lock when its process dies, so none is ever stale. Raises ModelError."""
    folder = cache_dir() / "locks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / (name.replace("/", "--") + ".lock"), os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise from_os_error(error, cache_dir()) from None
    try:
        while not _try_lock(handle):
            waiting()
            time.sleep(_LOCK_POLL_SECONDS)
        yield
    finally:
        os.close(handle)


def _try_lock(handle: int) -> bool:
    """True when this process now holds the lock; it goes with the handle."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: better to go on than to refuse
    return True
