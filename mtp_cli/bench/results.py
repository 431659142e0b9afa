"""What was measured, and the report made of it: plain data in, plain data out, nothing is run here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mtp_cli.bench.statistics import Pair, Ratio, first_difference, median, paired_ratio, rate, spread

PLAIN = "plain"
REFERENCE = "reference"

BUSY_SHARE = 0.8
"""Below this share of the CPU time that its threads could have used, an arm was disturbed."""
IDLE_SHARE = 0.05
"""Above this share of a core, a waiting arm disturbs the other."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one prompt in one arm. Times in seconds, `cpu_s` over all threads."""

    arm: str
    prompt: int
    run: int
    prompt_tokens: int
    generated_tokens: int
    passes: int
    prefill_s: float
    decode_s: float
    first_token_s: float | None
    cpu_s: float
    wall_s: float


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    tokens: list[int]


@dataclass(slots=True)
class Results:
    """Everything measured so far; filled while a benchmark runs, so an interrupted one has it too."""

    arms: list[str]
    prompts: list[Prompt] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    ids: dict[tuple[str, int], list[list[int]]] = field(default_factory=dict)
    """token ids by (arm, prompt), one list a run"""
    cost_ms: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    long_prefill_s: dict[str, list[float]] = field(default_factory=dict)
    fresh_ms: dict[str, list[float]] = field(default_factory=dict)
    """process start to first token"""
    opened: dict[str, dict[str, Any]] = field(default_factory=dict)
    """the answer to `open` by arm"""
    peak_rss: dict[str, int] = field(default_factory=dict)
    idle_cpu: dict[str, float] = field(default_factory=dict)
    startup_ms: dict[str, list[float]] = field(default_factory=dict)
    """whole-process times by program: mtp and reference"""
    notes: list[str] = field(default_factory=list)
    complete: bool = False

    def of(self, arm: str) -> list[list[Sample]]:
        """Samples of an arm by prompt; prompts without any are left out."""
        found: list[list[Sample]] = [[] for _ in self.prompts]
        for sample in self.samples:
            if sample.arm == arm:
                found[sample.prompt].append(sample)
        return [group for group in found if group]

    def pairs(self, arm: str, base: str) -> list[list[tuple[Sample, Sample]]]:
        """(base, arm) samples of the same prompt and run, by prompt."""
        other = {(s.prompt, s.run): s for s in self.samples if s.arm == base}
        return [
            [(other[s.prompt, s.run], s) for s in group if (s.prompt, s.run) in other]
            for group in self.of(arm)
        ]


def _round(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)


def _ratio(found: Ratio | None) -> dict[str, Any] | None:
    if found is None:
        return None
    interval = None if found.low is None else [_round(found.low), _round(found.high)]
    return {"ratio": _round(found.ratio), "ci95": interval, "prompts": found.groups}


def ratios(results: Results, arm: str, base: str = REFERENCE) -> dict[str, Any] | None:
    """Speed of `arm` over speed of `base` (above 1: faster); None where `base` was not measured.

    `total_time` is prefill and decode together, over the prompts where both gave equally many tokens:
    elsewhere the answers are different work.
    """
    if arm == base or base not in results.arms:
        return None
    groups = results.pairs(arm, base)
    decode = [
        [Pair(b.generated_tokens, b.decode_s, a.generated_tokens, a.decode_s) for b, a in g] for g in groups
    ]
    prefill = [
        [Pair(b.prompt_tokens, b.prefill_s, a.prompt_tokens, a.prefill_s) for b, a in g] for g in groups
    ]
    total = [
        [
            Pair(1, b.prefill_s + b.decode_s, 1, a.prefill_s + a.decode_s)
            for b, a in g
            if b.generated_tokens == a.generated_tokens
        ]
        for g in groups
    ]
    long = _series_ratio(results.long_prefill_s, arm, base)
    fresh = _series_ratio(results.fresh_ms, arm, base)
    return {
        "decode": _ratio(paired_ratio(decode)),
        "prefill": _ratio(paired_ratio(prefill)),
        "total_time": _ratio(paired_ratio(total)),
        "prefill_512": _ratio(long),
        "ttft_process": _ratio(fresh),
    }


def _series_ratio(series: dict[str, list[float]], arm: str, base: str) -> Ratio | None:
    both = zip(series.get(base, []), series.get(arm, []), strict=False)
    return paired_ratio([[Pair(1, b, 1, a) for b, a in both]])


def _per_run(groups: Iterable[Sequence[Sample]], amount: str, seconds: str) -> dict[str, Any] | None:
    """Spread over the runs of total tokens / total seconds."""
    totals: dict[int, list[float]] = {}
    for group in groups:
        for sample in group:
            total = totals.setdefault(sample.run, [0.0, 0.0])
            total[0] += getattr(sample, amount)
            total[1] += getattr(sample, seconds)
    return _spread([tokens / time for tokens, time in totals.values() if tokens > 0 and time > 0])


def _spread(values: Sequence[float], digits: int = 2) -> dict[str, Any] | None:
    found = spread(values)
    if found is None:
        return None
    return {
        "min": _round(found.minimum, digits),
        "median": _round(found.median, digits),
        "max": _round(found.maximum, digits),
        "n": found.n,
    }


def _differences(results: Results, arm: str) -> list[dict[str, int]]:
    """Prompts whose first run differs from plain's, with the position of the first difference."""
    found: list[dict[str, int]] = []
    for prompt in range(len(results.prompts)):
        here, plain = results.ids.get((arm, prompt)), results.ids.get((PLAIN, prompt))
        place = first_difference(plain[0], here[0]) if here and plain else None
        if place is not None:
            found.append({"prompt": prompt, "position": place})
    return found


def _same_as_plain(results: Results, arm: str) -> int | None:
    shared = [p for p in range(len(results.prompts)) if {(arm, p), (PLAIN, p)} <= results.ids.keys()]
    if not shared:
        return None
    return len(shared) - len(_differences(results, arm))


def arm_report(results: Results, arm: str) -> dict[str, Any]:
    """One element of `arms`. What could not be had is None. Repeats of a prompt enter by their median."""
    groups = results.of(arm)
    opened = results.opened.get(arm, {})
    peak, before = results.peak_rss.get(arm), opened.get("rss_before_load")
    first = [[s.first_token_s for s in g if s.first_token_s is not None] for g in groups]
    medians = [median(values) for values in first if values]
    long_tokens = results.settings.get("long_prefill_tokens") or 0
    busy = sum(s.wall_s for g in groups for s in g) * (results.settings.get("threads") or 0)
    runs = [results.ids[key] for key in results.ids if key[0] == arm]
    return {
        "name": arm,
        "prompts": len(groups),
        "runs": max((len(g) for g in groups), default=0),
        "prompt_tokens": sum(g[0].prompt_tokens for g in groups) or None,
        "generated_tokens": sum(g[0].generated_tokens for g in groups) if groups else None,
        "passes": sum(g[0].passes for g in groups) if groups else None,
        "prefill_tok_s": _round(rate([[(s.prompt_tokens, s.prefill_s) for s in g] for g in groups]), 2),
        "decode_tok_s": _round(rate([[(s.generated_tokens, s.decode_s) for s in g] for g in groups]), 2),
        "total_s": _round(sum(median([s.prefill_s + s.decode_s for s in g]) for g in groups))
        if groups
        else None,
        "ttft_ms": _round(1e3 * median(medians), 2) if medians else None,
        "ttft_process_ms": _spread(results.fresh_ms.get(arm, [])),
        "prefill_512_tok_s": _spread([long_tokens / s for s in results.long_prefill_s.get(arm, [])]),
        "peak_rss_mb": _round(peak / 1e6, 1) if peak else None,
        "rss_before_load_mb": _round(before / 1e6, 1) if before else None,
        "load_ms": _round(1e3 * opened["wall_s"], 1) if "wall_s" in opened else None,
        "same_as_plain": _same_as_plain(results, arm),
        "differs_from_plain": _differences(results, arm),
        "repeatable": all(ids == run[0] for run in runs for ids in run) if runs else None,
        "ratio_to_reference": ratios(results, arm),
        "spread": {
            "prefill_tok_s": _per_run(groups, "prompt_tokens", "prefill_s"),
            "decode_tok_s": _per_run(groups, "generated_tokens", "decode_s"),
        },
        "cpu_share": _round(sum(s.cpu_s for g in groups for s in g) / busy) if busy else None,
        "idle_cpu_share": _round(results.idle_cpu.get(arm)),
    }


def _curve(results: Results, pick: Callable[[Sequence[float]], float]) -> dict[str, dict[str, float | None]]:
    return {
        arm: {
            str(width): _round(pick(ms)) for width, ms in sorted(results.cost_ms.get(arm, {}).items()) if ms
        }
        for arm in results.arms
    }


def report(results: Results) -> dict[str, Any]:
    """The whole report, in the shape that `--format json` prints."""
    whole = {
        "machine": results.machine,
        "model": results.model,
        "settings": results.settings,
        "complete": results.complete,
        "arms": [arm_report(results, arm) for arm in results.arms],
        "verify_cost_ms": _curve(results, median),
        "verify_cost_min_ms": _curve(results, min),
        "prompts": [{"name": p.name, "tokens": len(p.tokens)} for p in results.prompts],
        "samples": [asdict(sample) for sample in results.samples],
        "notes": results.notes + _warnings(results),
    }
    if results.startup_ms:
        whole["startup"] = startup_report(results)
    return whole


def startup_report(results: Results) -> dict[str, Any]:
    """Milliseconds of whole processes. `time_ratio` is mtp's time over the reference's: below 1 is faster."""
    found = _series_ratio(results.startup_ms, REFERENCE, "mtp")
    return {
        "mtp_ms": _spread(results.startup_ms.get("mtp", [])),
        "reference_ms": _spread(results.startup_ms.get(REFERENCE, [])),
        "time_ratio": _ratio(found),
    }


def _warnings(results: Results) -> list[str]:
    """Why the figures may be worse than the machine allows, or the two arms not comparable."""
    found: list[str] = []
    for arm in results.arms:
        summary = arm_report(results, arm)
        share, idle = summary["cpu_share"], summary["idle_cpu_share"]
        if share is not None and share < BUSY_SHARE:
            found.append(f"{arm} got {share:.0%} of the CPU time of its threads: other programs were running")
        if idle is not None and idle > IDLE_SHARE:
            found.append(f"{arm} used {idle:.0%} of a core while it should have slept")
        if summary["repeatable"] is False:
            found.append(f"{arm} gave different token ids for the same prompt")
    return found
