"""Batches of draft positions from feature shards (features.py)."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mtp_cli.train.features import FeatureStore, Sequence_

PROMPT_SHARE = 0.15
"""Of the positions of a prompt, how many are visited beside all those of its answer."""


class Shard:
    """One shard, mapped."""

    def __init__(self, path: Path) -> None:
        self.table = [Sequence_(**row) for row in json.loads((path / "table.json").read_text())]
        arrays = {
            name: np.load(path / f"{name}.npy", mmap_mode="r")
            for name in ("ids", "hidden", "kv", "guess", "kind")
        }
        self.ids, self.hidden, self.kv = arrays["ids"], arrays["hidden"], arrays["kv"]
        self.guess, self.kind = arrays["guess"], arrays["kind"]


@dataclass(frozen=True, slots=True)
class Item:
    shard: Shard
    row: Sequence_

    @property
    def length(self) -> int:
        """Tokens of the whole sequence, the shared prefix included."""
        return self.row.prefix + self.row.end - self.row.begin

    @property
    def answer(self) -> int:
        """Tokens of the answer."""
        return self.length - self.row.prompt


@dataclass(frozen=True, slots=True)
class Batch:
    """B sequences, n positions each. Position t means: the state behind token t is known, and token t + 1.

    ids [B, T + 4]; hidden [B, T + 4, D] after the final norm, zero in the prefix; keys, values
    [source, B, kv_head, T, dim]; guess, kind [B, T + 4]; at [B, n] positions, valid [B, n]; prompt, length [B].
    """

    ids: Tensor
    hidden: Tensor
    keys: Tensor
    values: Tensor
    guess: Tensor
    kind: Tensor
    at: Tensor
    valid: Tensor
    prompt: Tensor
    length: Tensor


class Data:
    """All sequences of a feature folder, by split."""

    def __init__(self, store: FeatureStore, kv_heads: int) -> None:
        self._kv_heads = kv_heads
        self.items: dict[str, list[Item]] = {"train": [], "heldout": []}
        self._prefix: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for path in store.shards():
            shard = Shard(path)
            for row in shard.table:
                self.items[row.split].append(Item(shard, row))
        for path in store.folder.glob("prefix-*.npz"):
            found = np.load(path)
            self._prefix[path.stem.removeprefix("prefix-")] = (found["ids"], found["kv"])

    def answer_tokens(self, split: str = "train") -> int:
        return sum(item.answer for item in self.items[split])

    def counts(self, n_vocab: int) -> np.ndarray:
        """How often each token stands in the answers of the training split, prompts at a fifth."""
        total = np.zeros(n_vocab)
        for item in self.items["train"]:
            ids = item.shard.ids[item.row.begin : item.row.end]
            cut = item.row.prompt - item.row.prefix
            total += 0.2 * np.bincount(ids[:cut], minlength=n_vocab)
            total += np.bincount(ids[cut:], minlength=n_vocab)
        return total

    def batches(self, positions: int, rng: random.Random, prompt_share: float) -> Iterator[Batch]:
        """One epoch of the training split in batches of about `positions` visited positions."""
        items = self.items["train"]
        order = sorted(items, key=lambda item: item.length + 40 * rng.random())
        groups: list[list[Item]] = [[]]
        size = 0.0
        for item in order:
            visits = item.answer + prompt_share * (item.row.prompt - item.row.prefix)
            if groups[-1] and size + visits > positions:
                groups.append([])
                size = 0
            groups[-1].append(item)
            size += visits
        rng.shuffle(groups)
        for group in groups:
            yield self.batch(group, rng, prompt_share)

    def batch(self, items: Sequence[Item], rng: random.Random, prompt_share: float) -> Batch:
        longest = max(item.length for item in items)
        n_source = items[0].shard.kv.shape[0]
        width = items[0].shard.kv.shape[-1]
        ids = np.zeros((len(items), longest + 4), np.int64)
        hidden = np.zeros((len(items), longest + 4, items[0].shard.hidden.shape[1]), np.float32)
        kv = np.zeros((n_source, 2, len(items), longest, width), np.float32)
        guess, kind = np.zeros_like(ids), np.zeros_like(ids)
        chosen: list[list[int]] = []
        for b, item in enumerate(items):
            row, shard, n = item.row, item.shard, item.length
            prefix_ids, prefix_kv = self._prefix[row.task]
            part = slice(row.begin, row.end)
            ids[b, : row.prefix], ids[b, row.prefix : n] = prefix_ids, shard.ids[part]
            hidden[b, row.prefix : n] = shard.hidden[part]
            kv[:, :, b, : row.prefix], kv[:, :, b, row.prefix : n] = prefix_kv, shard.kv[:, :, part]
            guess[b, row.prefix : n] = np.maximum(shard.guess[part], 0)
            kind[b, row.prefix : n] = shard.kind[part]
            some = [t for t in range(row.prefix, row.prompt - 1) if rng.random() < prompt_share]
            chosen.append(some + list(range(row.prompt - 1, n - 2)))
        most = max(len(c) for c in chosen)
        at = np.zeros((len(items), most), np.int64)
        valid = np.zeros((len(items), most), bool)
        for b, c in enumerate(chosen):
            at[b, : len(c)], valid[b, : len(c)] = c, True
        split = kv.reshape(n_source, 2, len(items), longest, self._kv_heads, -1).transpose(0, 1, 2, 4, 3, 5)
        return Batch(
            torch.from_numpy(ids),
            torch.from_numpy(hidden),
            torch.from_numpy(np.ascontiguousarray(split[:, 0])),
            torch.from_numpy(np.ascontiguousarray(split[:, 1])),
            torch.from_numpy(guess),
            torch.from_numpy(kind),
            torch.from_numpy(at),
            torch.from_numpy(valid),
            torch.tensor([item.row.prompt for item in items]),
            torch.tensor([item.length for item in items]),
        )
