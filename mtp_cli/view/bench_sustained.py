"""The part of a benchmark's report that is about going on for minutes. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtp_cli.view.bench_cells import UNAVAILABLE, Report, Table, csv_cell, csv_ratio, number, ratio_text


def sustained(report: Report) -> Table | None:
    """One row an arm: the first third, the last third, and the last over the first. None in other reports."""
    found = report.get("sustained")
    if not found:
        return None
    header = [f"decode, tok/s, over {number(found['seconds'] / 60)} min", "answers"]
    header += ["first third (least, middle, most)", "last third (least, middle, most)", "last to first"]
    rows = []
    for name, arm in found["arms"].items():
        thirds = (_third(arm["first_third"]), _third(arm["last_third"]))
        rows.append([name, str(arm["answers"]), *thirds, ratio_text(arm["last_to_first"])])
    return header, rows


def _third(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return UNAVAILABLE
    return (
        f"{number(found['decode_tok_s'])} ({', '.join(number(found[k]) for k in ('min', 'median', 'max'))})"
    )


def remarks(report: Report) -> list[str]:
    """How warm it got."""
    found = report.get("sustained")
    if not found:
        return []
    celsius = found["hottest_celsius"]
    return [f"hottest CPU sensor: {UNAVAILABLE if celsius is None else f'{celsius:.0f} °C'}"]


def csv_rows(report: Report) -> Iterator[Sequence[str]]:
    """Rows arm, measure, value, low, high."""
    for name, arm in (report.get("sustained") or {"arms": {}})["arms"].items():
        for key in ("first_third", "last_third"):
            found = arm[key] or {}
            low, high = csv_cell(found.get("min")), csv_cell(found.get("max"))
            yield [name, f"sustained.{key}.decode_tok_s", csv_cell(found.get("decode_tok_s")), low, high]
        yield [name, "sustained.last_to_first", *csv_ratio(arm["last_to_first"])]
