"""The most trustworthy sensor of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from mtp_cli.meters.sources import Refusal, Source, apple, battery, hwmon, perf, powercap, termux
from mtp_cli.meters.sources.counting import Clock

ROOT = Path("/")
"""Below which the system's files are looked for."""


@dataclass(slots=True)
class Found:
    """The sensor to use, if there is one, and those that are there and cannot be used."""

    source: Source | None = None
    refused: list[Refusal] = field(default_factory=list)


def find_source(
    root: Path | None = None, *, live_only: bool = False, commands: bool = True, clock: Clock = time.monotonic
) -> Found:
    """In order of trust. `live_only`: none that may only be read between answers; without `commands`: none
    that takes a second to answer. Below another root than the system's, only files are looked at."""
    root = root if root is not None else ROOT
    looks: list[Callable[[], Source | Refusal | None]] = [
        lambda: powercap.find(root, clock),
        lambda: perf.find(root, clock),
        lambda: hwmon.find(root, clock),
    ]
    here = root == Path("/")
    if here:
        looks.append(lambda: apple.find())
    if not live_only:
        looks.append(lambda: battery.find(root, clock))
        if here and commands:
            looks.append(lambda: termux.find(clock))
    found = Found()
    for look in looks:
        one = look()
        if isinstance(one, Refusal):
            found.refused.append(one)
        elif one is not None:
            found.source = one
            break
    return found
