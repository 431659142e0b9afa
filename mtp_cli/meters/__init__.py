"""Time, memory and energy. Each value says where it comes from: measured, estimated or unavailable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Origin = Literal["measured", "estimated", "unavailable"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A value with its origin. `value` is None exactly when it is unavailable."""

    value: float | None
    origin: Origin


UNAVAILABLE = Reading(None, "unavailable")


def measured(value: float) -> Reading:
    """A value that was read from the machine."""
    return Reading(value, "measured")
