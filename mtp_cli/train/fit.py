"""The training loop: resumable, by time or by steps."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mtp_cli.train.data import PROMPT_SHARE, Batch, Data
from mtp_cli.train.head import DraftHead
from mtp_cli.train.unroll import Drafted, unroll

STEP_WEIGHTS = (1.0, 0.7, 0.5)
"""Of the loss of the first, second and third drafted token."""


@dataclass(slots=True)
class Plan:
    """seconds: of training in all, for the learning rate's way down; positions: visited a batch, about."""

    seconds: float
    rate: float = 1.2e-3
    positions: int = 700
    depth: int = 3
    keep: float = 0.5
    prompt_share: float = PROMPT_SHARE
    prompt_weight: float = 0.3
    warm: float = 0.5
    """From this part of the time on, total variation takes the place of cross-entropy to the distribution."""
    frequent: int = 1500
    drawn: int = 1000
    seed: int = 0


@dataclass(slots=True)
class State:
    """Where training stands; all of it is in the checkpoint."""

    step: int = 0
    visits: int = 0
    seconds: float = 0.0
    curve: list[dict[str, float]] = field(default_factory=list)


class Fit:
    """Trains `head` on `data`. `vocabulary`: the draft vocabulary, most frequent first."""

    def __init__(
        self, head: DraftHead, data: Data, embedding: Tensor, output: Tensor, vocabulary: Tensor, plan: Plan
    ) -> None:
        self.head = head
        self.state = State()
        self._data = data
        self._embedding = embedding
        self._output = output
        self._vocabulary = vocabulary
        self.plan = plan
        self._rng = random.Random(plan.seed)
        matrices = [p for p in head.parameters() if p.dim() == 2 and p.requires_grad]
        vectors = [p for p in head.parameters() if p.dim() == 1 and p.requires_grad]
        self._optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}],
            lr=plan.rate,
            betas=(0.9, 0.98),
        )

    def save(self, path: Path) -> None:
        """Atomic: a crash leaves the last whole checkpoint."""
        part = path.with_suffix(".part")
        torch.save(
            {
                "head": self.head.state_dict(),
                "optimizer": self._optimizer.state_dict(),
                "step": self.state.step,
                "visits": self.state.visits,
                "seconds": self.state.seconds,
                "curve": self.state.curve,
            },
            part,
        )
        part.rename(path)

    def load(self, path: Path) -> None:
        found: dict[str, Any] = torch.load(path, weights_only=False)
        self.head.load_state_dict(found["head"])
        self._optimizer.load_state_dict(found["optimizer"])
        self.state = State(found["step"], found["visits"], found["seconds"], found["curve"])
        self._rng = random.Random(self.plan.seed + self.state.step)
        torch.manual_seed(self.plan.seed + self.state.step)

    def run(self, checkpoint: Path, every: float = 60.0, stop: Callable[[], bool] = lambda: False) -> Iterator[dict[str, float]]:
        """Train until the time is used up or `stop` says so; saves every `every` seconds and at the end.

        Yields means of the last batches each time it saves."""
        saved = time.monotonic()
        losses: list[tuple[float, list[float]]] = []
        while True:
            for batch in self._data.batches(self.plan.positions, self._rng, self.plan.prompt_share):
                begun = time.monotonic()
                losses.append(self._step(batch))
                now = time.monotonic()
                self.state.seconds += now - begun
                over = self.state.seconds >= self.plan.seconds or stop()
                if over or now - saved >= every:
                    yield self._report(losses)
                    losses.clear()
                    self.save(checkpoint)
                    saved = now
                if over:
                    return

    def _report(self, losses: list[tuple[float, list[float]]]) -> dict[str, float]:
        n = max(1, len(losses))
        found = {
            "step": float(self.state.step),
            "visits": float(self.state.visits),
            "seconds": self.state.seconds,
            "loss": sum(loss for loss, _ in losses) / n,
        }
        for i in range(self.plan.depth):
            found[f"right_{i + 1}"] = sum(right[i] for _, right in losses) / n
        return found

    def _step(self, batch: Batch) -> tuple[float, list[float]]:
        plan = self.plan
        part = min(1.0, self.state.seconds / plan.seconds)
        warmup = min(1.0, (self.state.step + 1) / 20)
        rate = plan.rate * warmup * (0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * part)))
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        candidates, place = self._candidates(batch)
        rows = self._output[candidates].float()
        loss = torch.zeros(())
        right: list[float] = []
        for drafted, weight in zip(
            unroll(self.head, batch, self._embedding, plan.depth, plan.keep), STEP_WEIGHTS, strict=False
        ):
            found, hits = self._loss(drafted, rows, place, part >= plan.warm)
            loss = loss + weight * found
            right.append(hits)
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.head.parameters(), 1.0)
        self._optimizer.step()
        self.state.step += 1
        self.state.visits += int(batch.valid.sum())
        return float(loss.detach()), right

    def _candidates(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Tokens that a batch's logits are computed for, and each token's place among them."""
        plan, vocabulary = self.plan, self._vocabulary
        drawn = vocabulary[torch.randint(0, len(vocabulary), (plan.drawn,))]
        candidates = torch.cat([batch.ids.flatten(), vocabulary[: plan.frequent], drawn]).unique()
        place = torch.zeros(self._output.shape[0], dtype=torch.long)
        place[candidates] = torch.arange(len(candidates))
        return candidates, place

    def _loss(self, drafted: Drafted, rows: Tensor, place: Tensor, warm: bool) -> tuple[Tensor, float]:
        """Mean over positions, those of prompts at their weight; and the share of right tokens in answers."""
        log_p = (drafted.state @ rows.T).log_softmax(-1)
        with torch.no_grad():
            target = (drafted.teacher @ rows.T).softmax(-1)
            # in an answer the text is the backbone's choice; in a prompt the choice is its most likely token
            chosen = torch.where(drafted.answer, place[drafted.token], target.argmax(-1))
            weight = torch.where(drafted.answer, 1.0, self.plan.prompt_weight)
            right = (log_p.argmax(-1) == chosen) & drafted.answer
        hard = -log_p.gather(1, chosen[:, None])[:, 0]
        if warm:
            soft = 1 - torch.minimum(log_p.exp(), target).sum(-1)
        else:
            soft = -(target * log_p).sum(-1)
        each = 0.5 * hard + (1.0 if warm else 0.5) * soft
        return (each * weight).sum() / weight.sum(), float(right.sum() / drafted.answer.sum().clamp(min=1))
