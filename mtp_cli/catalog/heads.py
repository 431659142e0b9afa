"""Draft heads: which head files there are for a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtp_cli.catalog.cache import cache_dir
from mtp_cli.catalog.entry import Entry, models_dir

SUFFIX = ".head.gguf"


@dataclass(frozen=True, slots=True)
class HeadFile:
    """A head by where it comes from: trained (by `mtp train` on this machine), beside (the model's file) or
    shipped (with mtp)."""

    path: Path
    origin: str


def trained_head_path(model: Path, entry: Entry | None) -> Path:
    """Where `mtp train` puts the head of a model."""
    return cache_dir() / "heads" / f"{_name(model, entry)}{SUFFIX}"


def find_heads(model: Path, entry: Entry | None) -> list[HeadFile]:
    """Head files for a model, the one to be used first. Whether they fit is the engine's to say."""
    candidates = [
        HeadFile(trained_head_path(model, entry), "trained"),
        HeadFile(model.with_name(model.name.removesuffix(".gguf") + SUFFIX), "beside"),
    ]
    if entry is not None:
        candidates.append(HeadFile(models_dir() / f"{entry.name}{SUFFIX}", "shipped"))
    return [head for head in candidates if head.path.is_file()]


def head_record(path: Path) -> dict[str, Any] | None:
    """What a head file says about itself: backbone, sources, training, file_bytes; None: it cannot be
    read."""
    try:
        from mtp_cli import _native
    except ImportError:
        return None
    try:
        found = _native.head_record(str(path))
    except _native.Error:
        return None
    return {key: _plain(value) for key, value in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def _name(model: Path, entry: Entry | None) -> str:
    return entry.name if entry is not None else model.name.removesuffix(".gguf")
