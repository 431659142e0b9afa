"""The engine's answers on tiny files of every weight type and architecture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from .feeding import (
    BY_TYPE,
    EXTREME,
    ODD_SHAPES,
    Rows,
    engine_on,
    feed,
    is_block_type,
    label,
    tokens_for,
    usable_kernels,
)
from .measures import nmse
from .reference_f32 import ReferenceF32
from .reference_llama import LlamaReference
from .tiny_gguf import TinySpec

pytestmark = pytest.mark.native

POSITIONS = 70  # more than two sliding windows
_known: dict[TinySpec, tuple[Rows, Rows]] = {}
"""f32 and llama.cpp logits, shared by the kernel sets."""


def _bound(spec: TinySpec) -> float:
    """Largest NMSE allowed: block types quantise activations to 8 bits, the cache is half precision."""
    if is_block_type(spec):
        return 1e-2
    return 1e-3 if spec.weight_type == "BF16" else 1e-5


@pytest.mark.parametrize("kernel", usable_kernels())
@pytest.mark.parametrize("spec", BY_TYPE + ODD_SHAPES + EXTREME, ids=label)
def test_logits(spec: TinySpec, kernel: str, tiny: Callable[[TinySpec], Path], llama: LlamaReference) -> None:
    """Within the stated NMSE of the f32 evaluation and of llama.cpp, and no farther from f32 than that is."""
    path, tokens = tiny(spec), tokens_for(spec, POSITIONS)
    if spec not in _known:
        _known[spec] = ReferenceF32(path).logits(tokens), llama.logits(path, tokens)
    truth, stock = _known[spec]
    with engine_on(path, kernel=kernel) as engine:
        for width in (1, POSITIONS):
            got = feed(engine, tokens, width)
            assert got.dtype == np.float32 and got.shape == (POSITIONS, spec.n_vocab)
            assert np.isfinite(got).all()
            assert nmse(got, truth) < _bound(spec)
            assert nmse(got, stock) < 2 * _bound(spec)
            # 5e-6: what rounding the cache to half precision may cost by chance. The extreme files leave few
            # directions in which errors can cancel, so that chance decides there.
            allowance = 1.5 if spec.fill == "normal" else 3.0
            assert nmse(got, truth) <= allowance * nmse(stock, truth) + 5e-6
