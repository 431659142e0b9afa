"""The arg-max from half of the output matrix is the arg-max of all of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt
import pytest

from .feeding import engine_on, tokens_for, usable_kernels
from .tiny_gguf import TinySpec, gemma_spec, write_tiny

pytestmark = pytest.mark.native

Tiny = Callable[[TinySpec], Path]
ROWS = 2053  # a last group of five rows
SPECS = [
    TinySpec(weight_type="Q8_0", n_vocab=ROWS),
    TinySpec(weight_type="Q4_0", n_vocab=ROWS, tied=False, output_type="Q8_0", n_embd=288),
    gemma_spec(weight_type="Q8_0", n_vocab=ROWS),
]
BLOCK = 34  # bytes: an f16 scale and 32 quants


def _both_ways(path: Path, tokens: list[int], kernel: str) -> dict[str, int]:
    """Arg-max of every position by all widths, screened and not; returns what screening did."""
    with engine_on(path, kernel=kernel) as engine:
        native: Any = engine._native
        full = [int(row.argmax()) for row in engine.logits(tokens)]
        for width in (1, 2, 3, 5, 6, 7, 16):
            engine.rollback(0)
            found: list[int] = []
            for at in range(0, len(tokens), width):
                found += engine.decode(tokens[at : at + width])
            assert found == full, f"by {width}"
        native.allow_screening(False)
        engine.rollback(0)
        assert [engine.decode([token])[0] for token in tokens] == full
        stats: dict[str, int] = native.screen_stats()
    return stats


@pytest.mark.parametrize("kernel", usable_kernels())
@pytest.mark.parametrize("spec", SPECS, ids=("tied", "untied", "gemma3"))
def test_random_weights(spec: TinySpec, kernel: str, tiny: Tiny) -> None:
    stats = _both_ways(tiny(spec), tokens_for(spec, 24 if kernel == "scalar" else 96), kernel)
    assert stats["passes"] > 0 and 0 < stats["survivors"] <= stats["groups"]


def _edit(path: Path, change: Callable[[npt.NDArray[np.uint8]], None]) -> None:
    """Change the blocks of output.weight in the file: [rows, blocks, 34] bytes."""
    tensor = next(t for t in gguf.GGUFReader(path).tensors if t.name == "output.weight")
    rows = tensor.data.shape[0]
    at, size = int(tensor.data_offset), int(tensor.n_bytes)
    whole = np.fromfile(path, np.uint8)
    blocks = whole[at : at + size].reshape(rows, -1, BLOCK)
    change(blocks)
    whole.tofile(path)


def _equal_rows(blocks: npt.NDArray[np.uint8]) -> None:
    blocks[:] = blocks[:16].repeat(-(-len(blocks) // 16), axis=0)[: len(blocks)]


def _one_low_nibble(blocks: npt.NDArray[np.uint8]) -> None:
    _equal_rows(blocks)
    for row in range(len(blocks)):
        blocks[row, row % blocks.shape[1], 2 + row % 32] ^= 1


def _zero_rows(blocks: npt.NDArray[np.uint8]) -> None:
    blocks[::3] = 0
    blocks[1::3, :, :2] = 0  # quants without a scale


def _scales(blocks: npt.NDArray[np.uint8]) -> None:
    rng = np.random.default_rng(5)
    scale = (10.0 ** rng.uniform(-7, 4, blocks.shape[:2])).astype(np.float16)
    blocks[:, :, :2] = scale[..., None].view(np.uint8)


def _ends_of_the_range(blocks: npt.NDArray[np.uint8]) -> None:
    rng = np.random.default_rng(6)
    blocks[:, :, 2:] = rng.choice(np.array([0x80, 0x7F, 0x8F, 0x70], np.uint8), blocks[:, :, 2:].shape)


@pytest.mark.parametrize("change", [_equal_rows, _one_low_nibble, _zero_rows, _scales, _ends_of_the_range])
def test_adversarial_rows(change: Callable[[npt.NDArray[np.uint8]], None], tmp_path: Path) -> None:
    """Ties (the first of equals wins), near ties, nothing at all, and scales from tiny to huge."""
    spec = SPECS[1]
    path = write_tiny(tmp_path / "edited.gguf", spec)
    _edit(path, change)
    _both_ways(path, tokens_for(spec, 48), "auto")


def _same_candidates(path: Path, tokens: list[int], kernel: str, top_k: int, min_p: float) -> None:
    """Every token that a draw may choose is named, with the bits of the full product."""
    with engine_on(path, kernel=kernel) as engine:
        native: Any = engine._native
        full = engine.logits(tokens)
        for width in (1, 3, 16):
            engine.rollback(0)
            for at in range(0, len(tokens), width):
                native.allow_screening(True)  # however many groups were left so far
                rows = native.candidates(tokens[at : at + width], top_k, min_p)
                assert rows, "nothing was screened"
                for logits, (ids, values) in zip(full[at : at + width], rows, strict=True):
                    assert ids == sorted(set(ids))
                    assert np.array_equal(np.float32(values), logits[ids])
                    order = np.lexsort((np.arange(len(logits)), -logits))
                    wanted = set(order[:top_k].tolist()) if top_k else set(range(len(logits)))
                    if min_p:
                        likely = np.float32(logits.max()) + np.log(np.float32(min_p))
                        wanted &= set(np.flatnonzero(logits >= likely).tolist())
                    assert wanted <= set(ids)


@pytest.mark.parametrize(("top_k", "min_p"), [(1, 0.0), (40, 0.0), (0, 0.2), (40, 0.05), (5000, 0.0)])
@pytest.mark.parametrize("spec", SPECS, ids=("tied", "untied", "gemma3"))
def test_candidates(spec: TinySpec, top_k: int, min_p: float, tiny: Tiny) -> None:
    _same_candidates(tiny(spec), tokens_for(spec, 12), "auto", top_k, min_p)


@pytest.mark.parametrize("change", [_equal_rows, _one_low_nibble, _zero_rows, _scales])
def test_candidates_of_adversarial_rows(
    change: Callable[[npt.NDArray[np.uint8]], None], tmp_path: Path
) -> None:
    """Ties at the k-th place: all that share it may be named, none that is ahead is missing."""
    spec = SPECS[1]
    path = write_tiny(tmp_path / "edited.gguf", spec)
    _edit(path, change)
    _same_candidates(path, tokens_for(spec, 8), "auto", 40, 0.0)
