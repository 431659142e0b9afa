"""Who runs when. Arms take turns in the order A B B A, so that drift of the machine falls on both alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """One measurement by one arm: `item` is the prompt (or width) index, `run` counts repeats from 0."""

    arm: str
    item: int
    run: int


def turns(arms: Sequence[str], items: int, runs: int) -> Iterator[Turn]:
    """All turns. Runs are the outer loop: after an interruption every prompt has been seen about as often.

    The order of arms flips from one (item, run) to the next, and also from run to run for a given item.
    """
    for run in range(runs):
        for item in range(items):
            ordered = arms if (run + item) % 2 == 0 else list(reversed(arms))
            for arm in ordered:
                yield Turn(arm, item, run)
