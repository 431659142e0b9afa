"""How fast one arm is against another, paired by prompt and run, as plain data for a report."""

from __future__ import annotations

from typing import Any

from mtp_cli.bench.arms import PLAIN, REFERENCE
from mtp_cli.bench.results import Results, Sample
from mtp_cli.bench.statistics import Pair, Ratio, paired_ratio


def rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)


def ratio_record(found: Ratio | None) -> dict[str, Any] | None:
    if found is None:
        return None
    interval = None if found.low is None else [rounded(found.low), rounded(found.high)]
    return {"ratio": rounded(found.ratio), "ci95": interval, "prompts": found.groups}


def decode_ratio(results: Results, arm: str, base: str) -> dict[str, Any] | None:
    """Decoding speed of `arm` over that of `base`, paired by prompt and run."""
    groups = results.pairs(arm, base)
    return ratio_record(
        paired_ratio(
            [
                [Pair(b.generated_tokens, b.decode_s, a.generated_tokens, a.decode_s) for b, a in g]
                for g in groups
            ]
        )
    )


def _total_ratio(groups: list[list[tuple[Sample, Sample]]]) -> dict[str, Any] | None:
    """Prefill and decode together, over the prompts where both gave equally many tokens: elsewhere the
    answers are different work."""
    return ratio_record(
        paired_ratio(
            [
                [
                    Pair(1, b.prefill_s + b.decode_s, 1, a.prefill_s + a.decode_s)
                    for b, a in g
                    if b.generated_tokens == a.generated_tokens
                ]
                for g in groups
            ]
        )
    )


def ratios_to_plain(results: Results, arm: str) -> dict[str, Any] | None:
    """Speed of `arm` over plain's, where drafting can change it; None where plain was not measured."""
    if arm == PLAIN or PLAIN not in results.arms:
        return None
    return {
        "decode": decode_ratio(results, arm, PLAIN),
        "total_time": _total_ratio(results.pairs(arm, PLAIN)),
    }


def ratios_to_reference(results: Results, arm: str) -> dict[str, Any] | None:
    """Speed of `arm` over the reference's (above 1: faster); None where that was not measured."""
    if arm == REFERENCE or REFERENCE not in results.arms:
        return None
    groups = results.pairs(arm, REFERENCE)
    prefill = [
        [Pair(b.prompt_tokens, b.prefill_s, a.prompt_tokens, a.prefill_s) for b, a in g] for g in groups
    ]
    return {
        "decode": decode_ratio(results, arm, REFERENCE),
        "prefill": ratio_record(paired_ratio(prefill)),
        "total_time": _total_ratio(groups),
        "prefill_512": ratio_record(series_ratio(results.long_prefill_s, arm, REFERENCE)),
        "ttft_process": ratio_record(series_ratio(results.fresh_ms, arm, REFERENCE)),
    }


def series_ratio(series: dict[str, list[float]], arm: str, base: str) -> Ratio | None:
    both = zip(series.get(base, []), series.get(arm, []), strict=False)
    return paired_ratio([[Pair(1, b, 1, a) for b, a in both]])
