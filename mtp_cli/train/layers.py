"""Which backbone layers a head should read: measured on the model itself.

Copying: how much attention a layer's best head gives to the token that comes next in the text that is being
repeated. Foresight: how well a layer's input at one position tells, by least squares, the final state at the
next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mtp_cli.engine_native import NativeEngine

Floats = npt.NDArray[np.float32]
LONGEST = 120
"""Tokens of a text that are repeated."""
_ENOUGH = 24
"""Repeated texts that are looked at."""


@dataclass(frozen=True, slots=True)
class LayerScores:
    """By layer: attention mass on what is copied, and share of the next state's variance that is foreseen."""

    copying: list[float]
    foresight: list[float]


def repeats(engine: NativeEngine, texts: Iterable[str]) -> list[tuple[list[int], int]]:
    """(tokens, where the repetition begins): each text, a line break, the text again."""
    found: list[tuple[list[int], int]] = []
    for text in texts:
        once = engine.tokenize(text.strip() + "\n", bos=True)
        again = engine.tokenize(text.strip())[:LONGEST]
        if len(again) >= 12:
            found.append((once + again, len(once)))
        if len(found) == _ENOUGH:
            break
    return found


def score_layers(engine: NativeEngine, sequences: Sequence[tuple[list[int], int]]) -> LayerScores:
    """Scores over sequences of `repeats`. Needs a few seconds."""
    n_layer = engine.info.n_layer
    copying = np.zeros(n_layer)
    inputs: list[list[Floats]] = [[] for _ in range(n_layer)]
    states: list[Floats] = []
    for ids, again in sequences:
        engine.rollback(0)
        hidden, x, queries = engine.capture(ids, range(n_layer))
        states.append(hidden[1:])
        # the token behind place p of the text is looked for when p is repeated
        first = next((at for at in range(again) if ids[at : at + 3] == ids[again : again + 3]), 0)
        rows = np.arange(again, min(len(ids), 2 * again - first) - 1)
        wanted = rows - again + first + 1
        for layer in range(n_layer):
            inputs[layer].append(x[layer, :-1])
            keys, _ = engine.read_cache(layer, 0, len(ids))
            copying[layer] += _mass(queries[layer, rows], keys.astype(np.float32), rows, wanted)
    target = np.concatenate(states)
    foresight = [_foreseen(np.concatenate(part), target) for part in inputs]
    return LayerScores([float(c) / len(sequences) for c in copying], foresight)


def _mass(queries: Floats, keys: Floats, rows: npt.NDArray[np.intp], wanted: npt.NDArray[np.intp]) -> float:
    """Mean attention of the best head of a layer from `rows` to `wanted`."""
    n_kv, dim = keys.shape[1:]
    heads = queries.reshape(len(rows), -1, dim)
    group = heads.shape[1] // n_kv
    unseen = np.arange(len(keys))[None] > rows[:, None]
    best = 0.0
    for head in range(heads.shape[1]):
        scores = heads[:, head] @ keys[:, head // group].T
        scores[unseen] = -np.inf
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        best = max(best, float(weights[np.arange(len(rows)), wanted].mean()))
    return best


def _foreseen(x: Floats, target: Floats) -> float:
    """Held-out share of variance that a ridge regression explains."""
    x = x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6)
    cut = len(x) * 4 // 5
    gram = x[:cut].T @ x[:cut]
    gram += np.eye(len(gram), dtype=np.float32) * 0.1 * np.trace(gram) / len(gram)
    mean = target[:cut].mean(0)
    weights = np.linalg.solve(gram, x[:cut].T @ (target[:cut] - mean))
    rest = target[cut:] - mean
    return float(1 - ((x[cut:] @ weights - rest) ** 2).sum() / (rest**2).sum())


def choose_layers(scores: LayerScores, count: int) -> list[int]:
    """`count` layers: the best copiers, and among the rest the one with most foresight."""
    copiers = sorted(range(len(scores.copying)), key=lambda layer: -scores.copying[layer])[: count - 1]
    rest = [layer for layer in range(len(scores.foresight)) if layer not in copiers]
    return sorted([*copiers, max(rest, key=lambda layer: scores.foresight[layer])])
