"""Statistics against numbers worked out by hand."""

from __future__ import annotations

import random

import pytest

from mtp_cli.bench.statistics import (
    Pair,
    Spread,
    first_difference,
    median,
    paired_ratio,
    quantile,
    rate,
    spread,
)


def test_median_of_odd_and_even() -> None:
    assert median([5.0, 1.0, 3.0]) == 3.0
    assert median([4.0, 1.0, 3.0, 2.0]) == 2.5
    with pytest.raises(ValueError, match="nothing"):
        median([])


def test_quantile_is_linear_between_neighbours() -> None:
    values = [10.0, 0.0, 30.0, 20.0]
    assert quantile(values, 0.0) == 0.0
    assert quantile(values, 0.5) == 15.0
    assert quantile(values, 0.9) == pytest.approx(27.0)
    assert quantile(values, 1.0) == 30.0
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile(values, 1.5)


def test_spread_of_nothing_is_unavailable() -> None:
    assert spread([]) is None
    assert spread([2.0, 9.0, 4.0]) == Spread(2.0, 4.0, 9.0, 3)


def test_rate_is_total_over_total_not_the_mean_of_rates() -> None:
    # 100 tokens in 1 s and 10 in 10 s: 110 / 11 = 10, where the mean of rates would be 50.5.
    assert rate([[(100.0, 1.0)], [(10.0, 10.0)]]) == 10.0


def test_rate_takes_the_median_of_repeats() -> None:
    assert rate([[(10.0, 1.0), (10.0, 2.0), (10.0, 50.0)]]) == 5.0


@pytest.mark.parametrize("groups", [[], [[]], [[(0.0, 1.0)]], [[(5.0, 0.0)]]])
def test_rate_that_cannot_be_had_is_none(groups: list[list[tuple[float, float]]]) -> None:
    assert rate(groups) is None


def test_ratio_of_a_twice_as_fast_arm() -> None:
    groups = [[Pair(10, 2.0, 10, 1.0)] * 5, [Pair(40, 8.0, 40, 4.0)] * 5]
    found = paired_ratio(groups)
    assert found is not None
    assert (found.ratio, found.low, found.high, found.groups) == (2.0, 2.0, 2.0, 2)


def test_ratio_weighs_prompts_by_their_time() -> None:
    # base: 20 tokens / 11 s, arm: 20 tokens / 2 s.
    found = paired_ratio([[Pair(10, 1.0, 10, 1.0)], [Pair(10, 10.0, 10, 1.0)]])
    assert found is not None
    assert found.ratio == pytest.approx(5.5)
    assert found.low == pytest.approx(1.0)
    assert found.high == pytest.approx(10.0)


def test_ratio_counts_each_arms_own_tokens() -> None:
    found = paired_ratio([[Pair(10, 1.0, 30, 1.0)]])
    assert found is not None
    assert found.ratio == pytest.approx(3.0)


def test_one_pair_has_no_interval_and_none_has_no_ratio() -> None:
    found = paired_ratio([[Pair(1, 3.0, 1, 2.0)]])
    assert found is not None
    assert (found.ratio, found.low, found.high) == (1.5, None, None)
    assert paired_ratio([]) is None
    assert paired_ratio([[], []]) is None


def test_interval_is_reproducible_and_depends_on_the_seed() -> None:
    draw = random.Random(1)
    groups = [[Pair(10, draw.uniform(2, 3), 10, draw.uniform(1, 1.5)) for _ in range(5)] for _ in range(8)]
    one, again, other = paired_ratio(groups), paired_ratio(groups), paired_ratio(groups, seed=5)
    assert one == again
    assert one != other


def test_interval_covers_the_truth_about_95_times_in_100() -> None:
    draw = random.Random(7)
    hits = 0
    for _ in range(120):
        groups = [
            [Pair(1, 2.0 * draw.lognormvariate(0, 0.2), 1, draw.lognormvariate(0, 0.2))] for _ in range(30)
        ]
        found = paired_ratio(groups, resamples=300)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 2.0 <= found.high
    assert 104 <= hits <= 120


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [([], [], None), ([1, 2], [1, 2], None), ([1, 2], [1, 3], 1), ([1, 2], [1], 1), ([], [4], 0)],
)
def test_first_difference(one: list[int], other: list[int], place: int | None) -> None:
    assert first_difference(one, other) == place
