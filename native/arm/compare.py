"""Compare what an Arm CPU made of the tiny models with what this machine makes of the same files.

    python3 native/arm/compare.py FOLDER...                   folders that test_engine wrote
    python3 native/arm/compare.py --greedy MODEL N TEXT       N tokens after TEXT, as test_engine prints them

Prints a line a folder. Exit code 1 when tokens differ, or logits by more than BOUND of their range. It needs
mtp installed here, and says when it is not.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

BOUND = 1e-3
"""Largest difference of a logit, as a share of the range of all logits, that the C library's sine, cosine and
exponential may cause: they are the only operations that are not the same on every machine."""


def main(folders: list[str]) -> int:
    """The exit code."""
    try:
        import numpy as np

        import mtp_cli._native  # noqa: F401
        from mtp_cli.engine import open_engine
    except ImportError as error:
        print(f"not compared with this machine: {error}")
        return 0
    if folders[:1] == ["--greedy"]:
        engine = open_engine(Path(folders[1]), n_ctx=512, n_threads=1)
        print(*_greedy(engine, engine.tokenize(folders[3]), int(folders[2])))
        return 0
    status = 0
    wanted: dict[str, tuple[object, list[int]]] = {}
    for folder in map(Path, folders):
        equal, worst = 0, 0.0
        models = sorted(folder.glob("*.gguf"))
        for model in models:
            tokens = _tokens()
            if model.name not in wanted:
                engine = open_engine(model, n_ctx=512, n_threads=1)
                rows = np.concatenate([engine.logits([token]) for token in tokens])
                engine.rollback(0)
                ids = _greedy(engine, tokens, 12)
                engine.close()
                wanted[model.name] = (rows, ids)
            want, want_ids = wanted[model.name]
            rows = np.fromfile(model.with_suffix(".logits"), np.float32).reshape(want.shape)
            ids = np.fromfile(model.with_suffix(".tokens"), np.int32).tolist()
            difference = float(np.abs(rows - want).max() / np.ptp(want))
            equal += bool((rows.view(np.uint32) == want.view(np.uint32)).all())
            worst = max(worst, difference)
            if ids != want_ids or difference > BOUND:
                print(f"{folder.name}: {model.stem}: tokens {ids} and {want_ids}, off by {difference:.2g}")
                status = 1
        print(
            f"{folder.name} and this machine: {len(models)} models, every bit of the logits in {equal}, "
            f"else off by at most {worst:.2g} of their range"
        )
    return status


def _greedy(engine: Any, prompt: list[int], count: int) -> list[int]:
    """`count` tokens after `prompt`, which nothing is in front of."""
    ids = [engine.prefill(prompt)]
    while len(ids) < count:
        ids += engine.decode([ids[-1]])
    return ids


def _tokens() -> list[int]:
    """The tokens that test_engine feeds: its generator, seeded with 3."""
    mask = (1 << 64) - 1
    state = (3 * 0x9E3779B97F4A7C15 + 1) & mask
    tokens = []
    for _ in range(24):
        state ^= (state << 13) & mask
        state ^= state >> 7
        state ^= (state << 17) & mask
        tokens.append(3 + (state >> 32) % 290)
    return tokens


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
