"""Model reference -> a file that is there. The way taken at every start, so it imports little."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mtp_cli.catalog import cache
from mtp_cli.catalog.entry import Entry, default_entry, entry_for_file, load_catalog
from mtp_cli.catalog.errors import ModelMissingError, UnknownModelError, from_os_error
from mtp_cli.catalog.report import PullProgress, Report, silent


@dataclass(frozen=True, slots=True)
class Resolved:
    """A model file that may be opened. `entry` is the known model that it is, if it is one."""

    path: Path
    entry: Entry | None
    reference: str


def is_offline(flag: bool = False) -> bool:
    """True when fetching is off: --offline or MTP_OFFLINE set to something else than 0."""
    return flag or os.environ.get("MTP_OFFLINE", "0").strip().lower() not in ("", "0", "false", "no")


def model_path(entry: Entry) -> Path:
    """Where the file of a known model lies once it has been fetched."""
    return cache.models_root() / entry.name / entry.file_name


def find_entry(name: str) -> Entry:
    """A known model by name. Raises UnknownModelError, with a guess at what was meant."""
    known = load_catalog()
    if name in known:
        return known[name]
    import difflib

    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close else "known models: " + ", ".join(known)
    raise UnknownModelError(
        f"no model is called {name!r}; {hint} (the path of a GGUF file or hf:OWNER/NAME/FILE.gguf works too)"
    )


def _looks_like_path(reference: str) -> bool:
    separators = {os.sep, os.altsep or os.sep}
    return any(mark in reference for mark in separators) or reference.lower().endswith(".gguf")


def resolve(reference: str | None = None, *, offline: bool = False, report: Report = silent) -> Resolved:
    """NAME, PATH or hf:OWNER/NAME/FILE.gguf (None: the default model) -> a file that is there.

    A known name goes before a path. Known models are checked by checksum once and by size and time of
    change afterwards; a damaged one is fetched again. Raises ModelError or KeyboardInterrupt."""
    if reference is None:
        return _resolve_entry(default_entry(), offline, report)
    if not reference.strip():
        raise UnknownModelError("the model's name is empty; `mtp models list` shows the known ones")
    if reference.lower().startswith("hf:"):
        from mtp_cli.catalog import fetch_hf, pull

        file = fetch_hf.parse(reference)
        path = file.path if file.path.is_file() else pull.pull_hub(file, offline=offline, report=report)
        return Resolved(path, entry_for_file(path), reference)
    if reference in load_catalog():
        return _resolve_entry(find_entry(reference), offline, report)
    path = Path(reference).expanduser()
    if path.is_dir():
        raise ModelMissingError(f"{reference} is a folder; give the path of a GGUF file")
    if path.exists():
        return Resolved(path, entry_for_file(path), reference)
    if _looks_like_path(reference):
        raise ModelMissingError(f"there is no file {reference}; check the path, or see `mtp models list`")
    return _resolve_entry(find_entry(reference), offline, report)  # raises: says what was meant


def _resolve_entry(entry: Entry, offline: bool, report: Report) -> Resolved:
    path = model_path(entry)
    if not is_intact(entry):
        from mtp_cli.catalog import pull

        path = pull.pull_entry(entry, offline=offline, report=report)
    return Resolved(path, entry, entry.name)


def is_intact(entry: Entry, *, full: bool = False, report: Report = silent) -> bool:
    """True when the file of a known model is on disk and is the right one.

    The checksum is computed when `full`, or when this file has not been checked before."""
    path = model_path(entry)
    try:
        if path.stat().st_size != entry.size:
            return False
        if not full and cache.read_stamp(path) == entry.sha256:
            return True
        found = cache.sha256_of(path, lambda done: report(PullProgress("verifying", done, entry.size)))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise from_os_error(error, path.parent) from None
    if found != entry.sha256:
        return False
    cache.write_stamp(path, found)
    return True
