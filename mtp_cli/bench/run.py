"""The benchmark itself: workers take turns on the prompts, a long prefill and the verify-cost curve.

Only one worker computes at a time. Results are filled in as they come: whoever interrupts `measure` still
has everything measured so far.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtp_cli.bench import machine
from mtp_cli.bench.client import COMMANDS, BenchError, Worker
from mtp_cli.bench.prompts import Text
from mtp_cli.bench.protocol import KIND_MISSING
from mtp_cli.bench.results import PLAIN, Prompt, Results, Sample
from mtp_cli.bench.schedule import turns
from mtp_cli.threads import default_threads

LONG_PREFILL = 512
"""Tokens of the synthetic prompt whose prefill is timed."""
COST_CONTEXT = 256
"""Tokens in the cache while the verify cost is measured."""
COST_WIDTHS = tuple(range(1, 9))
COST_REPEATS = 3
"""Timed passes a turn, for each width."""
CONTEXT_STEP = 256
WARM_UP_TOKENS = 8

Notify = Callable[[str], None]
"""Told in a few words what is going on."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure. `threads` 0 leaves the number to the engine; then every arm gets that number."""

    model: Path
    texts: Sequence[Text]
    arms: Sequence[str] = ("reference", "plain")
    task: str = "summarize"
    max_tokens: int = 128
    threads: int = 0
    runs: int = 5
    long_prefill: int = LONG_PREFILL
    widths: Sequence[int] = COST_WIDTHS
    commands: Mapping[str, Sequence[str]] = field(default_factory=lambda: dict(COMMANDS))


def context_size(longest_prompt: int, max_tokens: int, long_prefill: int) -> int:
    """Positions that every measurement fits into, rounded up: the same cache for every arm."""
    need = max(longest_prompt + max_tokens, long_prefill, COST_CONTEXT + 16)
    return -(-need // CONTEXT_STEP) * CONTEXT_STEP


def prepare(plan: Plan, results: Results) -> int:
    """Texts -> token ids, by a process of its own, so that it costs the measured ones nothing.

    Fills prompts, model, settings and machine; returns n_ctx. Raises BenchError. A prompt that is too
    long for the model is left out with a note."""
    arm = PLAIN if PLAIN in plan.commands else plan.arms[0]
    with contextlib.ExitStack() as stack:
        worker = stack.enter_context(Worker(arm, plan.commands[arm]))
        try:
            opened = worker.ask("open", model=str(plan.model), n_ctx=0, threads=plan.threads)
        except BenchError as error:
            if error.kind != KIND_MISSING or PLAIN in plan.arms or plan.task != "free":
                raise
            arm = plan.arms[0]
            worker = stack.enter_context(Worker(arm, plan.commands[arm]))
            threads = plan.threads or default_threads()
            opened = worker.ask("open", model=str(plan.model), n_ctx=0, threads=threads)
        texts = [text.text for text in plan.texts]
        tokens = worker.ask("prompts", texts=texts, task=plan.task, model=str(plan.model))["tokens"]
    room = int(opened["info"].get("n_ctx_train") or opened["n_ctx"]) - plan.max_tokens
    for text, ids in zip(plan.texts, tokens, strict=True):
        if not ids or len(ids) > room:
            results.notes.append(f"{text.name} left out: {len(ids)} tokens, the model takes 1 to {room}")
        else:
            results.prompts.append(Prompt(text.name, list(ids)))
    if not results.prompts:
        raise BenchError("no prompt fits the model; use shorter texts or fewer --max-tokens")
    results.machine = machine.describe()
    results.model = {"file": plan.model.name, **opened["info"]}
    n_ctx = context_size(max(len(p.tokens) for p in results.prompts), plan.max_tokens, plan.long_prefill)
    results.settings = {
        "task": plan.task,
        "threads": opened["threads"],
        "runs": plan.runs,
        "max_tokens": plan.max_tokens,
        "n_ctx": n_ctx,
        "long_prefill_tokens": plan.long_prefill,
        "cost_context_tokens": COST_CONTEXT,
        "order": "A B B A",
    }
    return n_ctx


def measure(plan: Plan, results: Results, notify: Notify) -> None:
    """Everything, into `results`. Raises BenchError; on that and on KeyboardInterrupt all workers end."""
    notify("reading the prompts")
    n_ctx = prepare(plan, results)
    threads = results.settings["threads"]
    _fresh(plan, results, n_ctx, notify)
    workers: dict[str, Worker] = {}
    with contextlib.ExitStack() as stack:
        for arm in plan.arms:
            notify(f"{arm}: loading the model")
            workers[arm] = stack.enter_context(Worker(arm, plan.commands[arm]))
            opened = workers[arm].ask("open", model=str(plan.model), n_ctx=n_ctx, threads=threads)
            results.opened[arm] = opened
            if opened["threads"] != threads:
                raise BenchError(f"arm {arm} runs {opened['threads']} threads instead of {threads}")
        _prompts(plan, workers, results, notify)
        if plan.long_prefill:
            _long_prefill(plan, workers, results, notify)
        if plan.widths:
            _cost(plan, workers, results, notify)
        for arm, worker in workers.items():
            if worker.idle_s > 0:
                results.idle_cpu[arm] = worker.idle_cpu_s / worker.idle_s
    results.machine["load_average_after"] = machine.load_average()
    results.complete = True


def _fresh(plan: Plan, results: Results, n_ctx: int, notify: Notify) -> None:
    """Process start to first token, a new process for every run; one more before to fill the page cache."""
    prompt = results.prompts[0]
    for turn in turns(plan.arms, 1, plan.runs + 1):
        notify(f"{turn.arm}: process start to first token, run {turn.run} of {plan.runs}")
        with Worker(turn.arm, plan.commands[turn.arm]) as worker:
            worker.send("open", model=str(plan.model), n_ctx=n_ctx, threads=results.settings["threads"])
            worker.send("generate", tokens=prompt.tokens, max_tokens=1)
            worker.receive()
            reply = worker.receive()
            elapsed = worker.answered_after
        if turn.run and reply["first_token_s"] is not None:
            results.fresh_ms.setdefault(turn.arm, []).append(1e3 * elapsed)


def _prompts(plan: Plan, workers: Mapping[str, Worker], results: Results, notify: Notify) -> None:
    for arm, worker in workers.items():
        notify(f"{arm}: warming up")
        short = min(WARM_UP_TOKENS, plan.max_tokens)
        worker.ask("generate", tokens=results.prompts[0].tokens, max_tokens=short)
    total = len(results.prompts) * plan.runs * len(plan.arms)
    for done, turn in enumerate(turns(plan.arms, len(results.prompts), plan.runs), 1):
        prompt = results.prompts[turn.item]
        reply = workers[turn.arm].ask("generate", tokens=prompt.tokens, max_tokens=plan.max_tokens)
        sample = _sample(turn.arm, turn.item, turn.run, len(prompt.tokens), reply)
        results.samples.append(sample)
        results.ids.setdefault((turn.arm, turn.item), []).append(list(reply["ids"]))
        if reply.get("peak_rss"):
            results.peak_rss[turn.arm] = max(results.peak_rss.get(turn.arm, 0), reply["peak_rss"])
        notify(
            f"{turn.arm}: {prompt.name}, run {turn.run + 1} of {plan.runs} ({done}/{total}): {_brief(sample)}"
        )


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
    for turn in turns(plan.arms, 1, plan.runs):
        seconds = float(workers[turn.arm].ask("prefill", tokens=tokens)["seconds"])
        results.long_prefill_s.setdefault(turn.arm, []).append(seconds)
        notify(
            f"{turn.arm}: prefill of {len(tokens)} tokens, run {turn.run + 1} of {plan.runs}: "
            f"{len(tokens) / seconds:.0f} tok/s"
        )


def _cost(plan: Plan, workers: Mapping[str, Worker], results: Results, notify: Notify) -> None:
    for arm, worker in workers.items():
        worker.ask("cost_begin", tokens=_filled(results, COST_CONTEXT))
        results.cost_ms[arm] = {width: [] for width in plan.widths}
    for turn in turns(plan.arms, len(plan.widths), plan.runs):
        width = plan.widths[turn.item]
        found = workers[turn.arm].ask("cost", width=width, repeats=COST_REPEATS)["ms"]
        results.cost_ms[turn.arm][width] += found
        notify(
            f"{turn.arm}: pass over {width} tokens, run {turn.run + 1} of {plan.runs}: {min(found):.1f} ms"
        )
