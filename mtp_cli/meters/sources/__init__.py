"""Where joules can be read: one file for each kind of sensor, all below a root folder (`/`, or a test's)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

MOST_WATTS = 5000.0
"""A counter that ran faster than that is broken."""


class SourceLost(Exception):
    """A sensor that was there gives nothing sensible any more. The message says what happened."""


class Source(Protocol):
    """One sensor, or several that belong together."""

    name: str
    scope: str
    """what its joules are those of: the CPU package, the whole device"""
    live: bool
    """whether it may be read while the model works; else only before and after"""

    def begin(self) -> None:
        """Count from now on. Raises SourceLost."""
        ...

    def tick(self) -> None:
        """Called now and then while the model works, and between its answers. Raises SourceLost."""
        ...

    def joules(self) -> float:
        """Since `begin`. Raises SourceLost."""
        ...


@dataclass(frozen=True, slots=True)
class Refusal:
    """A sensor that is there and cannot be used: why, and what would help ("" when nothing would)."""

    name: str
    why: str
    fix: str = ""


def text_of(path: Path) -> str | None:
    """A small file's text; None when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def number_of(path: Path) -> int | None:
    """The whole number in a file; None when there is none."""
    text = text_of(path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def entries(folder: Path) -> list[Path]:
    """What lies in a folder, by name; nothing where it cannot be listed."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
