"""`mtp bench --sustained MINUTES`: how fast it still is when it has gone on for a while.

Phones and thin laptops slow down as they get warm: what counts is the last third of the run against the
first, of the same prompts."""

from __future__ import annotations

import contextlib
import time

from mtp_cli.bench.plan import Plan, prepare, without_sampled_reference
from mtp_cli.bench.results import Results
from mtp_cli.bench.run import Notify, begin_watch, note_heat, open_workers, take_turn, warm_up
from mtp_cli.bench.schedule import turns
from mtp_cli.meters.thermal import read_thermal

ENDLESS = 1 << 30
"""Runs: time ends it."""


def measure_sustained(plan: Plan, results: Results, notify: Notify) -> None:
    """Answers in turn until the minutes are over, into `results`. Raises BenchError; on that and on
    KeyboardInterrupt all workers end."""
    plan = without_sampled_reference(plan, results)
    notify("reading the prompts")
    n_ctx = prepare(plan, results)
    heat, seconds = read_thermal(), 60 * plan.sustained
    results.sustained = {"minutes": plan.sustained, "seconds": 0.0, "hottest_celsius": heat.celsius}
    with contextlib.ExitStack() as stack:
        workers = open_workers(plan, results, n_ctx, notify, stack)
        warm_up(plan, workers, results, notify)
        watch = begin_watch(results, notify)
        began = time.perf_counter()
        for turn in turns(plan.arms, len(results.prompts), ENDLESS):
            at = time.perf_counter() - began
            if at >= seconds:
                break
            sample = take_turn(plan, turn, workers, results, watch, at)
            results.sustained["seconds"] = time.perf_counter() - began
            _note_celsius(results)
            speed = sample.generated_tokens / sample.decode_s if sample.decode_s > 0 else 0.0
            notify(f"{turn.arm}: {at:.0f} of {seconds:.0f} s: decode {speed:.1f} tok/s")
    note_heat(results, heat)
    results.complete = True


def _note_celsius(results: Results) -> None:
    celsius, before = read_thermal().celsius, results.sustained["hottest_celsius"]
    if celsius is not None:
        results.sustained["hottest_celsius"] = celsius if before is None else max(before, celsius)
