"""What passes cost on this machine, kept between runs: a file in the cache folder."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

from mtp_cli import __version__
from mtp_cli.engine import MAX_WIDTH, ModelInfo


class CostFile:
    """Seconds of a pass over 1..MAX_WIDTH tokens, for one model, thread count, build and processor."""

    def __init__(self, model: Path, info: ModelInfo, threads: int) -> None:
        from mtp_cli.catalog.cache import cache_dir

        self._path = cache_dir() / "costs.json"
        self._key = "|".join(
            (model.name, str(info.file_bytes), info.kernel, str(threads), __version__, _processor())
        )

    def read(self) -> list[float] | None:
        """None when nothing (or nothing that makes sense) is kept for this."""
        costs = self._all().get(self._key)
        if isinstance(costs, list) and len(costs) == MAX_WIDTH and all(_is_cost(cost) for cost in costs):
            return [float(cost) for cost in costs]
        return None

    def write(self, costs: list[float]) -> None:
        """Keep them; a cache folder that cannot be written is no reason to stop."""
        table = self._all()
        table[self._key] = [round(cost, 7) for cost in costs]
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


def _is_cost(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < 1e3


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
