"""The benchmark itself: workers take turns on the prompts, a long prefill and the verify-cost curve.

Only one worker computes at a time. Results are filled in as they come: whoever interrupts `measure` still
has everything measured so far.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mtp_cli.bench import machine
from mtp_cli.bench.arms import GATED, REFERENCE, find
from mtp_cli.bench.client import BenchError, Worker
from mtp_cli.bench.energy import Watch, counted
from mtp_cli.bench.plan import COST_CONTEXT, Plan, prepare, without_sampled_reference
from mtp_cli.bench.results import Oracle, Prompt, Results, Sample, Verified
from mtp_cli.bench.schedule import Turn, turns
from mtp_cli.meters.thermal import Thermal, read_thermal, slowed_between

COST_REPEATS = 3
"""Timed passes a turn, for each width."""
WARM_UP_TOKENS = 8
FRESH_RUNS = 5
"""Most timed process starts of an arm."""
VERIFY_WIDTH = 4
"""Tokens a pass when the reference is fed its own text again."""

Notify = Callable[[str], None]
"""Told in a few words what is going on."""


def measure(plan: Plan, results: Results, notify: Notify) -> None:
    """Everything, into `results`. Raises BenchError; on that and on KeyboardInterrupt all workers end."""
    plan, heat = without_sampled_reference(plan, results), read_thermal()
    notify("reading the prompts")
    n_ctx = prepare(plan, results)
    if plan.fresh:
        _fresh(plan, results, n_ctx, notify)
    with contextlib.ExitStack() as stack:
        workers = open_workers(plan, results, n_ctx, notify, stack)
        _prompts(plan, workers, results, notify)
        _oracle(plan, workers, results, notify)
        if plan.price_column > 0:
            _priced(plan, workers, results, notify)
        if plan.verify and REFERENCE in plan.arms:
            _verify(workers[REFERENCE], results, notify)
        if plan.long_prefill:
            _long_prefill(plan, workers, results, notify)
        if plan.widths:
            _cost(plan, workers, results, notify)
        for worker in set(workers.values()):
            if worker.idle_s > 0:
                results.idle_cpu[worker.arm] = worker.idle_cpu_s / worker.idle_s
    results.machine["load_average_after"] = machine.load_average()
    note_heat(results, heat)
    results.complete = True


def note_heat(results: Results, before: Thermal) -> None:
    """Whether the machine was slowed down for its heat since then, into `results`."""
    after = read_thermal()
    results.machine["thermal_after"] = after.record()
    why = slowed_between(before, after)
    if why:
        results.notes.append(f"{why}: a cooler machine is faster")


def open_workers(
    plan: Plan, results: Results, n_ctx: int, notify: Notify, stack: contextlib.ExitStack
) -> dict[str, Worker]:
    """The worker of each arm; arms that share one get the same."""
    threads = results.settings["threads"]
    found: dict[str, Worker] = {}
    by_arm: dict[str, Worker] = {}
    for arm in plan.arms:
        key = find(arm).worker
        if key not in found:
            notify(f"{arm}: loading the model")
            worker = found[key] = stack.enter_context(Worker(arm, plan.command(arm)))
            opened = worker.ask("open", **_opening(plan, arm, n_ctx, threads))
            if opened["threads"] != threads:
                raise BenchError(f"arm {arm} runs {opened['threads']} threads instead of {threads}")
            if find(arm).alone:
                results.opened[arm] = opened
        by_arm[arm] = found[key]
    if any(not find(arm).alone for arm in plan.arms):
        results.notes.append(
            "fixed lengths share one process: their memory and the time of its start are not measured"
        )
    return by_arm


def _opening(plan: Plan, arm: str, n_ctx: int, threads: int) -> dict[str, Any]:
    """What `open` needs to know. Arms that share a process with one that drafts by a head open it too."""
    asked: dict[str, Any] = {"model": str(plan.model), "n_ctx": n_ctx, "threads": threads}
    kind = find(arm)
    if any(find(other).heads for other in plan.arms if find(other).worker == kind.worker):
        asked["head"] = str(plan.head) if plan.head else "auto"
    return asked


def _fresh(plan: Plan, results: Results, n_ctx: int, notify: Notify) -> None:
    """Process start to first token, a new process for every run; one more before to fill the page cache."""
    prompt = results.prompts[0]
    arms = [arm for arm in plan.arms if find(arm).alone]
    runs = min(plan.runs, FRESH_RUNS)
    for turn in turns(arms, 1, runs + 1):
        notify(f"{turn.arm}: process start to first token, run {turn.run} of {runs}")
        with Worker(turn.arm, plan.command(turn.arm)) as worker:
            worker.send("open", **_opening(plan, turn.arm, n_ctx, results.settings["threads"]))
            worker.send("generate", **_request(plan, turn.arm, prompt), max_tokens=1)
            worker.receive()
            reply = worker.receive()
            elapsed = worker.answered_after
        if turn.run and reply["first_token_s"] is not None:
            results.fresh_ms.setdefault(turn.arm, []).append(1e3 * elapsed)


def _request(plan: Plan, arm: str, prompt: Prompt) -> dict[str, Any]:
    """What `generate` needs to know, but for the number of tokens."""
    kind = find(arm)
    common = {"tokens": prompt.tokens, "stops": prompt.stops}
    if not kind.native:
        return common
    sampling = {"temperature": plan.temperature, "seed": plan.seed}
    return {**common, "source": prompt.source, "sampling": sampling, "drafting": kind.drafting}


def begin_watch(results: Results, notify: Notify) -> Watch:
    """The sensor of the machine, if it has one, and its idle power."""
    watch = Watch(results)
    if watch.there:
        notify("measuring the idle power")
        watch.idle()
    return watch


def take_turn(
    plan: Plan, turn: Turn, workers: Mapping[str, Worker], results: Results, watch: Watch, at: float
) -> Sample:
    """One answer of one arm, into `results`."""
    prompt = results.prompts[turn.item]
    request = _request(plan, turn.arm, prompt)
    with watch:
        reply = workers[turn.arm].ask("generate", **request, max_tokens=plan.max_tokens)
    sample = _sample(turn.arm, turn.item, turn.run, len(prompt.tokens), reply)
    sample = replace(sample, at=at, joules=watch.joules, work=counted(sample, reply, results.model))
    results.samples.append(sample)
    results.ids.setdefault((turn.arm, turn.item), []).append(list(reply["ids"]))
    if reply.get("peak_rss") and find(turn.arm).alone:
        results.peak_rss[turn.arm] = max(results.peak_rss.get(turn.arm, 0), reply["peak_rss"])
    return sample


def warm_up(plan: Plan, workers: Mapping[str, Worker], results: Results, notify: Notify) -> None:
    """A few tokens of every arm, untimed."""
    for arm in plan.arms:
        notify(f"{arm}: warming up")
        short = min(WARM_UP_TOKENS, plan.max_tokens)
        workers[arm].ask("generate", **_request(plan, arm, results.prompts[0]), max_tokens=short)


def _prompts(plan: Plan, workers: Mapping[str, Worker], results: Results, notify: Notify) -> None:
    warm_up(plan, workers, results, notify)
    watch = begin_watch(results, notify)
    total = len(results.prompts) * plan.runs * len(plan.arms)
    started = time.perf_counter()
    for done, turn in enumerate(turns(plan.arms, len(results.prompts), plan.runs), 1):
        sample = take_turn(plan, turn, workers, results, watch, time.perf_counter() - started)
        left = (time.perf_counter() - started) / done * (total - done)
        name = results.prompts[turn.item].name
        notify(
            f"{turn.arm}: {name}, run {turn.run + 1} of {plan.runs} ({done}/{total}), "
            f"{left:.0f} s left: {_brief(sample)}"
        )


def _oracle(plan: Plan, workers: Mapping[str, Worker], results: Results, notify: Notify) -> None:
    """For the arms with a gate: how far their drafters would go if it knew the answers."""
    for arm in GATED:
        if arm not in plan.arms:
            continue
        notify(f"{arm}: oracle")
        for at, prompt in enumerate(results.prompts):
            ids = results.ids[arm, at][0]
            if len(ids) < 2:
                continue
            found = workers[arm].ask("oracle", tokens=prompt.tokens, source=prompt.source, ids=ids)
            plain_s = found["pass_s"] * (len(ids) - 1)
            one = Oracle(len(ids), int(found["passes"]), float(found["seconds"]), plain_s)
            results.oracle.setdefault(arm, {})[at] = one


def _priced(plan: Plan, workers: Mapping[str, Worker], results: Results, notify: Notify) -> None:
    """What the gated arms would take on a CPU with cheaper columns: simulated, by their own decisions."""
    for arm in GATED:
        if arm not in plan.arms:
            continue
        for at, prompt in enumerate(results.prompts):
            notify(f"{arm}: {prompt.name}, priced")
            found = workers[arm].ask(
                "priced",
                tokens=prompt.tokens,
                source=prompt.source,
                stops=prompt.stops,
                max_tokens=plan.max_tokens,
                drafting=find(arm).drafting,
                extra_column=plan.price_column,
            )
            plain_s = found["pass_s"] * max(0, int(found["tokens"]) - 1)
            one = Oracle(int(found["tokens"]), int(found["passes"]), float(found["seconds"]), plain_s)
            results.priced.setdefault(arm, {})[at] = one


def _verify(worker: Worker, results: Results, notify: Notify) -> None:
    for at, prompt in enumerate(results.prompts):
        notify(f"{REFERENCE}: {prompt.name}, its own text {VERIFY_WIDTH} tokens a pass")
        ids = results.ids[REFERENCE, at][0]
        if len(ids) < 2:
            continue
        found = worker.ask("verify", tokens=prompt.tokens, ids=ids, width=VERIFY_WIDTH)
        results.verified[at] = Verified(len(ids) - 1, list(found["differing"]))


def _sample(arm: str, prompt: int, run: int, prompt_tokens: int, reply: Mapping[str, Any]) -> Sample:
    return Sample(
        arm=arm,
        prompt=prompt,
        run=run,
        prompt_tokens=prompt_tokens,
        generated_tokens=len(reply["ids"]),
        passes=int(reply["passes"]),
        prefill_s=float(reply["prefill_s"]),
        decode_s=float(reply["decode_s"]),
        first_token_s=reply["first_token_s"],
        cpu_s=float(reply["cpu_s"]),
        wall_s=float(reply["wall_s"]),
        tokens_by_source=dict(reply.get("tokens_by_source") or {}),
        drafts=dict(reply.get("drafts") or {}),
        head=dict(reply.get("head") or {}),
        decode_work=dict(reply.get("decode_work") or {}),
        screen=dict(reply.get("screen") or {}),
    )


def _brief(sample: Sample) -> str:
    parts = []
    if sample.prefill_s > 0:
        parts.append(f"prefill {sample.prompt_tokens / sample.prefill_s:.0f} tok/s")
    if sample.decode_s > 0 and sample.generated_tokens:
        parts.append(f"decode {sample.generated_tokens / sample.decode_s:.1f} tok/s")
    return ", ".join(parts) or "no token"


def _filled(results: Results, count: int) -> list[int]:
    """A synthetic prompt of exactly `count` tokens: the prompts one after another, from the start again
    when they are used up. The first token (begin of text, where the model has one) stays in front."""
    pool = [token for prompt in results.prompts for token in prompt.tokens]
    return [pool[i % len(pool)] for i in range(count)]


def _long_prefill(plan: Plan, workers: Mapping[str, Worker], results: Results, notify: Notify) -> None:
    tokens = _filled(results, plan.long_prefill)
    for turn in turns(plan.opposed, 1, plan.runs):
        seconds = float(workers[turn.arm].ask("prefill", tokens=tokens)["seconds"])
        results.long_prefill_s.setdefault(turn.arm, []).append(seconds)
        notify(
            f"{turn.arm}: prefill of {len(tokens)} tokens, run {turn.run + 1} of {plan.runs}: "
            f"{len(tokens) / seconds:.0f} tok/s"
        )


def _cost(plan: Plan, workers: Mapping[str, Worker], results: Results, notify: Notify) -> None:
    for arm in plan.opposed:
        workers[arm].ask("cost_begin", tokens=_filled(results, COST_CONTEXT))
        results.cost_ms[arm] = {width: [] for width in plan.widths}
    for turn in turns(plan.opposed, len(plan.widths), plan.runs):
        width = plan.widths[turn.item]
        found = workers[turn.arm].ask("cost", width=width, repeats=COST_REPEATS)["ms"]
        results.cost_ms[turn.arm][width] += found
        notify(
            f"{turn.arm}: pass over {width} tokens, run {turn.run + 1} of {plan.runs}: {min(found):.1f} ms"
        )
