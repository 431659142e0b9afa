"""The yardsticks themselves: the file writer, the quantisers and the f32 evaluation, against llama.cpp."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest

from .feeding import BY_TYPE, ODD_SHAPES, is_block_type, label, tokens_for
from .measures import kl_divergence, nmse
from .reference_f32 import ReferenceF32
from .reference_llama import LlamaReference
from .tiny_gguf import K_TYPES, TinySpec, gemma_spec, quantize

Tiny = Callable[[TinySpec], Path]


@pytest.mark.parametrize(("kind", "bound"), [("Q4_K", 6e-3), ("Q5_K", 1.5e-3), ("Q6_K", 1e-3)])
def test_quantisers_keep_the_weights(kind: str, bound: float) -> None:
    rng = np.random.default_rng(3)
    weights = rng.standard_normal((5, 768)).astype(np.float32) * rng.uniform(0.2, 2, (5, 1)).astype(
        np.float32
    )
    restored = gguf.quants.dequantize(quantize(weights, kind), gguf.GGMLQuantizationType[kind])
    assert 0 < nmse(restored, weights) < bound


@pytest.mark.parametrize("kind", K_TYPES)
def test_quantisers_keep_zeros(kind: str) -> None:
    zeros = np.zeros((2, 256), np.float32)
    assert not gguf.quants.dequantize(quantize(zeros, kind), gguf.GGMLQuantizationType[kind]).any()


# llama.cpp looks the GELU of gemma3 up in a half-precision table; nothing else is rounded in an F32 file.
@pytest.mark.parametrize(
    ("spec", "bound"),
    [
        (TinySpec(), 1e-9),
        (TinySpec(tied=False, rope_freqs=True, rope_base=500000.0), 1e-9),
        (TinySpec(rope_linear=4.0), 1e-9),
        (gemma_spec(), 2e-6),
        (gemma_spec(rope_linear=8.0, sliding_window=48), 2e-6),
    ],
)
def test_f32_files_agree_with_llama_cpp(
    spec: TinySpec, bound: float, tiny: Tiny, llama: LlamaReference
) -> None:
    """With an f32 cache both compute the same thing, beyond several windows too."""
    path, tokens = tiny(spec), tokens_for(spec, 180)
    assert nmse(llama.logits(path, tokens, exact_cache=True), ReferenceF32(path).logits(tokens)) < bound


@pytest.mark.parametrize("spec", BY_TYPE + ODD_SHAPES, ids=label)
def test_llama_cpp_is_near_the_f32_evaluation(spec: TinySpec, tiny: Tiny, llama: LlamaReference) -> None:
    """Every type is read as llama.cpp reads it; what is left is its rounding of activations and cache."""
    path, tokens = tiny(spec), tokens_for(spec, 60)
    bound = 1e-2 if is_block_type(spec) else 1e-3 if spec.weight_type == "BF16" else 1e-5
    assert nmse(llama.logits(path, tokens), ReferenceF32(path).logits(tokens)) < bound


def test_float32_is_good_enough(tiny: Tiny) -> None:
    spec = gemma_spec(weight_type="Q8_0")
    path, tokens = tiny(spec), tokens_for(spec, 100)
    assert nmse(ReferenceF32(path).logits(tokens), ReferenceF32(path, np.float64).logits(tokens)) < 1e-10


def test_kl_divergence_of_known_distributions() -> None:
    rows = np.log(np.array([[0.5, 0.5], [0.9, 0.1]], np.float32)) + 3
    other = np.log(np.array([[0.25, 0.75], [0.9, 0.1]], np.float32)) - 5
    expected = 0.5 * np.log(0.5 / 0.25) + 0.5 * np.log(0.5 / 0.75)
    assert kl_divergence(rows, other) == pytest.approx([expected, 0.0], abs=1e-6)
