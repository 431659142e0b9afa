"""Documents -> prompt texts for the tasks: split by document, balanced by source, in a fixed random order.

`python -m mtp_cli.train.prompt_texts --out FILE` writes them as JSON lines from the known corpora."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mtp_cli.train.documents import Document
from mtp_cli.train.noise import add_errors
from mtp_cli.train.passages import passages, proofread_texts

Task = Literal["summarize", "proofread"]
Split = Literal["train", "heldout"]

HELD_OUT = 0.05


@dataclass(frozen=True, slots=True)
class PromptText:
    """One text that a task is put to."""

    task: Task
    source: str
    doc: str
    split: Split
    text: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How many prompt texts are wanted, and each source's share of them (1 where none is given)."""

    counts: Mapping[Task, int] = field(default_factory=lambda: {"summarize": 5000, "proofread": 10000})
    weights: Mapping[str, float] = field(default_factory=dict)


def collect(documents: Sequence[Document], tasks: Sequence[Task], seed: int, limits: Limits) -> list[PromptText]:
    """The prompt texts of `tasks`, tasks mixed evenly. The same arguments give the same list."""
    held_out = held_out_documents(documents)
    mixed: list[tuple[float, PromptText]] = []
    for task in tasks:
        rng = random.Random(f"{seed}/{task}")
        supply = _supply(task, documents, held_out, rng)
        chosen = _chosen(supply, limits.counts.get(task, 0), limits.weights, rng)
        mixed += [((place + 0.5) / len(chosen), prompt) for place, prompt in enumerate(chosen)]
    return [prompt for _, prompt in sorted(mixed, key=lambda item: item[0])]


def held_out_documents(documents: Iterable[Document]) -> set[tuple[str, str]]:
    """(source, doc_id) of about 5 % of each source's documents, at least one if it has several."""
    by_source: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        by_source[document.source].append(document.doc_id)
    held: set[tuple[str, str]] = set()
    for source, names in by_source.items():
        count = max(1, round(HELD_OUT * len(names))) if len(names) > 1 else 0
        ranked = sorted(names, key=lambda name: hashlib.sha256(f"{source}/{name}".encode()).digest())
        held |= {(source, name) for name in ranked[:count]}
    return held


def _supply(
    task: Task, documents: Sequence[Document], held_out: set[tuple[str, str]], rng: random.Random
) -> dict[str, list[PromptText]]:
    """All the texts there are for `task` by source, in random order."""
    supply: dict[str, list[PromptText]] = defaultdict(list)
    for document in documents:
        split: Split = "heldout" if (document.source, document.doc_id) in held_out else "train"
        texts = passages(document, rng) if task == "summarize" else proofread_texts(document, rng)
        supply[document.source] += [
            PromptText(task, document.source, document.doc_id, split, text) for text in dict.fromkeys(texts)
        ]
    for prompts in supply.values():
        rng.shuffle(prompts)
    return supply


def _chosen(
    supply: Mapping[str, list[PromptText]], count: int, weights: Mapping[str, float], rng: random.Random
) -> list[PromptText]:
    quotas = shares({source: len(prompts) for source, prompts in supply.items()}, count, weights)
    chosen = [prompt for source, prompts in supply.items() for prompt in prompts[: quotas[source]]]
    rng.shuffle(chosen)
    return [_noisy(prompt, rng) if prompt.task == "proofread" else prompt for prompt in chosen]


def _noisy(prompt: PromptText, rng: random.Random) -> PromptText:
    return PromptText(prompt.task, prompt.source, prompt.doc, prompt.split, add_errors(prompt.text, rng))


def shares(available: Mapping[str, int], count: int, weights: Mapping[str, float]) -> dict[str, int]:
    """How many of `count` each source gives: by weight, and what a small one lacks the others give."""
    quotas = dict.fromkeys(available, 0)
    left = min(count, sum(available.values()))
    while left:
        open_sources = [source for source in sorted(available) if quotas[source] < available[source]]
        total = sum(weights.get(source, 1.0) for source in open_sources)
        before = left
        for source in open_sources:
            fair = max(1, int(before * weights.get(source, 1.0) / total))
            step = min(fair, available[source] - quotas[source], left)
            quotas[source] += step
            left -= step
    return quotas
