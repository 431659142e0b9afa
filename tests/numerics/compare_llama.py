"""How often engine and llama.cpp choose the same token on the product's own prompts and answers, and how
often llama.cpp chooses the same token as itself when it is fed in passes of another width.

python -m tests.numerics.compare_llama --model smollm2-135m --task proofread --prompts FILE --limit 100
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .compare_f32 import BLOCK, model_path
from .reference_llama import STEP, LlamaReference

if TYPE_CHECKING:
    from mtp_cli.engine import Engine

Ids = npt.NDArray[np.int64]
PAIRS = (("native", "llama-1"), ("native", f"llama-{STEP}"), ("llama-1", f"llama-{STEP}"))


def _sequences(engine: Engine, path: Path, task: str, texts: Sequence[str]) -> Iterator[list[int]]:
    """Prompt and greedy answer of each text."""
    from mtp_cli.bench.prompts import asked
    from mtp_cli.bench.stops import Stops
    from mtp_cli.events import StepEvent
    from mtp_cli.generate import generate

    for text in texts:
        question = asked(engine, text, task, path)
        events = generate(
            engine, question.tokens, max_tokens=96, source=question.source, gate=Stops(question.stops)
        )
        yield question.tokens + [event.token for event in events if isinstance(event, StepEvent)]


def _native_choices(engine: Engine, tokens: Sequence[int]) -> Ids:
    engine.rollback(0)
    rows = (engine.logits(tokens[at : at + BLOCK]).argmax(-1) for at in range(0, len(tokens), BLOCK))
    return np.concatenate(list(rows))


def compare(
    path: Path, task: str, texts: Sequence[str], llama: LlamaReference
) -> Iterator[dict[str, tuple[int, int]]]:
    """After each text: for each pair, positions with the same choice and positions in all. What a prompt has
    in common with the one before it (the instructions) counts once."""
    from mtp_cli.engine import open_engine
    from mtp_cli.tasks.prompts import common_prefix

    same = dict.fromkeys(PAIRS, 0)
    positions = 0
    engine = open_engine(path, n_ctx=2048)
    before: list[int] = []
    try:
        for tokens in _sequences(engine, path, task, texts):
            new = common_prefix(before, tokens)
            choices = {"native": _native_choices(engine, tokens)}
            for width in (1, STEP):
                rows = llama.logits(path, tokens, threads=2, width=width)
                choices[f"llama-{width}"] = np.asarray(rows).argmax(-1)
            for one, other in PAIRS:
                same[one, other] += int((choices[one] == choices[other])[new:].sum())
            positions += len(tokens) - new
            before = tokens
            yield {" = ".join(pair): (count, positions) for pair, count in same.items()}
    finally:
        engine.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the shares."""
    from mtp_cli.bench.prompts import read_texts

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="known model or path of a GGUF file")
    parser.add_argument("--task", choices=("summarize", "proofread"), required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=10)
    options = parser.parse_args(arguments)
    texts = [text.text for text in read_texts(options.prompts, options.limit)]
    shares: dict[str, tuple[int, int]] = {}
    with LlamaReference() as llama:
        for found in compare(model_path(options.model), options.task, texts, llama):
            shares = found
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for pair, (count, positions) in shares.items():
        print(f"{pair:24} {count} of {positions}  {100 * count / max(1, positions):.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
