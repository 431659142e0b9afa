"""How well a head drafts on held-out answers, as greedy verification would see it."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import Tensor

from mtp_cli.train.data import Data, Item
from mtp_cli.train.head import DraftHead
from mtp_cli.train.unroll import unroll


@dataclass(frozen=True, slots=True)
class Score:
    """tokens per backbone pass at a fixed draft length, and the share of right tokens by draft position."""

    tokens_per_pass: float
    right: list[float]


@torch.no_grad()
def score(
    head: DraftHead,
    data: Data,
    task: str,
    embedding: Tensor,
    output: Tensor,
    vocabulary: Tensor,
    depth: int = 3,
    most: int = 10**9,
) -> Score:
    """Over held-out sequences of `task`. Steps are fed the backbone's tokens: the same as self-fed ones for as
    long as these are right, and behind a wrong one nothing counts."""
    items = [item for item in data.items["heldout"] if item.row.task == task][:most]
    passes = tokens = 0
    seen, hits = [0] * depth, [0] * depth
    for first in range(0, len(items), 8):
        part = items[first : first + 8]
        right = _right(head, data, part, embedding, output, vocabulary, depth)
        for b, item in enumerate(part):
            j, end = item.row.prompt - 1, item.length - 2
            while j < end:
                run = 0
                while run < depth and j + run < end and right[run][b, j]:
                    run += 1
                for d in range(min(run + 1, depth)):
                    seen[d] += 1
                    hits[d] += d < run
                passes += 1
                tokens += min(run + 1, end - j)
                j += run + 1
    return Score(tokens / max(1, passes), [h / max(1, s) for h, s in zip(hits, seen, strict=True)])


def _right(
    head: DraftHead,
    data: Data,
    items: list[Item],
    embedding: Tensor,
    output: Tensor,
    vocabulary: Tensor,
    depth: int,
) -> list[Tensor]:
    """For each step [B, T]: the draft from that position is right."""
    batch = data.batch(items, random.Random(0), 0.0)
    candidates = torch.cat([vocabulary, batch.ids.flatten()]).unique()
    rows = output[candidates].float()
    out: list[Tensor] = []
    for drafted in unroll(head, batch, embedding, depth):
        found = candidates[(drafted.state @ rows.T).argmax(-1)]
        right = torch.zeros(batch.ids.shape, dtype=torch.bool)
        right[drafted.row, drafted.at] = found == drafted.token
        out.append(right)
    return out
