"""How single values of a benchmark's report are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNAVAILABLE = "unavailable"
NOT_APPLICABLE = "n/a"
"""There is no such value: the acceptance of an arm that drafts nothing."""

Report = Mapping[str, Any]
Table = tuple[list[str], list[list[str]]]


def number(value: float | None, digits: int = 1) -> str:
    return UNAVAILABLE if value is None else f"{value:.{digits}f}"


def count(value: int | None) -> str:
    return UNAVAILABLE if value is None else str(value)


def percent(value: float | None) -> str:
    return NOT_APPLICABLE if value is None else f"{100 * value:.1f} %"


def ratio_text(found: Mapping[str, Any] | None) -> str:
    """ "2.31x [2.25, 2.38]"; without an interval when there is none."""
    if not found or found.get("ratio") is None:
        return UNAVAILABLE
    interval = found.get("ci95")
    text = f"{found['ratio']:.2f}x"
    return f"{text} [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else text


def csv_cell(value: object) -> str:
    return UNAVAILABLE if value is None else str(value)


def csv_ratio(found: Mapping[str, Any] | None) -> list[str]:
    """value, low, high"""
    low, high = (found or {}).get("ci95") or (None, None)
    return [csv_cell((found or {}).get("ratio")), csv_cell(low), csv_cell(high)]
