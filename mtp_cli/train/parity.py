"""Does the engine draft what torch says? Same weights but for Q8_0, same tokens, states of the engine."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from mtp_cli.bench.prompts import Asked, asked
from mtp_cli.engine_native import NativeEngine, copy_guesses
from mtp_cli.train.answers import Answer
from mtp_cli.train.data import Data, Item
from mtp_cli.train.head import DraftHead
from mtp_cli.train.unroll import unroll


@dataclass(frozen=True, slots=True)
class Parity:
    """Shares over all compared draft steps: same token; and the mean cosine between the states."""

    same: float
    cosine: float
    steps: int


@torch.no_grad()
def parity(
    engine: NativeEngine,
    model: Path,
    head: DraftHead,
    data: Data,
    answers: list[Answer],
    embedding: Tensor,
    output: Tensor,
    vocabulary: Tensor,
    *,
    sequences: int = 4,
    depth: int = 3,
) -> Parity:
    """`answers`: those of the feature folder. The engine must have the exported head open."""
    same = steps = 0
    cosine = 0.0
    for item in data.items["heldout"][:sequences]:
        answer = _answer_of(item, answers, engine, model)
        if answer is None:
            continue
        question = asked(engine, answer.text, answer.task, model)
        batch = data.batch([item], random.Random(0), 0.0)
        candidates = torch.cat([vocabulary, torch.tensor(question.tokens)]).unique()
        # the engine takes whole groups of 8 ids
        candidates = (candidates // 8 * 8)[:, None] + torch.arange(8)
        candidates = candidates.flatten().unique()
        candidates = candidates[candidates < output.shape[0]]
        rows = output[candidates].float()
        drafted = list(unroll(head, batch, embedding, depth))
        found = [candidates[(d.state @ rows.T).argmax(-1)] for d in drafted]
        states = _engine_states(engine, question, answer.ids, depth)
        for step, one in enumerate(drafted):
            for i, at in enumerate(one.at.tolist()):
                tokens, vectors = states[at - item.row.prompt + 1]
                same += int(tokens[step] == int(found[step][i]))
                cosine += float(torch.cosine_similarity(torch.from_numpy(vectors[step]), one.state[i], dim=0))
                steps += 1
    return Parity(same / max(1, steps), cosine / max(1, steps), steps)


def _answer_of(item: Item, answers: list[Answer], engine: NativeEngine, model: Path) -> Answer | None:
    ids = item.shard.ids[item.row.begin : item.row.end].tolist()
    cut = item.row.prompt - item.row.prefix
    for answer in answers:
        if answer.split != item.row.split or answer.task != item.row.task or answer.ids != ids[cut:]:
            continue
        if asked(engine, answer.text, answer.task, model).tokens[item.row.prefix :] == ids[:cut]:
            return answer
    return None


def _engine_states(
    engine: NativeEngine, question: Asked, answer: list[int], depth: int
) -> list[tuple[list[int], list[torch.Tensor]]]:
    """For each token of the answer but the last: drafts behind it, fed the answer's own tokens."""
    guess, kind = copy_guesses(question.tokens, question.source, answer)
    start = len(question.tokens)
    engine.rollback(0)
    engine.prefill(question.tokens)
    out = []
    for i, token in enumerate(answer[:-1]):
        guesses = [
            (int(guess[start + i + 1 + d]), int(kind[start + i + 1 + d]))
            for d in range(depth)
            if start + i + 1 + d < len(guess)
        ]
        tokens, _, states = engine.head_chain(0, token, guesses, question.tokens, answer[i + 1 :][: depth])
        out.append((tokens, list(states)))
        engine.decode([token])
    return out
