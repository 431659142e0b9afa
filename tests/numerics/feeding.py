"""Ways to put tokens through an engine, and the models and kernels that the tests go through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mtp_cli.engine import Engine, kernel_sets, open_engine

from .tiny_gguf import K_TYPES, WEIGHT_TYPES, TinySpec, gemma_spec

Rows = npt.NDArray[np.float32]

BY_TYPE = [make(weight_type=kind) for kind in WEIGHT_TYPES for make in (TinySpec, gemma_spec)]
"""Every weight type in both architectures."""

ODD_SHAPES = [
    TinySpec(tied=False, rope_freqs=True, rope_base=500000.0),
    TinySpec(tied=False, weight_type="Q4_K", output_type="Q6_K", rope_freqs=True),
    TinySpec(weight_type="Q4_1", output_type="Q8_0", tokenizer="bpe"),
    TinySpec(weight_type="Q4_0", n_embd=96, n_head=4, n_head_kv=2, head_dim=24, n_ff=160, n_vocab=277),
    TinySpec(
        weight_type="Q5_1", n_embd=96, n_head=2, n_head_kv=1, head_dim=80, n_ff=224, n_vocab=283, tied=False
    ),
    TinySpec(weight_type="Q4_0", rope_linear=4.0),
    gemma_spec(weight_type="Q4_1", rope_linear=8.0),
    TinySpec(weight_type="Q8_0", n_embd=160, n_head=5, n_head_kv=5, head_dim=32, n_ff=96, n_vocab=263),
    TinySpec(weight_type="F16", n_embd=72, n_head=3, n_head_kv=1, head_dim=24, n_ff=100, n_vocab=271),
    gemma_spec(
        weight_type="Q5_0", output_type="Q8_0", n_embd=160, n_head=2, head_dim=64, n_ff=96, n_vocab=269
    ),
    gemma_spec(weight_type="Q6_K", n_layer=13, n_head=4, n_head_kv=2, head_dim=64, sliding_window=48),
]
"""Sizes that are no multiple of a vector, untied outputs, frequency factors, mixed types."""

EXTREME = [
    make(weight_type=kind, fill="extreme") for kind in WEIGHT_TYPES[3:] for make in (TinySpec, gemma_spec)
]
"""Quants at the ends of their range and activations of one sign: integer accumulators at their worst."""


def label(spec: TinySpec) -> str:
    """Test id."""
    shape = "" if spec.n_embd == 256 else f"-{spec.n_embd}x{spec.n_ff}x{spec.head_dim}"
    extra = "".join(
        f"-{word}" for word in (spec.output_type, spec.fill if spec.fill != "normal" else "") if word
    )
    extra += "-linear" if spec.rope_linear else ""
    return f"{spec.label()}{shape}{extra}" + ("" if spec.tied else "-untied")


def tokens_for(spec: TinySpec, count: int, seed: int = 7) -> list[int]:
    """Random token ids without the special ones in front."""
    return [int(token) for token in np.random.default_rng(seed).integers(6, spec.n_vocab, count)]


def usable_kernels() -> list[str]:
    """Kernel sets that this build has and this CPU can run; none when the module is not built."""
    try:
        return [str(name) for name in kernel_sets()["usable"]]
    except ImportError:
        return ["auto"]


@contextmanager
def engine_on(path: Path, **options: Any) -> Iterator[Engine]:
    """An open engine that is closed at the end."""
    engine = open_engine(path, **({"n_ctx": 512, "n_threads": 1} | options))
    try:
        yield engine
    finally:
        engine.close()


def feed(engine: Engine, tokens: Sequence[int], width: int) -> Rows:
    """Logits [len(tokens), n_vocab] of `tokens` from position 0 on, `width` tokens a call."""
    engine.rollback(0)
    rows = [engine.logits(tokens[start : start + width]) for start in range(0, len(tokens), width)]
    return np.concatenate(rows)


def first_difference(got: Rows, want: Rows) -> str:
    """Words for an assertion: where two sets of rows part, and by how much."""
    if got.shape != want.shape:
        return f"shapes {got.shape} and {want.shape}"
    bad = np.flatnonzero((got.view(np.uint32) != want.view(np.uint32)).any(axis=1))
    if not len(bad):
        return "equal"
    row = int(bad[0])
    columns = np.flatnonzero(got[row].view(np.uint32) != want[row].view(np.uint32))
    largest = float(np.abs(got[row] - want[row]).max())
    return f"{len(bad)} rows differ; row {row}: {len(columns)} columns from {columns[0]}, up to {largest:.3g}"


def is_block_type(spec: TinySpec) -> bool:
    """True for weight types whose products quantise the activations."""
    return spec.weight_type in K_TYPES or spec.weight_type.startswith("Q")
