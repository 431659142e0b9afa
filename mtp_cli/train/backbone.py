"""What training reads straight from the backbone's file: its shape, and tensors as floats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader, dequantize
from torch import Tensor

from mtp_cli.train.head import Shape


class BackboneFile:
    """A GGUF file. Tensors are dequantised when they are asked for."""

    def __init__(self, path: Path) -> None:
        self._reader = GGUFReader(path)
        self._tensors = {tensor.name: tensor for tensor in self._reader.tensors}
        self.architecture = str(self._field("general.architecture"))

    def tensor(self, name: str) -> Tensor:
        """As float32, [rows, columns] or [n]."""
        found = self._tensors[name]
        return torch.from_numpy(np.array(dequantize(found.data, found.tensor_type), np.float32))

    def has(self, name: str) -> bool:
        return name in self._tensors

    def output(self) -> Tensor:
        """Output matrix [vocabulary, n_embd] as float16, to halve its memory."""
        return self._half("output.weight" if self.has("output.weight") else "token_embd.weight")

    def embedding(self) -> Tensor:
        return self._half("token_embd.weight")

    def _half(self, name: str) -> Tensor:
        found = self._tensors[name]
        rows = [
            np.asarray(dequantize(part, found.tensor_type), np.float16)
            for part in np.array_split(found.data, max(1, len(found.data) // 8192))
        ]
        return torch.from_numpy(np.concatenate(rows))

    def shape(self, sources: Sequence[int], n_ff: int) -> Shape:
        """Of a head that reads these layers."""
        number = self._number
        n_embd, n_head = int(number("embedding_length")), int(number("attention.head_count"))
        gemma = self.architecture == "gemma3"
        head_dim = int(number("attention.key_length", n_embd // n_head))
        window = int(number("attention.sliding_window", 0)) if gemma else 0
        pattern = int(number("attention.sliding_window_pattern", 6))
        sliding = [window > 0 and layer % pattern < pattern - 1 for layer in sources]
        base = number("rope.freq_base", 10000.0)
        return Shape(
            n_embd=n_embd,
            n_head=n_head,
            n_head_kv=int(number("attention.head_count_kv", n_head)),
            head_dim=head_dim,
            eps=number("attention.layer_norm_rms_epsilon", 1e-5),
            activation="gelu" if gemma else "silu",
            rope_dim=int(number("rope.dimension_count", head_dim)),
            rope_halves=gemma,
            rope_bases=tuple(number("rope.freq_base_swa", 10000.0) if s else base for s in sliding),
            windows=tuple(window if s else 0 for s in sliding),
            sources=tuple(sources),
            n_ff=n_ff,
            q_norm=self.has("blk.0.attn_q_norm.weight"),
        )

    @property
    def n_layer(self) -> int:
        return int(self._number("block_count"))

    @property
    def n_ff(self) -> int:
        return int(self._number("feed_forward_length"))

    def _number(self, key: str, otherwise: float | None = None) -> float:
        found = self._field(f"{self.architecture}.{key}")
        if found is None:
            if otherwise is None:
                raise ValueError(f"the model file lacks {self.architecture}.{key}")
            return float(otherwise)
        return float(found)  # type: ignore[arg-type]

    def _field(self, key: str) -> object:
        field = self._reader.get_field(key)
        return None if field is None else field.contents()
