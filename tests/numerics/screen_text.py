"""Whether screening names the tokens that the full output matrix does, on real text, and by how many rows.

python -m tests.numerics.screen_text --model gemma3-270m --positions 20000 --text FILE

For every position, in passes of 16 and in passes of one: the arg-max, and the ids and values of the 40
likeliest tokens, bit by bit. The exit code is 1 when any of them differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mtp_cli.bench.screening import GROUP, between, quantile

from .texts import english

WIDTH = 16
CONTEXT = 512
"""Tokens of a stretch of text; each begins with an empty cache."""
ALONE = 8
"""One stretch in so many is also taken a token a pass."""


@dataclass
class Counts:
    """Positions looked at, and those where something differs."""

    argmax: int = 0
    argmax_differs: int = 0
    top: int = 0
    top_differs: int = 0


def check(path: Path, tokens: Sequence[int], top_k: int) -> tuple[Counts, list[dict[str, Any]]]:
    """Counts, and what screening did for the arg-max and for the top-k."""
    from mtp_cli.engine import open_engine
    from mtp_cli.engine_native import NativeEngine

    counts = Counts()
    done: list[dict[str, Any]] = []
    engine = open_engine(path, n_ctx=CONTEXT)
    assert isinstance(engine, NativeEngine)
    native = engine._native
    try:
        for number, start in enumerate(range(0, len(tokens), CONTEXT)):
            stretch = list(tokens[start : start + CONTEXT])
            engine.rollback(0)
            for width in (WIDTH, 1) if number % ALONE == 0 else (WIDTH,):
                engine.rollback(0)
                for at in range(0, len(stretch), width):
                    part = stretch[at : at + width]
                    full = engine.logits(part)
                    engine.rollback(at)
                    done += [_argmax(native, part, full, counts), _top(native, part, full, top_k, counts, at)]
            if sys.stderr.isatty():
                print(f"\r{counts.argmax} positions", end="", file=sys.stderr)
    finally:
        engine.close()
    return counts, done


def _argmax(native: Any, part: list[int], full: npt.NDArray[np.float32], counts: Counts) -> dict[str, Any]:
    native.allow_screening(True)
    before, at = native.screen_stats(), native.length
    found = native.decode(part)
    native.rollback(at)
    counts.argmax += len(part)
    counts.argmax_differs += int((np.array(found) != full.argmax(axis=1)).sum())
    return {"what": "arg-max", **between(before, native.screen_stats())}


def _top(
    native: Any, part: list[int], full: npt.NDArray[np.float32], top_k: int, counts: Counts, at: int
) -> dict[str, Any]:
    """Leaves the tokens of the pass in the cache."""
    native.allow_screening(True)
    before = native.screen_stats()
    rows = native.candidates(part, top_k)
    assert len(rows) == len(part) and native.length == at + len(part)
    for logits, (ids, values) in zip(full, rows, strict=True):
        kth = np.partition(logits, len(logits) - top_k)[len(logits) - top_k]
        wanted = np.flatnonzero(logits >= kth)
        same = set(wanted.tolist()) <= set(ids) and np.array_equal(np.float32(values), logits[ids])
        counts.top += 1
        counts.top_differs += not same
    return {"what": f"top-{top_k}", **between(before, native.screen_stats())}


def report(counts: Counts, done: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        f"arg-max: {counts.argmax - counts.argmax_differs} of {counts.argmax} the same",
        f"likeliest tokens: {counts.top - counts.top_differs} of {counts.top} the same, ids and bits",
    ]
    for what in dict.fromkeys(one["what"] for one in done):
        found = [one for one in done if one["what"] == what]
        by = [sum(column) for column in zip(*(one["by_survivors"] for one in found), strict=True)]
        share = sum(one["survivors"] for one in found) / sum(one["groups"] for one in found)
        middle, most = quantile(by, 0.5), quantile(by, 0.99)
        assert middle is not None and most is not None
        lines.append(
            f"{what}: rows in full, median {GROUP * middle}, 99 % {GROUP * most} by pass; {share:.2%} of all"
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="known model or path of a GGUF file")
    parser.add_argument("--positions", type=int, default=20000)
    parser.add_argument("--top-k", type=int, default=40)
    parser.add_argument("--text", type=Path, help="a text file; without: the texts of the other tests")
    options = parser.parse_args(arguments)
    from mtp_cli import catalog
    from mtp_cli.engine import open_engine

    path = catalog.resolve(options.model).path
    text = options.text.read_text(encoding="utf-8") if options.text else english()
    engine = open_engine(path, n_ctx=64)
    tokens = engine.tokenize(text)[: options.positions]
    engine.close()
    if len(tokens) < options.positions:
        print(f"the text has {len(tokens)} tokens only", file=sys.stderr)
    counts, done = check(path, tokens, options.top_k)
    print("\n".join(report(counts, done)))
    return int(bool(counts.argmax_differs or counts.top_differs))


if __name__ == "__main__":
    sys.exit(main())
