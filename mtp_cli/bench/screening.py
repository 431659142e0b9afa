"""What passes read, and how much of a large output matrix the arg-max had to look at, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtp_cli.bench.drafts import share

if TYPE_CHECKING:
    from mtp_cli.bench.results import Results, Sample

GROUP = 8
"""Rows that are computed together (kGroupRows in native/src/kernels/layout.h)."""
_STEPS = 8
"""Buckets of a doubling: bucket b holds counts around 2 ** (b / 8) - 1 (ScreenStats in
native/src/decode/engine.h), so a quantile is right to a few percent."""


def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine's counters say of the passes in between."""
    found: dict[str, Any] = {name: after[name] - before[name] for name in ("passes", "full_passes", "groups")}
    found["survivors"] = after["survivors"] - before["survivors"]
    pairs = zip(before["by_survivors"], after["by_survivors"], strict=True)
    found["by_survivors"] = [new - old for old, new in pairs]
    return found


def quantile(by_survivors: Sequence[int], q: float) -> int | None:
    """Groups that survived in the pass at the q-quantile; None without passes."""
    wanted = q * sum(by_survivors)
    seen = 0
    for bucket, n in enumerate(by_survivors):
        seen += n
        if n and seen >= wanted:
            return round(2 ** (bucket / _STEPS) - 1)
    return None


def of_arm(results: Results, arm: str) -> list[dict[str, Any]]:
    """One record a task, of the first run of each prompt; empty where nothing was screened or counted.

    bytes_per_pass: weights and KV cache that a decoding pass reads, as counted. rows_median, rows_p99: rows
    of the output matrix computed in full, for each token. fallback_share: of the passes, those that read the
    whole matrix because too many rows had been left before."""
    by_task: dict[str, list[Sample]] = {}
    for group in results.of(arm):
        by_task.setdefault(results.prompts[group[0].prompt].task, []).append(group[0])
    found = [_of_task(task, samples) for task, samples in by_task.items()]
    return [one for one in found if one["bytes_per_pass"] is not None or one["passes"]]


def _of_task(task: str, samples: Sequence[Sample]) -> dict[str, Any]:
    works = [sample.decode_work for sample in samples if sample.decode_work]
    screens = [sample.screen for sample in samples if sample.screen]
    passes = sum(screen["passes"] for screen in screens)
    full = sum(screen["full_passes"] for screen in screens)
    counts = [sum(column) for column in zip(*(s["by_survivors"] for s in screens), strict=True)]
    middle, most = quantile(counts, 0.5), quantile(counts, 0.99)
    read = share(sum(w["bytes"] for w in works), sum(w["passes"] for w in works), 0)
    return {
        "task": task,
        "bytes_per_pass": None if read is None else int(read),
        "passes": passes,
        "fallback_share": share(full, passes + full),
        "rows_median": None if middle is None else GROUP * middle,
        "rows_p99": None if most is None else GROUP * most,
        "rows_share": share(sum(s["survivors"] for s in screens), sum(s["groups"] for s in screens)),
    }
