"""Where a head starts: queries that land where the source layers' keys are, cloned projections.

x_l, the input of layer l at the next position, is foreseen by least squares from what the head sees; the
layer's own query matrix follows. Output projections and the last layer's FFN are cloned. Where the backbone
norms its branches (Gemma), their usual size is put into the clones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from mtp_cli.train.backbone import BackboneFile
from mtp_cli.train.data import Batch
from mtp_cli.train.head import DraftHead, Shape, unit

RIDGE = 0.1


class LeastSquares:
    """Normal equations of many targets from one set of inputs."""

    def __init__(self, n_in: int) -> None:
        self._gram = torch.zeros(n_in, n_in, dtype=torch.float64)
        self._cross: dict[str, Tensor] = {}

    def add(self, inputs: Tensor, targets: dict[str, Tensor]) -> None:
        """inputs [n, n_in], targets [n, n_out]"""
        x = inputs.double()
        self._gram += x.T @ x
        for name, y in targets.items():
            found = x.T @ y.double()
            self._cross[name] = self._cross[name] + found if name in self._cross else found

    def solve(self, name: str, n_in: int) -> Tensor:
        """[n_out, n_in] from the first n_in inputs"""
        gram = self._gram[:n_in, :n_in]
        ridge = RIDGE * gram.diagonal().mean() * torch.eye(n_in, dtype=torch.float64)
        return torch.linalg.solve(gram + ridge, self._cross[name][:n_in]).T.float()


def start_head(head: DraftHead, file: BackboneFile, fit: LeastSquares) -> None:
    """Set the weights of `head`. `fit` has targets "x_LAYER" (rms-normed inputs) and "last" (plain)."""
    s = head.shape
    n, n_q = s.n_embd, s.n_head * s.head_dim
    last = file.n_layer - 1
    with torch.no_grad():
        head.input.weight.copy_(fit.solve("last", 3 * n))
        for i, layer in enumerate(s.sources):
            name = f"blk.{layer}."
            query = file.tensor(name + "attn_q.weight") * file.tensor(name + "attn_norm.weight")
            head.query.weight[i * n_q : (i + 1) * n_q].copy_(query @ fit.solve(f"x_{layer}", 2 * n))
            if s.q_norm:
                head.query_norm[i].copy_(file.tensor(name + "attn_q_norm.weight"))
            projection = file.tensor(name + "attn_output.weight")
            if file.has(name + "post_attention_norm.weight"):
                projection = projection * file.tensor(name + "post_attention_norm.weight")[:, None]
            head.attn_output.weight[:, i * n_q : (i + 1) * n_q].copy_(projection)
        name = f"blk.{last}."
        gate, up = file.tensor(name + "ffn_gate.weight"), file.tensor(name + "ffn_up.weight")
        down = file.tensor(name + "ffn_down.weight")
        if file.has(name + "post_ffw_norm.weight"):
            down = down * file.tensor(name + "post_ffw_norm.weight")[:, None]
        kept = _strongest(gate, up, down, s.n_ff)
        head.gate.weight.copy_(gate[kept])
        head.up.weight.copy_(up[kept])
        head.down.weight.copy_(down[:, kept])
        head.ffn_norm.copy_(file.tensor(name + "ffn_norm.weight"))
        head.output_norm.copy_(file.tensor("output_norm.weight"))


def _strongest(gate: Tensor, up: Tensor, down: Tensor, n: int) -> Tensor:
    weight = gate.norm(dim=1) * up.norm(dim=1) * down.norm(dim=0)
    return weight.argsort(descending=True)[:n].sort().values


@torch.no_grad()
def temper(head: DraftHead, batch: Batch, embedding: Tensor, share: float = 0.5) -> None:
    """Scale the two branches so that each is `share` of the residual stream they join. For backbones with
    norms on their branches, whose clones have no natural size."""
    s = head.shape
    row, column = batch.valid.nonzero(as_tuple=True)
    at = batch.at[row, column]
    token = unit(embedding[batch.ids[row, at + 1]].float(), s.eps)
    z = torch.cat([token, unit(batch.hidden[row, at], s.eps)], -1)
    x = z @ head.input.weight[:, : 2 * s.n_embd].T
    size = x.pow(2).mean().sqrt()
    cached = torch.arange(batch.keys.shape[3])[None, None] > batch.at[..., None]
    masks = [torch.where(cached, -1e9, 0.0)] * len(s.sources)
    mixed = head.attend(z, at + 1, batch.keys, batch.values, masks, row, column)
    n_q = s.n_head * s.head_dim
    for i in range(len(s.sources)):
        part = slice(i * n_q, (i + 1) * n_q)
        branch = mixed[:, part] @ head.attn_output.weight[:, part].T
        head.attn_output.weight[:, part] *= share / len(s.sources) ** 0.5 * size / branch.pow(2).mean().sqrt()
    x = x + mixed @ head.attn_output.weight.T
    y = unit(x, s.eps) * head.ffn_norm
    gate = head.gate(y)
    gate = torch.nn.functional.gelu(gate, approximate="tanh") if s.activation == "gelu" else torch.nn.functional.silu(gate)
    branch = head.down(gate * head.up(y))
    head.down.weight *= share * size / branch.pow(2).mean().sqrt()


def observe(
    fit: LeastSquares,
    ids: Sequence[int],
    embedding: Tensor,
    hidden: np.ndarray,
    inputs: np.ndarray,
    guess: np.ndarray,
    kind: np.ndarray,
    layers: Sequence[int],
    last: int,
    shape: Shape,
) -> None:
    """Add one sequence: hidden [n, D], inputs [layer, n, D] by the engine's capture over `layers` and `last`.

    Token t + 1 and the state behind t foresee what goes into the layers at t + 1."""
    tokens = torch.tensor(list(ids))
    e = unit(embedding[tokens[1:]].float(), shape.eps)
    h = unit(torch.from_numpy(hidden[:-1]), shape.eps)
    g = torch.from_numpy(np.append(guess, -1)[2 : len(ids) + 1].astype(np.int64))
    k = torch.from_numpy(np.append(kind, 0)[2 : len(ids) + 1].astype(np.int64))
    copied = unit(embedding[g.clamp(min=0)].float(), shape.eps) * (k > 0)[:, None]
    x = torch.from_numpy(inputs[:, 1:])
    targets = {f"x_{layer}": unit(x[i], shape.eps) for i, layer in enumerate(layers)}
    targets["last"] = x[list(layers).index(last)] if last in layers else x[-1]
    fit.add(torch.cat([e, h, copied], -1), targets)
