"""What a pull tells the one who started it. The catalog itself never prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Stage = Literal["waiting", "downloading", "verifying"]


@dataclass(frozen=True, slots=True)
class PullStart:
    """Sent once, before anything is fetched: what will come and on which terms."""

    name: str
    title: str
    file_bytes: int
    download_bytes: int
    licence_name: str
    licence_note: str
    licence_url: str
    folder: Path


@dataclass(frozen=True, slots=True)
class PullProgress:
    """`done` of `total` bytes of this stage; total 0: not known (waiting for another mtp)."""

    stage: Stage
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class PullDone:
    """The file is complete, checked and in its place."""

    name: str
    path: Path
    seconds: float


PullEvent = PullStart | PullProgress | PullDone
Report = Callable[[PullEvent], None]


def silent(event: PullEvent) -> None:
    """A Report that tells nobody."""
