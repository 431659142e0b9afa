"""A head's self-fed draft steps over a batch, with the backbone's tokens as inputs of each step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from mtp_cli.train.data import Batch
from mtp_cli.train.head import DraftHead

FAR = -1e9


@dataclass(frozen=True, slots=True)
class Drafted:
    """Step number `step` (from 0) at the positions that have something to compare with.

    state [m, D]: the head's next state; teacher [m, D]: the backbone's in its place; token [m]: what the text
    has there; answer [m]: it belongs to an answer; row, at [m]: which sequence and position."""

    step: int
    state: Tensor
    teacher: Tensor
    token: Tensor
    answer: Tensor
    row: Tensor
    at: Tensor


def unroll(
    head: DraftHead, batch: Batch, embedding: Tensor, depth: int, keep: float = 1.0
) -> Iterator[Drafted]:
    """Draft `depth` tokens from every position of the batch. `keep`: share of the positions that go on to a
    second step and further."""
    row, column = batch.valid.nonzero(as_tuple=True)
    at, padded = batch.at[row, column], batch.at
    state = batch.hidden[row, at]
    for step in range(depth):
        if step == 1 and keep < 1 and len(row) > 8:
            kept = torch.randperm(len(row))[: int(len(row) * keep)].sort().values
            row, at, state = row[kept], at[kept], state[kept]
            column, padded = _pack(row, at, batch.at.shape[0])
        if step < 2:
            masks = _masks(head, batch, padded)
        kind = batch.kind[row, at + 2 + step]
        guess = embedding[batch.guess[row, at + 2 + step]].float() * (kind > 0)[..., None]
        token = embedding[batch.ids[row, at + 1 + step]].float()
        state = head.step(
            token, state, guess, kind, at + 1 + step, batch.keys, batch.values, masks, row, column
        )
        known = at + 2 + step < batch.length[row]
        place = (at + 2 + step)[known]
        where = row[known]
        yield Drafted(
            step,
            state[known],
            batch.hidden[where, place - 1],
            batch.ids[where, place],
            place >= batch.prompt[where],
            where,
            at[known],
        )


def _pack(row: Tensor, at: Tensor, batch: int) -> tuple[Tensor, Tensor]:
    """Columns for places sorted by row, without gaps, and `at` by row and column."""
    counts = torch.bincount(row, minlength=batch)
    column = torch.arange(len(row)) - (counts.cumsum(0) - counts)[row]
    padded = torch.zeros(batch, int(counts.max()), dtype=at.dtype)
    padded[row, column] = at
    return column, padded


def _masks(head: DraftHead, batch: Batch, at: Tensor) -> list[Tensor]:
    """For each source [B, n, T]: what lies behind the state is hidden, and what its window has left behind."""
    cached = torch.arange(batch.keys.shape[3])[None, None]
    hidden = cached > at[..., None]
    out: dict[int, Tensor] = {}
    for window in set(head.shape.windows):
        unseen = hidden | (cached <= at[..., None] + 1 - window) if window else hidden
        out[window] = torch.where(unseen, FAR, 0.0)
    return [out[window] for window in head.shape.windows]
