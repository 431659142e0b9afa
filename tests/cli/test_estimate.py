"""The estimate of energy is nothing but counted work times constants, and these tests count again."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtp_cli.meters.estimate import constants_for, estimate, ratio_range
from mtp_cli.work import PassShape, Work, a_pass, head_steps, in_chunks

SHAPE = PassShape(1000, 2000, 400, 220, 800, 100, 16, 8, 3, 2, 4)
"""3 full layers and 2 with a window of 4; an output matrix of 100 tokens, 8 wide."""


def test_a_pass_counted_by_hand() -> None:
    found = a_pass(SHAPE, past=10, width=2, rows=2)
    seen_full, seen_near = 11 + 12, 4 + 4
    assert found.multiply_adds == 2 * 2000 + 2 * 800 + 2 * 16 * (3 * seen_full + 2 * seen_near)
    assert found.bytes == 1000 + 400 + 2 * 2 * 8 * (3 * 12 + 2 * 5)
    assert (found.passes, found.columns) == (1, 2)
    assert found.bytes - a_pass(SHAPE, 10, 2, 2, screened=True).bytes == 400 - 220


def test_the_window_counts_from_where_it_is_full() -> None:
    wide = PassShape(0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 4)
    for past in range(8):
        for width in range(1, 7):
            seen = sum(min(4, past + i + 1) for i in range(width))
            assert a_pass(wide, past, width, 0).multiply_adds == 2 * seen, (past, width)


def test_prefill_reads_the_weights_once_a_chunk_and_the_output_once() -> None:
    plain = PassShape(1000, 2000, 400, 220, 800, 100, 16, 8, 0, 0, 0)
    found = in_chunks(plain, 0, 400, 192, all_rows=False)
    assert (found.passes, found.columns) == (3, 400)
    assert (found.bytes, found.multiply_adds) == (3 * 1000 + 400, 400 * 2000 + 800)
    rows = in_chunks(plain, 0, 20, 16, all_rows=True)
    assert (rows.bytes, rows.multiply_adds) == (2 * 1400, 20 * 2800)
    cached = in_chunks(SHAPE, 0, 400, 192, all_rows=False)
    # a chunk reads the cache up to its own end, the sliding layers what its first token can still see
    positions = 3 * (192 + 384 + 400) + 2 * (192 + 195 + 19)
    assert cached.bytes == found.bytes + 2 * 2 * 8 * positions


def test_draft_steps() -> None:
    found = head_steps(SHAPE, weight_bytes=50, draft_vocabulary=25, steps=4)
    assert found.bytes == 4 * (50 + 100)
    assert found.multiply_adds == 4 * (50 + 200)
    assert found.passes == 0


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_arithmetic_of_the_estimate(machine: str) -> None:
    known = constants_for(machine)
    work = Work(10, 40, 5e9, 8e9, 3.0)
    found = estimate(work, known)
    assert found.joules == pytest.approx(
        3.0 * known.watts.usual + 5e9 * known.byte.usual + 8e9 * known.multiply_add.usual
    )
    assert found.low == pytest.approx(
        3.0 * known.watts.low + 5e9 * known.byte.low + 8e9 * known.multiply_add.low
    )
    assert found.low < found.joules < found.high
    for constant in known.all:
        assert constant.low < constant.usual < constant.high
        assert constant.source
    assert constants_for("aarch64").watts.usual < constants_for("x86_64").watts.usual


def test_constants_that_cancel_leave_a_sure_ratio() -> None:
    known = constants_for("x86_64")
    work = Work(10, 40, 5e9, 8e9, 3.0)
    half = Work(5, 20, 2.5e9, 4e9, 1.5)
    assert ratio_range(work, half, known) == (pytest.approx(2.0), pytest.approx(2.0))


def test_a_ratio_claims_no_more_than_the_counts_carry() -> None:
    known = constants_for("x86_64")
    plain, drafted = Work(30, 30, 9e9, 3e9, 3.0), Work(10, 40, 3e9, 4e9, 2.0)
    found = ratio_range(plain, drafted, known)
    assert found is not None
    low, high = found
    parts = [3.0 / 2.0, 9e9 / 3e9, 3e9 / 4e9]
    assert min(parts) <= low < high <= max(parts)
    at_usual = estimate(plain, known).joules / estimate(drafted, known).joules
    assert low < at_usual < high
    assert ratio_range(plain, Work(), known) is None


def test_sums_and_differences() -> None:
    one, two = Work(1, 2, 3.0, 4.0, 5.0), Work(10, 20, 30.0, 40.0, 50.0)
    assert one + two == Work(11, 22, 33.0, 44.0, 55.0)
    assert one + two - one == two


def test_readme_has_these_constants() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    rows = {
        cells[1].strip(): [float(cell.split()[0]) for cell in cells[2:5]]
        for line in text.splitlines()
        if len(cells := line.split("|")) == 7 and cells[2].strip().endswith((" W", " pJ"))
    }
    x86, arm = constants_for("x86_64"), constants_for("aarch64")
    assert rows["a busy core, x86"] == [x86.watts.low, x86.watts.usual, x86.watts.high]
    assert rows["a busy core, Arm"] == [arm.watts.low, arm.watts.usual, arm.watts.high]
    for name, one in (("a byte from memory", x86.byte), ("an 8-bit multiply-add", x86.multiply_add)):
        assert rows[name] == pytest.approx([1e12 * one.low, 1e12 * one.usual, 1e12 * one.high])
