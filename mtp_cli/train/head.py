"""The draft head in torch, as native/src/head computes it.

One step for token t with the state h behind the token before it, D = n_embd:
    z = [rms(embed(t)); rms(h); rms(embed(guess))]
    x = W_in z + b[kind]
    x += W_o attention(W_q z (the guess left out), keys and values of the source layers)
    x += W_down act(W_gate norm(x)) * (W_up norm(x))
    h' = norm(x)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

GUESS_KINDS = 16


@dataclass(frozen=True, slots=True)
class Shape:
    """What a head needs to know of its backbone, and its own widths."""

    n_embd: int
    n_head: int
    n_head_kv: int
    head_dim: int
    eps: float
    activation: str
    """silu | gelu"""
    rope_dim: int
    rope_halves: bool
    rope_bases: tuple[float, ...]
    """of each source layer"""
    windows: tuple[int, ...]
    """of each source layer; 0: all positions are seen"""
    sources: tuple[int, ...]
    n_ff: int
    q_norm: bool

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def unit(x: Tensor, eps: float) -> Tensor:
    """x / rms(x)"""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def rotations(positions: Tensor, base: float, dim: int) -> tuple[Tensor, Tensor]:
    """cos and sin [..., dim / 2] for positions [...]"""
    frequency = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angle = positions.double()[..., None] * frequency
    return angle.cos().float(), angle.sin().float()


def rotate(x: Tensor, cos: Tensor, sin: Tensor, *, halves: bool) -> Tensor:
    """RoPE on x [..., head, dim] by cos, sin [..., dim / 2]"""
    cos, sin = cos[..., None, :], sin[..., None, :]
    if halves:
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class DraftHead(nn.Module):
    """One layer over several source layers of the backbone's cache."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        n, n_q, n_source = shape.n_embd, shape.n_head * shape.head_dim, len(shape.sources)
        self.input = nn.Linear(3 * n, n, bias=False)
        self.guess_bias = nn.Parameter(torch.zeros(GUESS_KINDS, n))
        self.query = nn.Linear(2 * n, n_source * n_q, bias=False)
        self.query_norm = nn.Parameter(torch.ones(n_source, shape.head_dim), requires_grad=shape.q_norm)
        self.attn_output = nn.Linear(n_source * n_q, n, bias=False)
        self.ffn_norm = nn.Parameter(torch.ones(n))
        self.gate = nn.Linear(n, shape.n_ff, bias=False)
        self.up = nn.Linear(n, shape.n_ff, bias=False)
        self.down = nn.Linear(shape.n_ff, n, bias=False)
        self.output_norm = nn.Parameter(torch.ones(n))

    def step(
        self,
        token: Tensor,
        state: Tensor,
        guess: Tensor,
        kind: Tensor,
        position: Tensor,
        keys: Tensor,
        values: Tensor,
        masks: Sequence[Tensor],
        row: Tensor,
        column: Tensor,
    ) -> Tensor:
        """The next state [m, D] at m places.

        token, guess: embeddings [m, D], guess zero where kind is 0; state [m, D]; kind, position [m];
        keys, values [source, B, kv_head, T, dim]; masks: for each source [B, n, T], added to the scores;
        row, column [m]: where a place stands in B and n."""
        s = self.shape
        z = torch.cat([unit(token, s.eps), unit(state, s.eps)], -1)
        x = self.input(torch.cat([z, unit(guess, s.eps)], -1)) + self.guess_bias[kind]
        x = x + self.attn_output(self.attend(z, position, keys, values, masks, row, column))
        y = unit(x, s.eps) * self.ffn_norm
        gate = self.gate(y)
        gate = F.silu(gate) if s.activation == "silu" else F.gelu(gate, approximate="tanh")
        x = x + self.down(gate * self.up(y))
        return unit(x, s.eps) * self.output_norm

    def attend(
        self,
        z: Tensor,
        position: Tensor,
        keys: Tensor,
        values: Tensor,
        masks: Sequence[Tensor],
        row: Tensor,
        column: Tensor,
    ) -> Tensor:
        """[m, source * head * dim] for z [m, 2 D]; the rest as in `step`"""
        s = self.shape
        batch, n, _ = masks[0].shape
        group = s.n_head // s.n_head_kv
        queries = self.query(z).view(-1, len(s.sources), s.n_head, s.head_dim)
        out: list[Tensor] = []
        for i, base in enumerate(s.rope_bases):
            q = queries[:, i]
            if s.q_norm:
                q = unit(q, s.eps) * self.query_norm[i]
            cos, sin = rotations(position, base, s.rope_dim)
            rotated = rotate(q[..., : s.rope_dim], cos, sin, halves=s.rope_halves)
            q = torch.cat([rotated, q[..., s.rope_dim :]], -1) if s.rope_dim < s.head_dim else rotated
            places = q.new_zeros(batch, n, s.n_head, s.head_dim).index_put((row, column), q * s.head_dim**-0.5)
            places = places.view(batch, n, s.n_head_kv, group, s.head_dim).permute(0, 2, 1, 3, 4)
            scores = places.reshape(batch, s.n_head_kv, n * group, s.head_dim) @ keys[i].transpose(-1, -2)
            scores = scores.view(batch, s.n_head_kv, n, group, -1)
            weights = (scores + masks[i][:, None, :, None]).softmax(-1)
            mixed = weights.view(batch, s.n_head_kv, n * group, -1) @ values[i]
            mixed = mixed.view(batch, s.n_head_kv, n, group, s.head_dim).permute(0, 2, 1, 3, 4)
            out.append(mixed.reshape(batch, n, -1)[row, column])
        return torch.cat(out, -1)
