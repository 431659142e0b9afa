"""The report made of what was measured: plain data in, plain data out, nothing is run here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from mtp_cli.bench import drafts, energy, screening
from mtp_cli.bench.arms import AUTO, PLAIN, REFERENCE, find
from mtp_cli.bench.lenient import lenient_report
from mtp_cli.bench.ratios import (
    decode_ratio,
    ratio_record,
    ratios_to_plain,
    ratios_to_reference,
    rounded,
    series_ratio,
)
from mtp_cli.bench.results import Results, Sample
from mtp_cli.bench.statistics import first_difference, median, rate, spread
from mtp_cli.bench.thirds import sustained_report

BUSY_SHARE = 0.8
"""Below this share of the CPU time that its threads could have used, an arm was disturbed."""
IDLE_SHARE = 0.05
"""Above this share of a core, a waiting arm disturbs the other."""


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
        "min": rounded(found.minimum, digits),
        "median": rounded(found.median, digits),
        "max": rounded(found.maximum, digits),
        "n": found.n,
    }


def differences(results: Results, arm: str) -> list[dict[str, int]]:
    """Prompts of which any run differs from plain's first, with the position of the first difference."""
    found: list[dict[str, int]] = []
    for prompt in range(len(results.prompts)):
        plain = results.ids.get((PLAIN, prompt))
        places = (
            [first_difference(plain[0], ids) for ids in results.ids.get((arm, prompt), [])] if plain else []
        )
        known = [place for place in places if place is not None]
        if known:
            found.append({"prompt": prompt, "position": min(known)})
    return found


def _compared(results: Results, arm: str) -> int | None:
    """Prompts that both this arm and plain have answered; None: not one."""
    shared = [p for p in range(len(results.prompts)) if {(arm, p), (PLAIN, p)} <= results.ids.keys()]
    return len(shared) or None


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
    compared, differing = _compared(results, arm), differences(results, arm)
    return {
        "name": arm,
        "prompts": len(groups),
        "runs": max((len(g) for g in groups), default=0),
        "prompt_tokens": sum(g[0].prompt_tokens for g in groups) or None,
        "generated_tokens": sum(g[0].generated_tokens for g in groups) if groups else None,
        "passes": sum(g[0].passes for g in groups) if groups else None,
        "prefill_tok_s": rounded(rate([[(s.prompt_tokens, s.prefill_s) for s in g] for g in groups]), 2),
        "decode_tok_s": rounded(rate([[(s.generated_tokens, s.decode_s) for s in g] for g in groups]), 2),
        "total_s": rounded(sum(median([s.prefill_s + s.decode_s for s in g]) for g in groups))
        if groups
        else None,
        "ttft_ms": rounded(1e3 * median(medians), 2) if medians else None,
        "ttft_process_ms": _spread(results.fresh_ms.get(arm, [])),
        "prefill_512_tok_s": _spread([long_tokens / s for s in results.long_prefill_s.get(arm, [])]),
        "peak_rss_mb": rounded(peak / 1e6, 1) if peak else None,
        "rss_before_load_mb": rounded(before / 1e6, 1) if before else None,
        "load_ms": rounded(1e3 * opened["wall_s"], 1) if "wall_s" in opened else None,
        "same_as_plain": None if compared is None else compared - len(differing),
        "compared_with_plain": compared,
        "differs_from_plain": differing,
        "repeatable": all(ids == run[0] for run in runs for ids in run) if runs else None,
        "ratio_to_reference": ratios_to_reference(results, arm),
        "ratio_to_plain": ratios_to_plain(results, arm),
        **drafts.of_arm(results.of(arm)),
        "head": drafts.of_head(results.of(arm), _plain_pass_s(results)),
        "oracle": drafts.of_oracle(results.oracle.get(arm, {}).values()),
        "priced": drafts.of_oracle(results.priced.get(arm, {}).values()),
        "energy": energy.of_arm(results, arm),
        "screening": screening.of_arm(results, arm),
        "spread": {
            "prefill_tok_s": _per_run(groups, "prompt_tokens", "prefill_s"),
            "decode_tok_s": _per_run(groups, "generated_tokens", "decode_s"),
        },
        "cpu_share": rounded(sum(s.cpu_s for g in groups for s in g) / busy) if busy else None,
        "idle_cpu_share": rounded(results.idle_cpu.get(arm)),
    }


def _plain_pass_s(results: Results) -> float | None:
    """Seconds of a plain pass over all runs; None without the plain arm."""
    samples = [sample for group in results.of(PLAIN) for sample in group]
    passes = sum(sample.passes for sample in samples)
    return sum(sample.decode_s for sample in samples) / passes if passes else None


def _curve(results: Results, pick: Callable[[Sequence[float]], float]) -> dict[str, dict[str, float | None]]:
    return {
        arm: {
            str(width): rounded(pick(ms)) for width, ms in sorted(results.cost_ms.get(arm, {}).items()) if ms
        }
        for arm in results.arms
    }


def report(results: Results) -> dict[str, Any]:
    """The whole report, in the shape that `--format json` prints."""
    arms = [arm_report(results, arm) for arm in results.arms]
    whole = {
        "machine": results.machine,
        "model": results.model,
        "settings": results.settings,
        "complete": results.complete,
        "arms": arms,
        "not_exact": _not_exact(results, arms),
        "gate": _gate(results, arms),
        "reference_verify": drafts.of_verified(results.verified.values()),
        "verify_cost_ms": _curve(results, median),
        "verify_cost_min_ms": _curve(results, min),
        "prompts": [{"name": p.name, "tokens": len(p.tokens)} for p in results.prompts],
        "samples": [asdict(sample) for sample in results.samples],
        "energy": energy.described(results),
        "notes": results.notes + _warnings(arms),
    }
    if results.settings.get("lenient"):
        whole["lenient"] = lenient_report(results, results.settings["lenient"], arms)
    if results.sustained:
        whole["sustained"] = sustained_report(results)
    if results.startup_ms:
        whole["startup"] = startup_report(results)
    return whole


def startup_report(results: Results) -> dict[str, Any]:
    """Milliseconds of whole processes. `time_ratio` is mtp's time over the reference's: below 1 is faster."""
    found = series_ratio(results.startup_ms, REFERENCE, "mtp")
    return {
        "mtp_ms": _spread(results.startup_ms.get("mtp", [])),
        "reference_ms": _spread(results.startup_ms.get(REFERENCE, [])),
        "time_ratio": ratio_record(found),
    }


def _not_exact(results: Results, arms: Sequence[dict[str, Any]]) -> list[str]:
    """One line for each arm that breaks the promise of plain's token ids. Empty is what must be."""
    found: list[str] = []
    for arm in arms:
        kind = find(arm["name"])
        if not kind.native or kind.lenient or not arm["differs_from_plain"]:
            continue
        first = arm["differs_from_plain"][0]
        found.append(
            f"{arm['name']} gave other token ids than plain on {len(arm['differs_from_plain'])} of "
            f"{arm['compared_with_plain']} prompts, first in {results.prompts[first['prompt']].name} at "
            f"token {first['position']}"
        )
    return found


def _gate(results: Results, arms: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """auto against the fixed length that turned out fastest; None where either was not measured."""
    fixed = [arm for arm in arms if find(arm["name"]).fixed and arm["decode_tok_s"]]
    if AUTO not in results.arms or not fixed:
        return None
    best = str(max(fixed, key=lambda arm: float(arm["decode_tok_s"]))["name"])
    found = decode_ratio(results, AUTO, best)
    return {"arm": AUTO, "best_fixed": best, **found} if found else None


def _warnings(arms: Sequence[dict[str, Any]]) -> list[str]:
    """Why the figures may be worse than the machine allows, or the arms not comparable."""
    found: list[str] = []
    for summary in arms:
        arm, share, idle = summary["name"], summary["cpu_share"], summary["idle_cpu_share"]
        if share is not None and share < BUSY_SHARE:
            found.append(f"{arm} got {share:.0%} of the CPU time of its threads: other programs were running")
        if idle is not None and idle > IDLE_SHARE:
            found.append(f"{arm} used {idle:.0%} of a core while it should have slept")
        if summary["repeatable"] is False:
            found.append(f"{arm} gave different token ids for the same prompt")
    return found
