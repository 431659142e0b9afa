"""An independent f32 evaluation of a model file, in NumPy: dequantise, then do the plain arithmetic.

Nothing here is shared with the engine or with llama.cpp. Layers are the outer loop, so one layer's weights
are dequantised at a time and a real model fits in little memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class ReferenceF32:
    """One model file. `dtype` is float32 (fast) or float64 (to show that float32 is good enough)."""

    def __init__(self, path: Path, dtype: type = np.float32) -> None:
        self.dtype = dtype
        reader = gguf.GGUFReader(str(path))
        self._tensors = {tensor.name: tensor for tensor in reader.tensors}
        self._fields = reader.fields
        self.arch = str(reader.fields["general.architecture"].contents())
        if self.arch not in ("llama", "gemma3"):
            raise ValueError(f"no f32 reference for {self.arch}")
        self.n_layer = int(self.value("block_count"))
        self.n_embd = int(self.value("embedding_length"))
        self.n_head = int(self.value("attention.head_count"))
        self.n_head_kv = int(self.value("attention.head_count_kv", self.n_head))
        self.head_dim = int(self.value("attention.key_length", self.n_embd // self.n_head))
        self.eps = float(self.value("attention.layer_norm_rms_epsilon"))
        self.window = int(self.value("attention.sliding_window", 0)) if self.arch == "gemma3" else 0
        self.n_vocab = int(self._tensors["token_embd.weight"].shape[1])

    def value(self, key: str, default: Any = None) -> Any:
        """A metadata value of this architecture."""
        field = self._fields.get(f"{self.arch}.{key}")
        if field is None:
            if default is None:
                raise KeyError(key)
            return default
        return field.contents()

    def weight(self, name: str) -> Array:
        """A tensor as [rows, columns] (or [n]) in `dtype`."""
        tensor = self._tensors[name]
        plain = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        return np.ascontiguousarray(plain.reshape(tuple(reversed(tensor.shape.tolist()))), dtype=self.dtype)

    def is_sliding(self, layer: int) -> bool:
        """gemma3: five sliding layers, then a full one."""
        return self.window > 0 and layer % 6 != 5

    def norm(self, x: Array, name: str) -> Array:
        """RMS norm over the last axis, times the named weight."""
        mean = np.mean(np.square(x, dtype=np.float64), axis=-1, keepdims=True)
        scaled = x * (1.0 / np.sqrt(mean + self.eps)).astype(self.dtype)
        return np.asarray(scaled * self.weight(name), dtype=self.dtype)

    def rope(self, x: Array, layer: int) -> Array:
        """Rotate [tokens, heads, head_dim] by position 0..tokens-1."""
        half = self.head_dim // 2
        base = float(self.value("rope.freq_base", 10000.0))
        scale = 1.0 / float(self.value("rope.scaling.factor", 1.0))
        if self.is_sliding(layer):
            base, scale = 10000.0, 1.0
        frequency = scale * base ** (-np.arange(half, dtype=np.float64) / half)
        if "rope_freqs.weight" in self._tensors:
            frequency = frequency / self.weight("rope_freqs.weight").astype(np.float64)
        angle = np.arange(len(x), dtype=np.float64)[:, None] * frequency
        cos: Array = np.cos(angle)[:, None, :].astype(self.dtype)
        sin: Array = np.sin(angle)[:, None, :].astype(self.dtype)
        out = np.empty_like(x)
        if self.arch == "gemma3":
            first, second = slice(0, half), slice(half, 2 * half)
        else:
            first, second = slice(0, None, 2), slice(1, None, 2)
        a, b = x[..., first], x[..., second]
        out[..., first] = a * cos - b * sin
        out[..., second] = a * sin + b * cos
        return out

    def attend(self, q: Array, k: Array, v: Array, layer: int, block: int = 256) -> Array:
        """Causal attention; q [tokens, n_head, d], k and v [tokens, n_head_kv, d] -> [tokens, n_head * d]."""
        tokens = len(q)
        out: Array = np.empty((tokens, self.n_head, self.head_dim), dtype=self.dtype)
        shared = self.n_head // self.n_head_kv
        for start in range(0, tokens, block):
            stop = min(start + block, tokens)
            first = max(0, start - self.window + 1) if self.is_sliding(layer) else 0
            query_at, key_at = np.arange(start, stop)[:, None], np.arange(first, stop)[None, :]
            hidden = key_at > query_at
            if self.is_sliding(layer):
                hidden |= query_at - key_at >= self.window
            for head in range(self.n_head):
                keys, values = k[first:stop, head // shared], v[first:stop, head // shared]
                score = (q[start:stop, head] @ keys.T) * self.dtype(1.0 / np.sqrt(self.head_dim))
                score[hidden] = -np.inf
                score = np.exp(score - score.max(axis=1, keepdims=True))
                score /= score.sum(axis=1, keepdims=True)
                out[start:stop, head] = score @ values
        return out.reshape(tokens, -1)

    def attention(self, x: Array, layer: int) -> Array:
        """The attention half of a layer, on the normed input [tokens, n_embd]."""
        block = f"blk.{layer}"
        q, k, v = (
            (x @ self.weight(f"{block}.attn_{name}.weight").T).reshape(len(x), -1, self.head_dim)
            for name in "qkv"
        )
        if self.arch == "gemma3":
            q, k = self.norm(q, f"{block}.attn_q_norm.weight"), self.norm(k, f"{block}.attn_k_norm.weight")
        mixed = self.attend(self.rope(q, layer), self.rope(k, layer), v, layer)
        return np.asarray(mixed @ self.weight(f"{block}.attn_output.weight").T)

    def feed_forward(self, x: Array, layer: int) -> Array:
        """SwiGLU (llama) or GeGLU with the tanh formula (gemma3), on the normed input."""
        gate, up = (x @ self.weight(f"blk.{layer}.ffn_{name}.weight").T for name in ("gate", "up"))
        if self.arch == "gemma3":
            inner = np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3)
            active = 0.5 * gate * (1 + np.tanh(inner))
        else:
            active = gate / (1 + np.exp(np.minimum(-gate, 80)))  # beyond 80 it is 0 anyway
        return np.asarray((active * up).astype(self.dtype) @ self.weight(f"blk.{layer}.ffn_down.weight").T)

    def hidden(self, tokens: Sequence[int]) -> Array:
        """The state after the final norm, [tokens, n_embd]."""
        tensor = self._tensors["token_embd.weight"]
        rows = gguf.quants.dequantize(tensor.data[np.asarray(tokens)], tensor.tensor_type)
        x: Array = rows.reshape(len(tokens), self.n_embd).astype(self.dtype)
        gemma = self.arch == "gemma3"
        if gemma:
            x = x * self.dtype(np.sqrt(self.n_embd))
        for layer in range(self.n_layer):
            block = f"blk.{layer}"
            mixed = self.attention(self.norm(x, f"{block}.attn_norm.weight"), layer)
            x = x + (self.norm(mixed, f"{block}.post_attention_norm.weight") if gemma else mixed)
            fed = self.feed_forward(self.norm(x, f"{block}.ffn_norm.weight"), layer)
            x = x + (self.norm(fed, f"{block}.post_ffw_norm.weight") if gemma else fed)
        return self.norm(x, "output_norm.weight")

    def logit_blocks(self, tokens: Sequence[int], block: int = 128) -> Iterator[tuple[int, Array]]:
        """(first position, logits [up to block, n_vocab]) until every token is done."""
        state = self.hidden(tokens)
        output = self.weight("output.weight" if "output.weight" in self._tensors else "token_embd.weight").T
        for start in range(0, len(tokens), block):
            yield start, state[start : start + block] @ output

    def logits(self, tokens: Sequence[int]) -> Array:
        """[tokens, n_vocab]; for small models."""
        return np.concatenate([rows for _, rows in self.logit_blocks(tokens)])
