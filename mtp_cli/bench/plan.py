"""What to measure, and getting ready for it: texts become token ids, the context its size."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mtp_cli.bench import machine
from mtp_cli.bench.arms import DEFAULT_ARMS, NATIVE, PLAIN, REFERENCE, find
from mtp_cli.bench.client import COMMANDS, BenchError, Worker
from mtp_cli.bench.prompts import FREE, TASKS, Text, with_tasks
from mtp_cli.bench.protocol import KIND_MISSING
from mtp_cli.bench.results import Prompt, Results
from mtp_cli.threads import default_threads

LONG_PREFILL = 512
"""Tokens of the synthetic prompt whose prefill is timed."""
COST_CONTEXT = 256
"""Tokens in the cache while the verify cost is measured."""
COST_WIDTHS = tuple(range(1, 9))
CONTEXT_STEP = 256


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure. `threads` 0 leaves the number to the engine; then every arm gets that number.

    `temperature` above 0 and `seed` make every arm sample. `fresh`: also process start to first token.
    `verify`: also feed the reference its own text several tokens a pass. `lenient`: the rule of the
    lenient arms among `arms`, or "". `head`: the draft head, where it is not the model's own.
    `price_column`: above 0, the gated arms are also priced for a CPU where a further column costs that
    much. `sustained`: above 0, only answers are asked for, over so many minutes."""

    model: Path
    texts: Sequence[Text]
    arms: Sequence[str] = DEFAULT_ARMS
    task: str = "summarize"
    max_tokens: int = 128
    threads: int = 0
    runs: int = 5
    temperature: float = 0.0
    seed: int = 0
    fresh: bool = True
    long_prefill: int = LONG_PREFILL
    widths: Sequence[int] = COST_WIDTHS
    verify: bool = False
    lenient: str = ""
    head: Path | None = None
    price_column: float = 0.0
    sustained: float = 0.0
    commands: Mapping[str, Sequence[str]] = field(default_factory=lambda: dict(COMMANDS))

    def command(self, arm: str) -> Sequence[str]:
        return self.commands[find(arm).command]

    @property
    def opposed(self) -> list[str]:
        """The arms that stand for what drafting does not change: the reference and one native arm."""
        native = [arm for arm in self.arms if find(arm).native]
        one = [PLAIN] if PLAIN in native else native[:1]
        return [arm for arm in self.arms if arm == REFERENCE or arm in one]


def context_size(longest_prompt: int, max_tokens: int, long_prefill: int) -> int:
    """Positions that every measurement fits into, rounded up: the same cache for every arm."""
    need = max(longest_prompt + max_tokens, long_prefill, COST_CONTEXT + 16)
    return -(-need // CONTEXT_STEP) * CONTEXT_STEP


def without_sampled_reference(plan: Plan, results: Results) -> Plan:
    """The reference is greedy: a sampled run goes without it, with a note. Raises BenchError when no arm
    is left."""
    if plan.temperature <= 0 or REFERENCE not in plan.arms:
        return plan
    arms = [arm for arm in plan.arms if arm != REFERENCE]
    if not arms:
        raise BenchError("the reference arm is greedy: use --temperature 0, or other arms")
    results.arms = arms
    results.notes.append("the reference arm is greedy and was left out of this sampled run")
    return replace(plan, arms=arms)


def _ask_prompts(plan: Plan, texts: Sequence[Text]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(answer to `open`, answer to `prompts`), from a process of its own."""
    asked = {"texts": [t.text for t in texts], "tasks": [t.task for t in texts], "model": str(plan.model)}
    with contextlib.ExitStack() as stack:
        name = PLAIN if NATIVE in plan.commands else plan.arms[0]
        worker = stack.enter_context(Worker(name, plan.command(name)))
        try:
            opened = worker.ask("open", model=str(plan.model), n_ctx=0, threads=plan.threads)
        except BenchError as error:
            native = [arm for arm in plan.arms if find(arm).native]
            if error.kind != KIND_MISSING or native or any(text.task != FREE for text in texts):
                raise
            name = plan.arms[0]
            worker = stack.enter_context(Worker(name, plan.command(name)))
            threads = plan.threads or default_threads()
            opened = worker.ask("open", model=str(plan.model), n_ctx=0, threads=threads)
        return opened, worker.ask("prompts", **asked)


def prepare(plan: Plan, results: Results) -> int:
    """Texts -> token ids, by a process of its own, so that it costs the measured ones nothing.

    Fills prompts, model, settings and machine; returns n_ctx. Raises BenchError. A prompt that is too
    long for the model is left out with a note."""
    texts = with_tasks(plan.texts, plan.task)
    opened, found = _ask_prompts(plan, texts)
    room = int(opened["info"].get("n_ctx_train") or opened["n_ctx"]) - plan.max_tokens
    for text, ids, source, stops in zip(
        texts, found["tokens"], found["sources"], found["stops"], strict=True
    ):
        if not ids or len(ids) > room:
            results.notes.append(f"{text.name} left out: {len(ids)} tokens, the model takes 1 to {room}")
        else:
            results.prompts.append(Prompt(text.name, list(ids), text.task, list(source), list(stops)))
    if not results.prompts:
        raise BenchError("no prompt fits the model; use shorter texts or fewer --max-tokens")
    results.machine = machine.describe()
    results.model = {"file": plan.model.name, **opened["info"]}
    n_ctx = context_size(max(len(p.tokens) for p in results.prompts), plan.max_tokens, plan.long_prefill)
    results.settings = {
        "task": " and ".join(sorted({prompt.task for prompt in results.prompts}, key=TASKS.index)),
        "threads": opened["threads"],
        "runs": plan.runs,
        "max_tokens": plan.max_tokens,
        "temperature": plan.temperature,
        "seed": plan.seed,
        "n_ctx": n_ctx,
        "long_prefill_tokens": plan.long_prefill,
        "cost_context_tokens": COST_CONTEXT,
        "order": "A B B A",
        "lenient": plan.lenient or None,
        "price_column": plan.price_column or None,
        "sustained_minutes": plan.sustained or None,
    }
    return n_ctx
