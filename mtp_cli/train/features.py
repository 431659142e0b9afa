"""What a head sees of its backbone, from the engine itself: hidden states and cached keys and values.

A feature folder holds numbered shards of a few hundred sequences. Token i of a shard: `ids[i]`, the final
hidden state there `hidden[i]`, cached keys and values of the source layers `kv[layer, 0 | 1, i]`, and what
copying would have guessed in its place, `guess[i]` and `kind[i]`. All floats are float16. The tokens that all
prompts of a task begin with stand once, in `prefix-TASK.npz`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mtp_cli.bench.prompts import Asked, asked
from mtp_cli.engine import EngineError
from mtp_cli.engine_native import NativeEngine, copy_guesses
from mtp_cli.tasks.prompts import common_prefix
from mtp_cli.train.answers import Answer
from mtp_cli.train.errors import TrainError

SHARD = 256
"""Sequences a shard."""
FEWEST_IDS = 3
"""Tokens of an answer that is worth learning from."""

_UNLIKE = ("Aa bb", "9z", "(x", "\u00e9t\u00e9", '"so"')
"""Texts that begin so differently that their prompts share the instructions alone."""

Half = npt.NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Sequence_:
    """Where one sequence lies in its shard: tokens [begin, end), of which `begin` stands at position
    `prefix` and the answer starts at position `prompt`."""

    task: str
    split: str
    begin: int
    end: int
    prefix: int
    prompt: int


def capture_prefix(
    engine: NativeEngine, questions: Sequence[Asked], layers: Sequence[int]
) -> dict[str, object]:
    """Tokens that all `questions` begin with, and their cached keys and values [layer, 2, n, kv]."""
    tokens = questions[0].tokens
    length = min(common_prefix(tokens, other.tokens) for other in questions[1:])
    engine.rollback(0)
    if length:
        engine.capture(tokens[:length], [])
    return {"ids": np.array(tokens[:length], np.int32), "kv": _cached(engine, layers, 0, length)}


def _cached(engine: NativeEngine, layers: Sequence[int], begin: int, end: int) -> Half:
    """[layer, 2, end - begin, n_head_kv * head_dim]"""
    pairs = [engine.read_cache(layer, begin, end) for layer in layers]
    return np.stack([np.stack([a.reshape(end - begin, -1) for a in pair]) for pair in pairs])


class FeatureStore:
    """A feature folder of one model, one choice of layers and one file of answers."""

    def __init__(self, folder: Path, layers: Sequence[int]) -> None:
        self.folder = folder
        self.layers = list(layers)

    def shards(self) -> list[Path]:
        """Whole shards, in order."""
        return sorted(path for path in self.folder.glob("shard-*") if path.suffix != ".part")

    def write(self, engine: NativeEngine, model: Path, answers: Sequence[Answer]) -> Iterator[int]:
        """Capture what is not there yet; yields the number of finished sequences after every shard."""
        self.folder.mkdir(parents=True, exist_ok=True)
        prefixes: dict[str, npt.NDArray[np.int32]] = {}
        answers = [answer for answer in answers if len(answer.ids) >= FEWEST_IDS]
        for task in sorted({answer.task for answer in answers}):
            some = [asked(engine, text, task, model) for text in _UNLIKE]
            found = capture_prefix(engine, some, self.layers)
            np.savez(self.folder / f"prefix-{task}.npz", **found)  # type: ignore[arg-type]
            prefixes[task] = found["ids"]  # type: ignore[assignment]
        for number, first in enumerate(range(0, len(answers), SHARD)):
            part = answers[first : first + SHARD]
            path = self.folder / f"shard-{number:04d}-{len(part)}"
            if not path.exists():
                _write_shard(path, engine, model, part, self.layers, prefixes)
                for other in self.folder.glob(f"shard-{number:04d}-*"):
                    if other != path:  # a shorter one, from before there were more answers
                        shutil.rmtree(other)
            yield first + len(part)


def _rewound(engine: NativeEngine, length: int) -> bool:
    """Whether the cache could go back to its first `length` positions."""
    try:
        engine.rollback(length)
    except EngineError:
        return False
    return True


def _write_shard(
    path: Path,
    engine: NativeEngine,
    model: Path,
    answers: Iterable[Answer],
    layers: Sequence[int],
    prefixes: dict[str, npt.NDArray[np.int32]],
) -> None:
    rows: dict[str, list[npt.NDArray[np.generic]]] = {k: [] for k in ("ids", "hidden", "kv", "guess", "kind")}
    table: list[Sequence_] = []
    at = 0
    held = ""
    for answer in sorted(answers, key=lambda a: a.task):
        question = asked(engine, answer.text, answer.task, model)
        shared = len(prefixes[answer.task])
        if question.tokens[:shared] != prefixes[answer.task].tolist():
            continue
        tokens = question.tokens + answer.ids
        if held != answer.task or not _rewound(engine, shared):
            engine.rollback(0)
            if shared:
                engine.capture(question.tokens[:shared], [])
            held = answer.task
        hidden, _, _ = engine.capture(tokens[shared:], [])
        try:
            cached = _cached(engine, layers, shared, len(tokens))
        except EngineError:  # longer than a sliding window's ring: not worth a cache of its own
            continue
        guess, kind = copy_guesses(question.tokens, question.source, answer.ids)
        rows["ids"].append(np.array(tokens[shared:], np.int32))
        rows["hidden"].append(hidden.astype(np.float16))
        rows["kv"].append(cached)
        rows["guess"].append(guess[shared:])
        rows["kind"].append(kind[shared:].astype(np.int8))
        n = len(tokens) - shared
        table.append(Sequence_(answer.task, answer.split, at, at + n, shared, len(question.tokens)))
        at += n
    if not table:
        raise TrainError("none of these answers can be learnt from: their texts are too long for the model")
    part = path.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    for name, arrays in rows.items():
        np.save(part / f"{name}.npy", np.concatenate(arrays, axis=2 if name == "kv" else 0))
    (part / "table.json").write_text(json.dumps([asdict(row) for row in table]))
    part.rename(path)
