"""The draft head: what it computes, that it copies nothing, and head files that are no good."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtp_cli.engine import EngineError, HeadFileError

from .feeding import engine_on, tokens_for, usable_kernels
from .tiny_gguf import TinySpec, gemma_spec
from .tiny_head import TinyHead, coarse_table, make_head, table, twin_outlook, twin_step, write_head

pytestmark = pytest.mark.native

Tiny = Callable[[TinySpec], Path]
LLAMA = TinySpec(weight_type="Q8_0")
GEMMA = gemma_spec(weight_type="Q8_0")
EPS = 1e-5
CASES = [
    pytest.param(LLAMA, [[0, 1]], id="llama"),
    pytest.param(LLAMA, [[1], [0, 1]], id="llama-two-layers"),
    pytest.param(GEMMA, [[1, 5, 6]], id="gemma3-both-pools"),
]
GUESSES = [(17, 3), (-1, 0), (200, 15)]


def _open(engine: Any, tmp_path: Path, head: TinyHead, kind: str = "Q8_0") -> None:
    engine.open_head(write_head(tmp_path / "x.head.gguf", head, engine.fingerprint, kind=kind))


def _windows(spec: TinySpec) -> dict[int, tuple[int, float]]:
    if spec.arch == "llama":
        return dict.fromkeys(range(spec.n_layer), (0, spec.rope_base))
    return {
        layer: (spec.sliding_window, 10000.0) if layer % 6 < 5 else (0, spec.rope_base)
        for layer in range(spec.n_layer)
    }


@pytest.mark.parametrize("kind", ["Q8_0", "F16", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
@pytest.mark.parametrize(("spec", "sources"), CASES)
def test_states_are_those_of_the_twin(
    spec: TinySpec, sources: list[list[int]], kind: str, tiny: Tiny, tmp_path: Path
) -> None:
    model = tiny(spec)
    embedding = table(model, "token_embd.weight")
    tokens = tokens_for(spec, 60)
    head = make_head(spec, sources)
    with engine_on(model, kernel="scalar") as engine:
        _open(engine, tmp_path, head, kind)
        hidden, _, _ = engine.capture(tokens[:-4], [])
        engine.rollback(len(tokens) - 5)
        engine.decode([tokens[-5]])
        cache = {}
        for layer in sorted({layer for read in sources for layer in read}):
            keys, values = engine.read_cache(layer, 0, engine.n_past)
            cache[layer] = (keys.astype(np.float32), values.astype(np.float32))
        drafted, shares, states = engine.head_chain(0, tokens[-4], GUESSES, [100], tokens[-3:])
    state = hidden[-1]
    output = coarse_table(model, "token_embd.weight")
    for step, guess in enumerate(GUESSES):
        token = tokens[len(tokens) - 4 + step]
        place = len(tokens) - 4 + step
        state = twin_step(head, embedding, token, state, guess, place, cache, _windows(spec), EPS)
        cosine = state @ states[step] / np.linalg.norm(state) / np.linalg.norm(states[step])
        assert cosine > 0.999, step
        vocabulary = [8 * group + i for group in (*head.groups, 100 // 8) for i in range(8)]
        logits = output[vocabulary] @ states[step]
        weights = np.exp(logits - logits.max())
        assert logits[vocabulary.index(drafted[step])] > logits.max() - 0.02 * np.abs(logits).max()
        assert shares[step] == pytest.approx(1 / weights.sum(), rel=0.05)


@pytest.mark.parametrize(("spec", "sources"), CASES)
def test_same_bits_by_all_kernels_and_threads(
    spec: TinySpec, sources: list[list[int]], tiny: Tiny, tmp_path: Path
) -> None:
    tokens = tokens_for(spec, 50)
    found = []
    for kernel in usable_kernels():
        for threads in (1, 2, 3):
            with engine_on(tiny(spec), kernel=kernel, n_threads=threads) as engine:
                _open(engine, tmp_path, make_head(spec, sources))
                engine.prefill(tokens)
                drafted, _, states = engine.head_chain(0, 9, GUESSES, tokens)
                found.append((drafted, states.tobytes()))
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize(("spec", "sources"), CASES)
def test_the_cache_is_only_read(spec: TinySpec, sources: list[list[int]], tiny: Tiny, tmp_path: Path) -> None:
    tokens = tokens_for(spec, 50)

    def contents(engine: Any) -> bytes:
        pairs = (engine.read_cache(layer, 20, 50) for layer in range(spec.n_layer))
        return b"".join(part.tobytes() for pair in pairs for part in pair)

    with engine_on(tiny(spec)) as engine:
        engine.prefill(tokens)
        bytes_before, before = engine._native.cache_bytes, contents(engine)
        _open(engine, tmp_path, make_head(spec, sources))
        engine.prefill([5])
        engine.rollback(len(tokens))
        engine.decode([7])
        engine.rollback(len(tokens))
        engine.head_chain(0, 9, GUESSES, tokens)
        assert engine.n_past == len(tokens)
        assert engine._native.cache_bytes == bytes_before
        assert contents(engine) == before
        head = engine.head
        assert head is not None and head.sources == sources
        # no cache, no embedding table, no output matrix of its own: nothing grows with the vocabulary
        assert head.buffer_bytes < 64 * 1024 + 64 * spec.n_ctx_train
        assert head.weight_bytes < 1.1 * head.file_bytes


def test_what_the_head_reads_matters(tiny: Tiny, tmp_path: Path) -> None:
    """Another state, another guess, or other cached values give another state."""
    tokens = tokens_for(LLAMA, 50)
    head = make_head(LLAMA, [[0, 1]])
    with engine_on(tiny(LLAMA)) as engine:
        _open(engine, tmp_path, head)
        engine.prefill(tokens)
        base = engine.head_chain(0, 9, [(17, 3)], [])[2]
        assert (engine.head_chain(0, 9, [(17, 3)], [])[2] == base).all()
        assert (engine.head_chain(0, 9, [(18, 3)], [])[2] != base).any()
        assert (engine.head_chain(0, 9, [(17, 4)], [])[2] != base).any()
        assert (engine.head_chain(0, 8, [(17, 3)], [])[2] != base).any()
        engine.rollback(0)
        engine.prefill([*tokens[:20], 3, *tokens[21:]])
        other = engine.head_chain(0, 9, [(17, 3)], [])[2]
        assert (other != base).any()


@pytest.mark.parametrize("kernel", usable_kernels())
def test_the_outlook_is_that_of_the_twin(kernel: str, tiny: Tiny, tmp_path: Path) -> None:
    tokens = tokens_for(LLAMA, 20)
    head = make_head(LLAMA, [[0, 1]], outlook=True)
    model = tiny(LLAMA)
    embedding = table(model, "token_embd.weight")
    with engine_on(model, kernel=kernel) as engine:
        _open(engine, tmp_path, head)
        hidden, _, _ = engine.capture(tokens, [])
        engine.rollback(len(tokens) - 1)
        engine.decode([tokens[-1]])
        for guess in GUESSES:
            copy, own = engine._native.head_outlook(0, 9, *guess)
            wanted = twin_outlook(head, embedding, 9, hidden[-1], guess, EPS)
            assert own == pytest.approx(wanted[1], abs=0.02)
            assert copy == (pytest.approx(wanted[0], abs=0.02) if guess[1] else 0)
        _open(engine, tmp_path, make_head(LLAMA, [[0, 1]]))
        assert engine._native.head_outlook(0, 9, 17, 3) is None


@pytest.mark.parametrize("name", ["outlook.bias", "outlook_output.weight", "outlook_output.bias"])
def test_an_outlook_that_is_not_whole(name: str, tiny: Tiny, tmp_path: Path) -> None:
    head = make_head(LLAMA, [[0, 1]], outlook=True)
    with engine_on(tiny(LLAMA)) as engine:
        whole = head.weights.pop(name)
        with pytest.raises(HeadFileError, match=name):
            _open(engine, tmp_path, head)
        head.weights[name] = np.full_like(whole, np.nan)
        with pytest.raises(HeadFileError, match="not numbers"):
            _open(engine, tmp_path, head)


BAD = [
    ({"backbone.fingerprint": "0123456789abcdef"}, "another model"),
    ({"sources": [0, 2]}, "reads layer 2 of a model with 2 layers"),
    ({"sources": [0, -1]}, "reads layer -1"),
    ({"source_counts": [3]}, "source_counts"),
    ({"block_count": 9}, "block_count"),
    ({"block_count": None}, "block_count"),
    ({"feed_forward_length": 65}, "feed_forward_length"),
    ({"draft_groups": [0, 0]}, "draft_groups"),
    ({"draft_groups": [99999]}, "draft_groups"),
    ({"draft_groups": None}, "draft_groups"),
    ({"architecture": "llama"}, "not a draft head"),
]


@pytest.mark.parametrize(("changes", "words"), BAD)
def test_wrong_metadata(changes: dict[str, Any], words: str, tiny: Tiny, tmp_path: Path) -> None:
    with engine_on(tiny(LLAMA)) as engine:
        path = write_head(tmp_path / "bad.gguf", make_head(LLAMA, [[0, 1]]), engine.fingerprint, **changes)
        with pytest.raises(HeadFileError, match=words) as caught:
            engine.open_head(path)
        assert "\n" not in str(caught.value)
        assert engine.head is None


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["output_norm.weight", "blk.0.ffn_norm.weight", "guess_bias.weight"])
def test_weights_that_are_no_numbers(name: str, value: float, tiny: Tiny, tmp_path: Path) -> None:
    head = make_head(LLAMA, [[0, 1]])
    head.weights[name].flat[-1] = value
    with engine_on(tiny(LLAMA)) as engine, pytest.raises(HeadFileError, match="not numbers"):
        _open(engine, tmp_path, head)


def test_matrix_scales_that_are_no_numbers(tiny: Tiny, tmp_path: Path) -> None:
    with engine_on(tiny(LLAMA)) as engine:
        path = write_head(tmp_path / "x.gguf", make_head(LLAMA, [[0, 1]]), engine.fingerprint)
        import gguf

        found = next(t for t in gguf.GGUFReader(path).tensors if t.name == "blk.0.attn_q.weight")
        at = int(found.data_offset)
        whole = bytearray(path.read_bytes())
        whole[at : at + 2] = b"\x00\x7e"
        path.write_bytes(whole)
        with pytest.raises(HeadFileError, match="not numbers"):
            engine.open_head(path)


def test_missing_and_truncated(tiny: Tiny, tmp_path: Path) -> None:
    with engine_on(tiny(LLAMA)) as engine:
        with pytest.raises(HeadFileError):
            engine.open_head(tmp_path / "none.gguf")
        path = write_head(tmp_path / "x.gguf", make_head(LLAMA, [[0, 1]]), engine.fingerprint)
        whole = path.read_bytes()
        for size in (0, 3, 40, len(whole) // 2, len(whole) - 64):
            path.write_bytes(whole[:size])
            with pytest.raises(HeadFileError):
                engine.open_head(path)
        head = make_head(LLAMA, [[0, 1]])
        del head.weights["blk.0.ffn_up.weight"]
        with pytest.raises(HeadFileError, match="ffn_up"):
            _open(engine, tmp_path, head)
        # and the engine is as before
        _open(engine, tmp_path, make_head(LLAMA, [[0, 1]]))
        engine.prefill(tokens_for(LLAMA, 8))
        with pytest.raises(HeadFileError):
            engine.open_head(tmp_path / "none.gguf")
        assert engine.head is not None
        engine.head_chain(0, 9, [(17, 3)], [])


def test_chains_of_any_length_and_guesses_of_any_kind(tiny: Tiny, tmp_path: Path) -> None:
    """Far beyond a sliding window the newest cached position stays in sight; no guess reads outside."""
    tokens = tokens_for(GEMMA, 47)
    with engine_on(tiny(GEMMA)) as engine:
        _open(engine, tmp_path, make_head(GEMMA, [[1, 5, 6]]))
        engine.prefill(tokens)
        _, shares, states = engine.head_chain(0, 9, [(17, 3)] * 200, tokens)
        assert np.isfinite(states).all() and all(0 < share <= 1.001 for share in shares)
        for kind in (-1, 16, 10**6):
            with pytest.raises(EngineError, match="out of range"):
                engine.head_chain(0, 9, [(17, kind)], tokens)


def test_flipped_bits_never_crash(tiny: Tiny, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    with engine_on(tiny(LLAMA)) as engine:
        path = write_head(tmp_path / "x.gguf", make_head(LLAMA, [[0, 1]]), engine.fingerprint)
        whole = path.read_bytes()
        tokens = tokens_for(LLAMA, 8)
        engine.prefill(tokens)
        for _ in range(150):
            damaged = bytearray(whole)
            for _ in range(4):
                # the header is where it hurts
                damaged[int(rng.integers(0, 3000))] ^= 1 << int(rng.integers(0, 8))
            path.write_bytes(damaged)
            try:
                engine.open_head(path)
            except HeadFileError:
                continue
            engine.rollback(len(tokens) - 1)
            engine.decode([tokens[-1]])
            engine.head_chain(0, 9, GUESSES, tokens)
