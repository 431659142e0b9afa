"""What proofreading with everything on costs beside bare generation.

`python -m tests.jobs.proofread_cost --data FILE` (JSON lines with "source", or plain lines) makes paragraphs
of a few sentences and corrects each as `mtp proofread` does (every edit judged, with the helpers that are
installed) and as `mtp proofread --no-judge` does: the model writes each sentence anew, with the same prompt
and the same drafting (`--draft auto`). The two take turns in changing order, so that other work on the
machine meets both alike. Passes and tokens are counted too; loading is left out on both sides."""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mtp_cli.catalog.resolve import resolve
from mtp_cli.engine import open_engine
from mtp_cli.evaluate.proofreading import read_items
from mtp_cli.heads import attach_head
from mtp_cli.tasks.prompts import Template, template_for
from mtp_cli.tasks.proofread import Proofreader, Rules

_BATCH = 5
"""Sentences of a paragraph."""


class Counted:
    """An engine that notes passes and the tokens they take: with logits of every token, and without."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.counts: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def prefill(self, tokens: Sequence[int], progress: Any = None) -> Any:
        self.counts["prefills"] += 1
        self.counts["prefilled tokens"] += len(tokens)
        return self.engine.prefill(tokens, progress)

    def logits(self, tokens: Sequence[int]) -> Any:
        self.counts["scoring passes"] += 1
        self.counts["scored tokens"] += len(tokens)
        return self.engine.logits(tokens)

    def step(self) -> Any:
        found = self.engine.step()
        self.counts["writing passes"] += 1
        self.counts["written tokens"] += len(found.tokens)
        return found


def load(model: str | None, threads: int) -> tuple[Counted, Template]:
    """The model with its head, and its prompt."""
    found = resolve(model, offline=True)
    engine = open_engine(found.path, n_threads=threads)
    attach_head(engine, found.path, found.entry, mode="auto", head=None)
    prompts = found.entry.prompts if found.entry else None
    return Counted(engine), template_for("proofread", prompts, chat=engine.info.has_chat_template)


def measure(
    arms: dict[str, tuple[Counted, Proofreader]], texts: Sequence[str], runs: int
) -> list[list[float]]:
    """For each text a ratio of every run: seconds of `proofread` over those of `bare`. The first run of a
    text is the one that is counted."""
    ratios: list[list[float]] = []
    totals = {name: Counter[str]() for name in arms}
    for number, text in enumerate(texts):
        ratios.append([])
        for turn in range(runs):
            seconds = {}
            for name in sorted(arms, reverse=(number + turn) % 2 == 1):
                engine, proofreader = arms[name]
                engine.counts.clear()
                began = time.perf_counter()
                proofreader.run(text)
                seconds[name] = time.perf_counter() - began
                if not turn:
                    totals[name] += engine.counts
                    totals[name]["milliseconds"] += round(1000 * seconds[name])
            ratios[-1].append(seconds["proofread"] / seconds["bare"])
    for name, counts in totals.items():
        print(f"{name + ':':<12}{', '.join(f'{value} {what}' for what, value in sorted(counts.items()))}")
    return ratios


def interval(ratios: Sequence[float], draws: int = 2000) -> tuple[float, float]:
    """The middle 95 % of medians of texts drawn again, by a fixed seed."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the counts of both arms and the median ratio with its interval."""
    parser = argparse.ArgumentParser(prog="python -m tests.jobs.proofread_cost")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--skip", type=int, default=0, help="leave out the first N sentences")
    parser.add_argument("--limit", type=int, default=100, help="sentences")
    parser.add_argument("--runs", type=int, default=2, help="of each text")
    parser.add_argument("--model", default=None)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--helpers", default="harper,dictionary", help="names with commas, or nothing")
    options = parser.parse_args(arguments)
    items = read_items(options.data, options.skip + options.limit)[options.skip :]
    rows = [item.written for item in items]
    texts = [" ".join(rows[at : at + _BATCH]) for at in range(0, len(rows), _BATCH)]
    helpers = tuple(name for name in options.helpers.split(",") if name)
    rules = {"bare": Rules(judged=False), "proofread": Rules(judged=True, helpers=helpers)}
    arms = {}
    for name, rule in rules.items():
        engine, template = load(options.model, options.threads)
        arms[name] = engine, Proofreader(engine, template, rules=rule)
        arms[name][1].run(f"{rows[0]} The weather is nice today.")
    ratios = [statistics.median(row) for row in measure(arms, texts, options.runs)]
    low, high = interval(ratios)
    print(f"ratio:      {statistics.median(ratios):.2f} [{low:.2f}, {high:.2f}] over {len(texts)} texts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
