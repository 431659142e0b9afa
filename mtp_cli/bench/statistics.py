"""Pure functions on measurements: spreads, totals, paired ratios and their bootstrap intervals.

Names: a *group* is one prompt, its *pairs* are the repeated runs of that prompt. In a pair both arms ran
right after each other, so that a slow moment of the machine hits both.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 2000
LEAST_RESAMPLES = 400
PAIRS_DRAWN = 200_000
"""With many pairs fewer resamples will do: a report is not to take longer than a measurement."""
SEED = 20240601


def median(values: Sequence[float]) -> float:
    """The middle value; the mean of the two middle ones when their number is even.

    Raises ValueError when there is none.
    """
    if not values:
        raise ValueError("median of nothing")
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def quantile(values: Sequence[float], q: float) -> float:
    """The q-quantile (0 <= q <= 1), linear between neighbours. Raises ValueError when there is none."""
    if not values:
        raise ValueError("quantile of nothing")
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"quantile {q} is not between 0 and 1")
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


@dataclass(frozen=True, slots=True)
class Spread:
    """Least, middle and greatest of n values."""

    minimum: float
    median: float
    maximum: float
    n: int


def spread(values: Sequence[float]) -> Spread | None:
    """None when there is no value: it is unavailable, not 0."""
    if not values:
        return None
    return Spread(min(values), median(values), max(values), len(values))


@dataclass(frozen=True, slots=True)
class Pair:
    """One run of one prompt in both arms. Amounts are tokens (or 1 where only time counts), seconds > 0."""

    base_amount: float
    base_seconds: float
    arm_amount: float
    arm_seconds: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """Speed of the arm over speed of the base: above 1 the arm is faster. No interval from a single pair."""

    ratio: float
    low: float | None
    high: float | None
    groups: int


def rate(groups: Sequence[Sequence[tuple[float, float]]]) -> float | None:
    """Total amount / total seconds over groups of repeated (amount, seconds).

    Each group counts once: with the median of its repeats. None when there is nothing, or no time in it.
    """
    amount = seconds = 0.0
    for repeats in groups:
        if repeats:
            amount += median([a for a, _ in repeats])
            seconds += median([s for _, s in repeats])
    if amount <= 0 or seconds <= 0:
        return None
    return amount / seconds


def _point(groups: Sequence[Sequence[Pair]]) -> float | None:
    base = rate([[(p.base_amount, p.base_seconds) for p in group] for group in groups])
    arm = rate([[(p.arm_amount, p.arm_seconds) for p in group] for group in groups])
    return arm / base if base and arm else None


def paired_ratio(
    groups: Sequence[Sequence[Pair]], *, resamples: int | None = None, seed: int = SEED
) -> Ratio | None:
    """Ratio of the two totals with a 95 % bootstrap interval. None when no group holds a pair.

    Each resample draws prompts with replacement, and for each drawn prompt its runs with replacement: the
    interval holds both the difference between texts and the noise between runs. The seed is fixed, so
    that one set of measurements always gives one interval.
    """
    full = [list(group) for group in groups if group]
    point = _point(full)
    if point is None:
        return None
    pairs = sum(len(group) for group in full)
    if pairs < 2:
        return Ratio(point, None, None, len(full))
    if resamples is None:
        resamples = max(LEAST_RESAMPLES, min(RESAMPLES, PAIRS_DRAWN // pairs))
    draw = random.Random(seed)
    found: list[float] = []
    for _ in range(resamples):
        chosen = draw.choices(full, k=len(full))
        value = _point([draw.choices(group, k=len(group)) for group in chosen])
        if value is not None:
            found.append(value)
    return Ratio(point, quantile(found, 0.025), quantile(found, 0.975), len(full))


def first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    """The first position at which two token sequences differ (the shorter's end counts); None if equal."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return None if len(one) == len(other) else min(len(one), len(other))
