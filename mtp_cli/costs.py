"""What passes cost on this machine, kept between runs: a file in the cache folder."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from mtp_cli import __version__
from mtp_cli.engine import MAX_WIDTH, ModelInfo


@dataclass(frozen=True, slots=True)
class PassCosts:
    """What a pass over 1..MAX_WIDTH tokens takes: seconds with nothing before them, and what each position
    before them adds. `depth`: the positions at which the second was measured, 0 where it was not.
    `sound`: False where the machine had too much else to do to tell."""

    front: list[float]
    per_position: list[float]
    depth: float
    sound: bool = True


class CostFile:
    """Seconds of a pass over 1..MAX_WIDTH tokens, for one model, thread count, build and processor."""

    def __init__(self, model: Path, info: ModelInfo, threads: int) -> None:
        from mtp_cli.catalog.cache import cache_dir

        self._path = cache_dir() / "costs.json"
        self._key = "|".join(
            (model.name, str(info.file_bytes), info.kernel, str(threads), __version__, _processor())
        )

    def read(self) -> PassCosts | None:
        """None when nothing (or nothing that makes sense) is kept for this."""
        kept = self._all().get(self._key)
        if not isinstance(kept, dict):
            return None
        front, each, depth = kept.get("front"), kept.get("per_position"), kept.get("depth")
        if not (_are_costs(front) and _are_costs(each) and _is_number(depth) and min(front) > 0):
            return None
        return PassCosts([float(cost) for cost in front], [float(cost) for cost in each], float(depth))

    def write(self, costs: PassCosts) -> None:
        """Keep them; a cache folder that cannot be written is no reason to stop."""
        table = self._all()
        table[self._key] = {
            "front": [round(cost, 7) for cost in costs.front],
            "per_position": [round(cost, 11) for cost in costs.per_position],
            "depth": round(costs.depth, 1),
        }
        part = self._path.with_name(f".costs.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(table, indent=1))
            part.replace(self._path)
        except OSError:
            part.unlink(missing_ok=True)

    def _all(self) -> dict[str, object]:
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and 0 <= value < 1e6


def _are_costs(values: object) -> TypeGuard[list[float]]:
    return isinstance(values, list) and len(values) == MAX_WIDTH and all(_is_number(one) for one in values)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
