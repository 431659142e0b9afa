"""Energy estimated from counted work, for machines without a sensor.

joules = core seconds * watts of a core at work + bytes from memory * joules a byte
       + multiply-adds * joules of one

The constants are published ones and differ between machines by a factor of three and more either way. The
range says what they leave open: a sum is right within it, if its machine is not stranger than these. A ratio
of two sums has a narrower range, since the constants are the same for both: what cancels, cancels."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from itertools import product

from mtp_cli.work import Work


@dataclass(frozen=True, slots=True)
class Constant:
    """Least, usual and most of a constant, and where it comes from."""

    low: float
    usual: float
    high: float
    source: str


@dataclass(frozen=True, slots=True)
class Constants:
    """watts: of a core that is busy, its arithmetic apart; byte: joules of a byte from memory;
    multiply_add: joules of one 8-bit multiply-add with its share of the instructions."""

    watts: Constant
    byte: Constant
    multiply_add: Constant

    @property
    def all(self) -> tuple[Constant, Constant, Constant]:
        return self.watts, self.byte, self.multiply_add


_X86_CORE = Constant(
    1.5,
    4.0,
    12.0,
    "thermal design power over cores: 280 W / 64 (EPYC 7763), 28 W / 4 (Core i7-1165G7), 105 W / 8 "
    "(Ryzen 7 5800X); least: the 12 W setting of a Core i7-1165G7, half of it for the rest of the chip",
)
_ARM_CORE = Constant(
    0.4,
    1.5,
    5.0,
    "a Raspberry Pi 4 draws about 3.7 W more with four Cortex-A72 at work than idle; phones' largest cores "
    "and Apple's performance cores draw up to about 5 W",
)
_BYTE = Constant(
    32e-12,
    160e-12,
    560e-12,
    "4 pJ a bit (LPDDR4X and later, the device alone); 1.3 nJ for 64 bits (Horowitz, Computing's energy "
    "problem, ISSCC 2014); 70 pJ a bit (DDR3; Malladi et al., Towards energy-proportional datacenter memory "
    "with mobile DRAM, ISCA 2012)",
)
_MULTIPLY_ADD = Constant(
    0.3e-12,
    2.5e-12,
    20e-12,
    "0.2 pJ an 8-bit product and 0.1 pJ a 32-bit sum, 70 pJ an instruction, 32 products each (Horowitz, as "
    "above); most: eight times that, for wide cores that take three instructions",
)
_ARM = ("aarch64", "arm64", "armv8l", "armv7l")


def constants_for(machine: str = platform.machine()) -> Constants:
    """For a kind of CPU."""
    return Constants(_ARM_CORE if machine.lower() in _ARM else _X86_CORE, _BYTE, _MULTIPLY_ADD)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Joules, and the range that the constants leave open."""

    joules: float
    low: float
    high: float


def amounts(work: Work) -> tuple[float, float, float]:
    """What the constants are multiplied with, in their order."""
    return work.core_seconds, work.bytes, work.multiply_adds


def estimate(work: Work, constants: Constants) -> Estimate:
    """Of some counted work."""
    counted = amounts(work)
    known = constants.all
    usual, low, high = (
        sum(amount * pick for amount, pick in zip(counted, picks, strict=True))
        for picks in ([c.usual for c in known], [c.low for c in known], [c.high for c in known])
    )
    return Estimate(usual, low, high)


def ratio_range(one: Work, other: Work, constants: Constants) -> tuple[float, float] | None:
    """Least and greatest energy of `one` over that of `other`, for any constants of these ranges, the same
    ones for both. A quotient of two sums is extreme at a corner of the ranges, so the corners will do."""
    found = []
    for picks in product(*((c.low, c.high) for c in constants.all)):
        above, below = (
            sum(a * pick for a, pick in zip(amounts(work), picks, strict=True)) for work in (one, other)
        )
        if below <= 0:
            return None
        found.append(above / below)
    return min(found), max(found)
