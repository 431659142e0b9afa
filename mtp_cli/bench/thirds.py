"""The first and the last third of a run over minutes, as plain data for a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mtp_cli.bench.ratios import ratio_record, rounded
from mtp_cli.bench.results import Results, Sample
from mtp_cli.bench.statistics import Pair, paired_ratio, spread


def sustained_report(results: Results) -> dict[str, Any]:
    """The `sustained` object of a report: tokens per second of decoding in the first and the last third, the
    spread of the single answers, and the last over the first by prompt."""
    whole = float(results.sustained["seconds"])
    arms = {}
    for arm in results.arms:
        samples = [sample for sample in results.samples if sample.arm == arm and sample.decode_s > 0]
        first = [sample for sample in samples if sample.at < whole / 3]
        last = [sample for sample in samples if sample.at >= whole * 2 / 3]
        arms[arm] = {
            "answers": len(samples),
            "first_third": _third(first),
            "last_third": _third(last),
            "last_to_first": ratio_record(paired_ratio(_pairs(first, last))),
        }
    return {**results.sustained, "seconds": rounded(whole, 1), "arms": arms}


def _third(samples: Sequence[Sample]) -> dict[str, Any] | None:
    seconds = sum(sample.decode_s for sample in samples)
    if not samples or seconds <= 0:
        return None
    found = spread([sample.generated_tokens / sample.decode_s for sample in samples])
    assert found is not None
    return {
        "decode_tok_s": rounded(sum(sample.generated_tokens for sample in samples) / seconds, 2),
        "min": rounded(found.minimum, 2),
        "median": rounded(found.median, 2),
        "max": rounded(found.maximum, 2),
        "n": found.n,
    }


def _pairs(first: Sequence[Sample], last: Sequence[Sample]) -> list[list[Pair]]:
    """By prompt, answers of the first third with those of the last in their order."""
    groups: dict[int, list[Pair]] = {}
    for prompt in {sample.prompt for sample in first}:
        early = [sample for sample in first if sample.prompt == prompt]
        late = [sample for sample in last if sample.prompt == prompt]
        groups[prompt] = [
            Pair(a.generated_tokens, a.decode_s, b.generated_tokens, b.decode_s)
            for a, b in zip(early, late, strict=False)
        ]
    return list(groups.values())
