"""Both real models: exact against themselves, and near the f32 evaluation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .compare_f32 import compare, text_tokens
from .feeding import engine_on, feed, first_difference
from .measures import same_bits
from .reference_llama import LlamaReference
from .texts import english

pytestmark = [pytest.mark.native, pytest.mark.model]
MODELS = ("smollm2", "gemma3")


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Path:
    """Path of each real model in turn."""
    path: Path = request.getfixturevalue(request.param)
    return path


@pytest.mark.slow
def test_256_positions_have_the_same_bits(model: Path) -> None:
    """One by one, by 4, by 16 and as one prefill, with 1 and with 2 threads."""
    with engine_on(model, n_threads=1) as engine:
        tokens = engine.tokenize(english()[:4000], bos=True)[:256]
        assert len(tokens) == 256
        want = feed(engine, tokens, 1)
        assert np.isfinite(want).all()
    for threads in (1, 2):
        with engine_on(model, n_threads=threads) as engine:
            for width in (1, 4, 16, 256):
                got = feed(engine, tokens, width)
                assert same_bits(got, want), f"by {width}, {threads} threads: {first_difference(got, want)}"
            for length in (1, 16, 37, 128, 200, 255):
                engine.rollback(0)
                assert engine.prefill(tokens[:length]) == int(want[length - 1].argmax())
                got, expected = engine.logits(tokens[length : length + 4]), want[length : length + 4]
                assert same_bits(got, expected), f"prefill of {length}, {threads} threads"


@pytest.mark.slow
def test_beyond_the_sliding_window(model: Path) -> None:
    """700 positions: more than Gemma's window of 512. The last rows are equal by 16 and after a prefill."""
    with engine_on(model, n_threads=2, n_ctx=1024) as engine:
        tokens = engine.tokenize(english()[:8000], bos=True)[:700]
        assert len(tokens) == 700
        engine.prefill(tokens[:500])
        want = np.concatenate([engine.logits([token]) for token in tokens[500:]])[-40:]
        engine.rollback(0)
        engine.prefill(tokens[:660])
        got = np.concatenate([engine.logits(tokens[start : start + 8]) for start in range(660, 700, 8)])
        assert same_bits(got, want), first_difference(got, want)


@pytest.mark.slow
def test_no_farther_from_f32_than_llama_cpp(model: Path, llama: LlamaReference) -> None:
    """A short form of compare_f32.py; the allowances are for 256 positions only."""
    tokens = text_tokens(model, english(), 256, llama)
    found = compare(model, tokens, llama=llama)
    assert found.kl_native is not None and found.native_f32 is not None and found.native_llama is not None
    assert found.kl_native <= 1.15 * found.kl_llama, found
    assert found.native_f32 >= found.llama_f32 - 0.02, found
    assert found.native_llama >= 0.93, found


def test_tokenizer_agrees_with_llama_cpp(model: Path, llama: LlamaReference) -> None:
    text = english()[:3000] + "\n\n  naïve café — 東京 🙂\t<|im_end|> x=1;\n"
    with engine_on(model) as engine:
        assert engine.tokenize(text, bos=True) == llama.tokenize(model, text)
