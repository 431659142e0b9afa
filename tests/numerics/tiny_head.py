"""Random draft heads for tiny models, and what they compute, in numpy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

from .tiny_gguf import TinySpec

Floats = npt.NDArray[np.float32]
KINDS = 16
OUTLOOK = 32


@dataclass
class TinyHead:
    """Weights by tensor name, as the file's reader gets them back (after Q8_0)."""

    spec: TinySpec
    sources: list[list[int]]
    n_ff: int
    groups: list[int]
    weights: dict[str, Floats] = field(default_factory=dict)


def make_head(
    spec: TinySpec,
    sources: list[list[int]],
    *,
    n_ff: int = 64,
    groups: tuple[int, ...] = (3, 0, 7),
    seed: int = 5,
    outlook: bool = False,
) -> TinyHead:
    rng = np.random.default_rng(seed)
    head = TinyHead(spec, sources, n_ff, list(groups))
    n, n_q = spec.n_embd, spec.n_head * spec.head_dim

    def matrix(name: str, rows: int, columns: int) -> None:
        head.weights[name] = rng.normal(0, columns**-0.5, (rows, columns)).astype(np.float32)

    def vector(name: str, *shape: int) -> None:
        head.weights[name] = rng.normal(1, 0.1, shape).astype(np.float32)

    matrix("input.weight", n, 3 * n)
    head.weights["guess_bias.weight"] = rng.normal(0, 0.3, (KINDS, n)).astype(np.float32)
    vector("output_norm.weight", n)
    for i, read in enumerate(sources):
        base = f"blk.{i}."
        if i:
            vector(base + "attn_norm.weight", n)
        if spec.arch == "gemma3":
            vector(base + "attn_q_norm.weight", len(read), spec.head_dim)
        matrix(base + "attn_q.weight", len(read) * n_q, (1 if i else 2) * n)
        matrix(base + "attn_output.weight", n, len(read) * n_q)
        vector(base + "ffn_norm.weight", n)
        matrix(base + "ffn_gate.weight", n_ff, n)
        matrix(base + "ffn_up.weight", n_ff, n)
        matrix(base + "ffn_down.weight", n, n_ff)
    if outlook:
        matrix("outlook.weight", OUTLOOK, 3 * n)
        head.weights["outlook.bias"] = rng.normal(0, 0.3, (KINDS, OUTLOOK)).astype(np.float32)
        head.weights["outlook_output.weight"] = rng.normal(0, 0.5, (2, OUTLOOK)).astype(np.float32)
        head.weights["outlook_output.bias"] = rng.normal(0, 0.5, 2).astype(np.float32)
    return head


def write_head(path: Path, head: TinyHead, fingerprint: str, *, kind: str = "Q8_0", **changes: Any) -> Path:
    """`changes`: metadata in place of the right one (None: left out), by the end of its key with _ for ."""
    values: dict[str, Any] = {
        "backbone.fingerprint": fingerprint,
        "backbone.name": "tiny",
        "block_count": len(head.sources),
        "feed_forward_length": head.n_ff,
        "sources": [layer for read in head.sources for layer in read],
        "source_counts": [len(read) for read in head.sources],
        "draft_groups": head.groups,
    }
    values.update({key: value for key, value in changes.items() if key != "architecture"})
    writer = gguf.GGUFWriter(path, changes.get("architecture", "mtp-head"))
    for key, value in values.items():
        name = f"mtp-head.{key}"
        if isinstance(value, str):
            writer.add_string(name, value)
        elif isinstance(value, list):
            writer.add_array(name, value)
        elif value is not None:
            writer.add_uint32(name, value)
    for name, weight in head.weights.items():
        is_matrix = weight.ndim == 2 and not any(word in name for word in ("norm", "bias", "outlook_output"))
        if not is_matrix:
            writer.add_tensor(name, weight)
        elif kind == "F16":
            writer.add_tensor(name, weight.astype(np.float16))
        else:
            packed = gguf.quants.quantize(weight, gguf.GGMLQuantizationType[kind])
            writer.add_tensor(name, packed, raw_dtype=gguf.GGMLQuantizationType[kind])
            head.weights[name] = np.asarray(
                gguf.quants.dequantize(packed, gguf.GGMLQuantizationType[kind]), np.float32
            )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def table(model: Path, name: str) -> Floats:
    """A matrix of a model file as floats."""
    found = next(t for t in gguf.GGUFReader(model).tensors if t.name == name)
    return np.asarray(gguf.quants.dequantize(found.data, found.tensor_type), np.float32)


def coarse_table(model: Path, name: str) -> Floats:
    """A Q8_0 matrix by the upper four bits of its values alone: what draft logits are computed from."""
    found = next(t for t in gguf.GGUFReader(model).tensors if t.name == name)
    blocks = found.data.reshape(found.data.shape[0], -1, 34)
    scale = np.ascontiguousarray(blocks[:, :, :2]).view(np.float16).astype(np.float32)
    value = np.ascontiguousarray(blocks[:, :, 2:]).view(np.int8).astype(np.int32)
    coarse = (value + 128) // 16 * 16 - 120.5
    return np.asarray((coarse * scale).reshape(len(blocks), -1), np.float32)


def _unit(x: Floats, eps: float) -> Floats:
    return x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + eps).astype(np.float32)


def _rotate(spec: TinySpec, x: Floats, position: int, base: float) -> Floats:
    half = spec.head_dim // 2
    angle = position * base ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), np.sin(angle)
    out = np.empty_like(x)
    a, b = (np.s_[:, :half], np.s_[:, half:]) if spec.arch == "gemma3" else (np.s_[:, ::2], np.s_[:, 1::2])
    out[a], out[b] = x[a] * cos - x[b] * sin, x[a] * sin + x[b] * cos
    return out


def twin_step(
    head: TinyHead,
    embedding: Floats,
    token: int,
    state: Floats,
    guess: tuple[int, int],
    position: int,
    cache: dict[int, tuple[Floats, Floats]],
    windows: dict[int, tuple[int, float]],
    eps: float,
) -> Floats:
    """The next state [n_embd]. cache: layer -> keys, values [n, kv_head, dim]; windows: layer -> (window
    or 0,
    RoPE base)."""
    spec, w = head.spec, head.weights
    z = np.concatenate([_unit(embedding[token], eps), _unit(state, eps)])
    copied = _unit(embedding[guess[0]], eps) if guess[1] else np.zeros(spec.n_embd, np.float32)
    x = w["input.weight"] @ np.concatenate([z, copied]) + w["guess_bias.weight"][guess[1]]
    for i, read in enumerate(head.sources):
        base = f"blk.{i}."
        y = _unit(x, eps) * w[base + "attn_norm.weight"] if i else z
        queries = (w[base + "attn_q.weight"] @ y).reshape(len(read), spec.n_head, spec.head_dim)
        mixed = []
        for s, layer in enumerate(read):
            window, rope = windows[layer]
            q = queries[s]
            if spec.arch == "gemma3":
                q = _unit(q, eps) * w[base + "attn_q_norm.weight"][s]
            q = _rotate(spec, q, position, rope)
            keys, values = cache[layer]
            first = max(0, position - window + 1) if window else 0
            for h in range(spec.n_head):
                kv = h // (spec.n_head // spec.n_head_kv)
                score = keys[first:, kv] @ q[h] * spec.head_dim**-0.5
                weight = np.exp(score - score.max())
                mixed.append(values[first:, kv].T @ (weight / weight.sum()))
        x = x + w[base + "attn_output.weight"] @ np.concatenate(mixed)
        y = _unit(x, eps) * w[base + "ffn_norm.weight"]
        gate, up = w[base + "ffn_gate.weight"] @ y, w[base + "ffn_up.weight"] @ y
        if spec.arch == "gemma3":
            gate = 0.5 * gate * (1 + np.tanh(0.7978845608 * (gate + 0.044715 * gate**3)))
        else:
            gate = gate / (1 + np.exp(-gate))
        x = x + w[base + "ffn_down.weight"] @ (gate * up)
    return np.asarray(_unit(x, eps) * w["output_norm.weight"], np.float32)


def twin_outlook(
    head: TinyHead, embedding: Floats, token: int, state: Floats, guess: tuple[int, int], eps: float
) -> Floats:
    """Chances [2]: that the guess is right, that the head's token is."""
    w = head.weights
    copied = _unit(embedding[guess[0]], eps) if guess[1] else np.zeros(head.spec.n_embd, np.float32)
    z = np.concatenate([_unit(embedding[token], eps), _unit(state, eps), copied])
    x = w["outlook.weight"] @ z + w["outlook.bias"][guess[1]]
    logits = w["outlook_output.weight"] @ (x / (1 + np.exp(-x))) + w["outlook_output.bias"]
    return np.asarray(1 / (1 + np.exp(-logits)), np.float32)
