"""The part of a benchmark's report about what passes read. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mtp_cli.view.bench_cells import NOT_APPLICABLE, UNAVAILABLE, Report, Table, csv_cell, number, percent

_MEASURES = ("bytes_per_pass", "passes", "fallback_share", "rows_median", "rows_p99", "rows_share")


def screening(report: Report) -> Table | None:
    """One row an arm and task; None where nothing was counted."""
    rows = [_row(arm["name"], found) for arm in report["arms"] for found in arm.get("screening") or ()]
    if not rows:
        return None
    header = ["arm", "task", "MB read a pass", "output rows in full: median", "99 %", "share", "whole matrix"]
    return header, rows


def _row(arm: str, found: dict[str, Any]) -> list[str]:
    read = found["bytes_per_pass"]
    rows = [NOT_APPLICABLE if found[key] is None else str(found[key]) for key in ("rows_median", "rows_p99")]
    return [
        arm,
        found["task"],
        UNAVAILABLE if read is None else number(read / 1e6),
        *rows,
        percent(found["rows_share"]),
        percent(found["fallback_share"]),
    ]


def csv_rows(report: Report) -> Iterator[list[str]]:
    for arm in report["arms"]:
        for found in arm.get("screening") or ():
            for key in _MEASURES:
                yield [arm["name"], f"screening.{found['task']}.{key}", csv_cell(found[key]), "", ""]
