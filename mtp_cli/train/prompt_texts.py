"""Documents -> prompt texts for the tasks: split by document, balanced by source, in a fixed random order.

`python -m mtp_cli.train.prompt_texts --out FILE` writes them as JSON lines from the known corpora."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from mtp_cli.catalog.cache import cache_dir
from mtp_cli.exits import ExitStatus, UserError
from mtp_cli.train.corpora import gather, load_corpora
from mtp_cli.train.documents import Document
from mtp_cli.train.noise import add_errors
from mtp_cli.train.passages import passages, proofread_texts
from mtp_cli.train.texts import read_texts

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


def collect(
    documents: Sequence[Document], tasks: Sequence[Task], seed: int, limits: Limits
) -> list[PromptText]:
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
    """All the texts there are for `task` by source, in random order, none twice."""
    cut = passages if task == "summarize" else proofread_texts
    supply: dict[str, list[PromptText]] = defaultdict(list)
    seen: set[str] = set()
    for document in documents:
        split: Split = "heldout" if (document.source, document.doc_id) in held_out else "train"
        for text in cut(document, rng):
            if text not in seen:
                seen.add(text)
                supply[document.source].append(
                    PromptText(task, document.source, document.doc_id, split, text)
                )
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
    return replace(prompt, text=add_errors(prompt.text, rng))


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


def write_prompts(prompts: Iterable[PromptText], path: Path) -> None:
    """One JSON object a line; the file is there whole or not at all. Raises OSError."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8") as file:
        for prompt in prompts:
            file.write(json.dumps(asdict(prompt), ensure_ascii=False) + "\n")
    partial.replace(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point for people who work on heads; `mtp train` calls `collect` itself."""
    parser = argparse.ArgumentParser(prog="python -m mtp_cli.train.prompt_texts")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--summarize", type=int, default=5000, metavar="N", help="passages to summarise")
    parser.add_argument("--proofread", type=int, default=10000, metavar="N", help="texts to proofread")
    parser.add_argument("--cache", type=Path, default=None, help="folder for the downloaded corpora")
    parser.add_argument("texts", type=Path, nargs="*", help="own files and folders instead of the corpora")
    options = parser.parse_args(arguments)
    try:
        documents, weights, missing = _documents(options.texts, options.cache or cache_dir() / "corpora")
        limits = Limits({"summarize": options.summarize, "proofread": options.proofread}, weights)
        write_prompts(collect(documents, ("summarize", "proofread"), options.seed, limits), options.out)
    except (UserError, OSError) as error:
        sys.stderr.write(f"mtp: {error}\n")
        return ExitStatus.ERROR
    sys.stderr.writelines(f"mtp: {line}\n" for line in missing)
    return ExitStatus.OK


def _documents(texts: Sequence[Path], cache: Path) -> tuple[list[Document], dict[str, float], list[str]]:
    """(documents, weights of their sources, what was left out)."""
    if texts:
        return read_texts(texts), {}, []
    corpora = load_corpora()
    documents, missing = gather(corpora.values(), cache)
    if not documents:
        raise UserError(f"no corpus could be fetched; {missing[0]}")
    return documents, {name: corpus.weight for name, corpus in corpora.items()}, missing


if __name__ == "__main__":
    sys.exit(main())
