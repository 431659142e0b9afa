"""Exactness: a row of logits has the same bits however its token came through the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mtp_cli.engine import MAX_WIDTH, Engine, EngineError

from .feeding import (
    BY_TYPE,
    EXTREME,
    ODD_SHAPES,
    engine_on,
    feed,
    first_difference,
    label,
    tokens_for,
    usable_kernels,
)
from .measures import same_bits
from .tiny_gguf import TinySpec, gemma_spec

pytestmark = pytest.mark.native

Tiny = Callable[[TinySpec], Path]
KERNELS = usable_kernels()
POSITIONS = 48  # half as much again as a sliding window
WRAPPING = [
    gemma_spec(weight_type="Q4_K", sliding_window=16, n_ctx_train=4096),
    gemma_spec(weight_type="Q8_0", sliding_window=40, n_layer=8, n_ctx_train=4096),
    TinySpec(weight_type="Q4_1", n_ctx_train=4096),
]
BROAD = [
    TinySpec(weight_type="Q6_K", n_ff=2304, n_layer=3),
    TinySpec(weight_type="Q5_0", n_ff=2080, n_layer=3),
    gemma_spec(weight_type="Q4_K", n_ff=1280, head_dim=256, n_layer=3),
]
"""More columns than a wide product decodes at a time."""
LONG = 1500
"""Positions after which a sliding pool has wrapped around more than once, its slack (512 slots) included."""


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("spec", BY_TYPE + ODD_SHAPES + EXTREME, ids=label)
def test_width(spec: TinySpec, kernel: str, tiny: Tiny) -> None:
    """One by one, by every width up to 16, and more tokens than a pass takes."""
    path, tokens = tiny(spec), tokens_for(spec, POSITIONS)
    with engine_on(path, kernel=kernel) as engine:
        want = feed(engine, tokens, 1)
        assert np.isfinite(want).all() and np.ptp(want) > 0
        # the scalar set is slow, and its order of operations is the others'
        widths = (2, 3, 7, MAX_WIDTH) if kernel == "scalar" else range(2, MAX_WIDTH + 1)
        for width in (*widths, POSITIONS):
            got = feed(engine, tokens, width)
            assert same_bits(got, want), f"by {width}: {first_difference(got, want)}"


@pytest.mark.parametrize("spec", BY_TYPE + ODD_SHAPES + EXTREME, ids=label)
def test_threads(spec: TinySpec, tiny: Tiny) -> None:
    """2 and 3 threads. Few passes, since threads that outnumber the cores are slow."""
    path, tokens = tiny(spec), tokens_for(spec, 48)
    with engine_on(path) as engine:
        want = feed(engine, tokens, 16)
    for threads in (2, 3):
        with engine_on(path, n_threads=threads) as engine:
            for width, count in ((1, 4), (5, 15), (16, 48)):
                got = feed(engine, tokens[:count], width)
                assert same_bits(got, want[:count]), (
                    f"{threads} threads: {first_difference(got, want[:count])}"
                )


@pytest.mark.parametrize("spec", BY_TYPE + ODD_SHAPES + EXTREME, ids=label)
def test_kernel_sets_agree(spec: TinySpec, tiny: Tiny) -> None:
    """Every kernel set gives the same bits: the order of operations is the same in all of them."""
    path, tokens = tiny(spec), tokens_for(spec, 40)
    rows = {}
    for kernel in KERNELS:
        with engine_on(path, kernel=kernel) as engine:
            rows[kernel] = feed(engine, tokens, 8)
    first = rows[KERNELS[0]]
    for kernel, got in rows.items():
        assert same_bits(got, first), f"{kernel} and {KERNELS[0]}: {first_difference(got, first)}"


@pytest.mark.parametrize("spec", WRAPPING, ids=label)
def test_many_windows(spec: TinySpec, tiny: Tiny) -> None:
    """The sliding pool wraps around, fed in passes and by prefill, before and after rollbacks."""
    path, tokens = tiny(spec), tokens_for(spec, LONG)
    with engine_on(path, n_ctx=LONG) as engine:
        want = feed(engine, tokens, 1)
        for width in (7, 16):
            got = feed(engine, tokens, width)
            assert same_bits(got, want), f"by {width}: {first_difference(got, want)}"
        for length in (500, 527, 528, 529, 545, 1055, 1057, 1100, 1490):
            engine.rollback(0)
            assert engine.prefill(tokens[:length]) == int(want[length - 1].argmax())
            got = engine.logits(tokens[length : length + 10])
            assert same_bits(got, want[length : length + 10]), f"after a prefill of {length}"
            engine.rollback(length)
            got = engine.logits(tokens[length : length + 10])
            assert same_bits(got, want[length : length + 10]), f"after going back to {length}"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("spec", WRAPPING, ids=label)
def test_prefill_then_decode(spec: TinySpec, kernel: str, tiny: Tiny) -> None:
    """A prefill leaves the same cache as single tokens do, and returns the arg-max of the last row."""
    path, tokens = tiny(spec), tokens_for(spec, 200)
    with engine_on(path, kernel=kernel) as engine:
        want = feed(engine, tokens, 1)
        for length in (1, 2, 15, 16, 17, 31, 32, 33, 64, 100, 129, 184):
            engine.rollback(0)
            assert engine.prefill(tokens[:length]) == int(want[length - 1].argmax())
            assert engine.n_past == length
            pass_tokens = tokens[length : length + 5]
            got = engine.logits(pass_tokens)
            assert same_bits(got, want[length : length + 5]), first_difference(got, want[length : length + 5])
            rest = engine.decode(tokens[length + 5 : length + 16])
            assert rest == want[length + 5 : length + 16].argmax(axis=1).tolist()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("spec", BY_TYPE + ODD_SHAPES + EXTREME + BROAD, ids=label)
def test_wide_prefill(spec: TinySpec, kernel: str, tiny: Tiny) -> None:
    """Wide products, whose weights are decoded once for all columns, leave what narrow ones do."""
    path, tokens = tiny(spec), tokens_for(spec, 74)
    with engine_on(path, kernel=kernel) as engine:
        want = feed(engine, tokens, 8)
        for length in (39, 66):
            engine.rollback(0)
            assert engine.prefill(tokens[:length]) == int(want[length - 1].argmax())
            got = engine.logits(tokens[length : length + 8])
            assert same_bits(got, want[length : length + 8]), first_difference(got, want[length : length + 8])


@pytest.mark.parametrize("threads", [1, 2])
def test_prefill_in_two_calls(threads: int, tiny: Tiny) -> None:
    spec = WRAPPING[0]
    path, tokens = tiny(spec), tokens_for(spec, 150)
    with engine_on(path, n_threads=threads) as engine:
        want = feed(engine, tokens, 1)
        for cut in (1, 3, 16, 50, 97):
            engine.rollback(0)
            engine.prefill(tokens[:cut])
            engine.prefill(tokens[cut:140])
            got = engine.logits(tokens[140:])
            assert same_bits(got, want[140:]), f"cut at {cut}: {first_difference(got, want[140:])}"


@pytest.mark.parametrize("spec", WRAPPING, ids=label)
def test_rollback_of_wrong_tokens(spec: TinySpec, tiny: Tiny) -> None:
    """Draft tokens that were wrong leave no trace, at every width and far beyond the window."""
    path, tokens, wrong = tiny(spec), tokens_for(spec, 160), tokens_for(spec, 160, seed=99)
    with engine_on(path) as engine:
        want = feed(engine, tokens, 1)
        engine.rollback(0)
        rows, position, width = [], 0, 1
        while position < len(tokens):
            # a pass of one right token and width - 1 wrong ones; only the first row counts
            drafts = wrong[position : position + width - 1]
            rows.append(engine.logits([tokens[position], *drafts])[:1])
            position += 1
            engine.rollback(position)
            assert engine.n_past == position
            width = width % MAX_WIDTH + 1
        got = np.concatenate(rows)
        assert same_bits(got, want), first_difference(got, want)


def _go_back_as_far_as_possible(engine: Engine) -> int:
    """Roll back one position at a time until the engine refuses; returns where it stands then."""
    for position in range(engine.n_past - 1, -1, -1):
        try:
            engine.rollback(position)
        except EngineError:
            break
    return engine.n_past


@pytest.mark.parametrize("spec", WRAPPING, ids=label)
def test_a_far_rollback_is_refused_or_right(spec: TinySpec, tiny: Tiny) -> None:
    """Going back over more than a wrapped sliding pool holds is an error; all else gives the same bits."""
    path, tokens = tiny(spec), tokens_for(spec, LONG)
    with engine_on(path, n_ctx=LONG) as engine:
        want = feed(engine, tokens, 16)
        for fed, back in ((300, 299), (300, 150), (300, 7), (LONG, LONG - 1), (LONG, 1400)):
            engine.rollback(0)
            engine.prefill(tokens[:fed])
            engine.rollback(back)
            assert engine.n_past == back
            got, expected = engine.logits(tokens[back : back + 100]), want[back : back + 100]
            assert same_bits(got, expected), f"{fed} back to {back}: {first_difference(got, expected)}"
        engine.rollback(0)
        engine.prefill(tokens)
        back = _go_back_as_far_as_possible(engine)
        assert (back > 0) == (spec.arch == "gemma3"), "only a sliding pool forgets"
        got, expected = engine.logits(tokens[back : back + 40]), want[back : back + 40]
        assert same_bits(got, expected), f"as far back as {back}: {first_difference(got, expected)}"


def test_abort_in_a_prefill_loses_nothing(tiny: Tiny) -> None:
    """The pass that was cut short may have written over old positions: going back must know that."""
    spec = WRAPPING[0]
    path, tokens = tiny(spec), tokens_for(spec, 1000)
    aborted = 0
    with engine_on(path, n_ctx=1000) as engine:
        want = feed(engine, tokens, 16)
        for delay in (0.0005, 0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.014, 0.02, 0.03):
            engine.rollback(0)
            engine.prefill(tokens[:540])
            timer = threading.Timer(delay, engine.abort)
            timer.start()
            try:
                engine.prefill(tokens[540:])
            except EngineError as error:
                assert str(error) == "aborted"
                aborted += 1
            timer.join()
            assert 540 <= engine.n_past <= 1000
            back = _go_back_as_far_as_possible(engine)
            got, expected = engine.logits(tokens[back : back + 10]), want[back : back + 10]
            assert same_bits(got, expected), f"as far back as {back}: {first_difference(got, expected)}"
    assert aborted > 0, "the machine is too fast or too slow for this test: no call was aborted"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("spec", BY_TYPE[:2] + WRAPPING, ids=label)
def test_neighbours_do_not_matter(spec: TinySpec, kernel: str, tiny: Tiny) -> None:
    """Rows of a pass do not change with the tokens after them in the same pass."""
    path, tokens, other = tiny(spec), tokens_for(spec, 120), tokens_for(spec, 120, seed=5)
    with engine_on(path, kernel=kernel, n_threads=2) as engine:
        want = feed(engine, tokens, 120)
        for keep in (1, 3, 8, 15):
            engine.rollback(0)
            engine.prefill(tokens[:60])
            got = engine.logits([*tokens[60 : 60 + keep], *other[: MAX_WIDTH - keep]])[:keep]
            assert same_bits(got, want[60 : 60 + keep]), first_difference(got, want[60 : 60 + keep])


def test_a_second_run_is_equal(tiny: Tiny) -> None:
    """Another process-fresh engine on the same file gives the same bits."""
    spec = BY_TYPE[-1]
    path, tokens = tiny(spec), tokens_for(spec, 50)
    rows = []
    for _ in range(2):
        with engine_on(path, n_threads=2) as engine:
            rows.append(feed(engine, tokens, 6))
    assert same_bits(rows[0], rows[1])
