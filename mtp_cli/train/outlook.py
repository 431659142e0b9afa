"""The outlook net of a head: what copying's guess and the head's own first token are worth, told before
anything is drafted (native/src/head/head_model.h). It sees what a draft step sees: token, state and guess."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mtp_cli.train.data import Data
from mtp_cli.train.head import GUESS_KINDS, DraftHead, unit
from mtp_cli.train.unroll import unroll

WIDTH = 32
EPOCHS = 4
BATCH = 512


class OutlookNet(nn.Module):
    """Two chances for each place."""

    def __init__(self, n_embd: int, eps: float) -> None:
        super().__init__()
        self._eps = eps
        self.input = nn.Linear(3 * n_embd, WIDTH, bias=False)
        self.bias = nn.Parameter(torch.zeros(GUESS_KINDS, WIDTH))
        self.output = nn.Linear(WIDTH, 2)

    def hidden(self, token: Tensor, state: Tensor, guess: Tensor, kind: Tensor) -> Tensor:
        """[m, WIDTH]; token, state, guess [m, D], guess zero where kind [m] is 0."""
        z = torch.cat([unit(x, self._eps) for x in (token, state, guess)], -1)
        return F.silu(self.input(z) + self.bias[kind])

    def forward(self, token: Tensor, state: Tensor, guess: Tensor, kind: Tensor) -> Tensor:
        """Logits [m, 2]: that the guess is right, and that the head's token is."""
        found: Tensor = self.output(self.hidden(token, state, guess, kind))
        return found


@dataclass(frozen=True, slots=True)
class Places:
    """Places of answers: token, guess [m] ids, kind [m], state [m, D]; whether the guess and the head's token
    were right, [m] floats."""

    token: Tensor
    guess: Tensor
    kind: Tensor
    state: Tensor
    copy_right: Tensor
    head_right: Tensor

    def part(self, index: Tensor) -> Places:
        return Places(*(getattr(self, name)[index] for name in self.__slots__))


@torch.no_grad()
def places(
    head: DraftHead, data: Data, split: str, embedding: Tensor, output: Tensor, vocabulary: Tensor, most: int
) -> Places:
    """About `most` places from answers of `split`, the sequences in random order."""
    rng = random.Random(0)
    items = list(data.items[split])
    rng.shuffle(items)
    rows = output[vocabulary].float()
    parts: list[list[Tensor]] = []
    seen = 0
    for first in range(0, len(items), 4):
        if seen >= most:
            break
        batch = data.batch(items[first : first + 4], rng, 0.0)
        drafted = next(unroll(head, batch, embedding, 1))
        row, at = drafted.row, drafted.at
        choice = vocabulary[(drafted.state @ rows.T).argmax(-1)]
        kind, guess = batch.kind[row, at + 2], batch.guess[row, at + 2]
        parts.append(
            [
                batch.ids[row, at + 1],
                guess,
                kind,
                batch.hidden[row, at],
                ((guess == drafted.token) & (kind > 0)).float(),
                (choice == drafted.token).float(),
            ]
        )
        seen += len(row)
    return Places(*(torch.cat(column) for column in zip(*parts, strict=True)))


def _batches(
    found: Places, embedding: Tensor
) -> Iterator[tuple[Places, tuple[Tensor, Tensor, Tensor, Tensor]]]:
    for index in torch.randperm(len(found.kind)).split(BATCH):
        part = found.part(index)
        guess = embedding[part.guess].float() * (part.kind > 0)[:, None]
        yield part, (embedding[part.token].float(), part.state, guess, part.kind)


def _loss(logits: Tensor, part: Places) -> Tensor:
    each = F.binary_cross_entropy_with_logits(
        logits, torch.stack([part.copy_right, part.head_right], -1), reduction="none"
    )
    weight = torch.stack([(part.kind > 0).float(), torch.ones_like(part.head_right)], -1)
    return (each * weight).sum() / weight.sum()


def _adamw(parameters: list[nn.Parameter], rate: float) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)


def fit_outlook(
    head: DraftHead,
    data: Data,
    embedding: Tensor,
    output: Tensor,
    vocabulary: Tensor,
    most: int = 60_000,
) -> tuple[OutlookNet, float]:
    """A net for this head, and its mean loss in the end.

    A head is right more often on what it was trained on, so the last layer is fitted anew on the held-out
    answers (66 numbers: too few to learn them by heart)."""
    torch.manual_seed(0)
    net = OutlookNet(head.shape.n_embd, head.shape.eps)
    train = places(head, data, "train", embedding, output, vocabulary, most)
    loss = _train(net, list(net.parameters()), train, embedding, 1e-3)
    if data.items["heldout"]:
        held = places(head, data, "heldout", embedding, output, vocabulary, most)
        loss = _train(net, list(net.output.parameters()), held, embedding, 2e-3)
    return net, loss


def _train(
    net: OutlookNet, parameters: list[nn.Parameter], found: Places, embedding: Tensor, rate: float
) -> float:
    """Returns the mean loss of the last epoch."""
    optimizer = _adamw(parameters, rate)
    losses: list[float] = []
    for epoch in range(EPOCHS):
        losses.clear()
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 - epoch / EPOCHS)
        for part, inputs in _batches(found, embedding):
            loss = _loss(net(*inputs), part)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(float(loss.detach()))
    return sum(losses) / max(1, len(losses))
