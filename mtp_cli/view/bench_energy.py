"""The part of a benchmark's report that is about energy. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtp_cli.view.bench_cells import (
    NOT_APPLICABLE,
    UNAVAILABLE,
    Report,
    Table,
    csv_cell,
    csv_ratio,
    ratio_text,
)
from mtp_cli.view.timing import short


def energy(report: Report) -> Table | None:
    """One row an arm; ratios are how many times less energy it takes. None where nothing is known."""
    if not any(arm.get("energy") for arm in report["arms"]):
        return None
    origin = report["energy"]["origin"]
    rows = []
    for arm in report["arms"]:
        found = arm.get("energy")
        if found is None:
            rows.append([arm["name"], *[UNAVAILABLE] * 4])
            continue
        each, span = short(found["joules_per_token"]), found.get("joules_per_token_range")
        rows.append(
            [
                arm["name"],
                f"{each} ({short(span[0])} to {short(span[1])})" if span else each,
                short(found["joules_per_answer"]),
                _ratio(found["ratio_to_plain"]),
                _ratio(found["ratio_to_reference"]),
            ]
        )
    return [f"energy, {origin}", "J a token", "J an answer", "to plain", "to reference"], rows


def _ratio(found: Mapping[str, Any] | None) -> str:
    """ "1.20x [1.1, 1.3], by constants 1.05 to 1.40"."""
    if found is None:
        return NOT_APPLICABLE
    span = found.get("range")
    return ratio_text(found) + (f", by constants {span[0]:.2f} to {span[1]:.2f}" if span else "")


def remarks(report: Report) -> list[str]:
    """Where the joules come from."""
    found = report.get("energy") or {"origin": "unavailable"}
    if found["origin"] == "measured":
        idle = found.get("idle_watts")
        without = f"without the {short(idle)} W of the idle machine" if idle else "idle power included"
        return [
            f"energy: measured by {found['source']}, {found['scope']}, {without}; prompts included; a ratio "
            "above 1 means less energy"
        ]
    why = found.get("note", "no sensor here")
    if found["origin"] == "estimated":
        return [
            f"energy: {why}; estimated from CPU time, bytes and multiply-adds with published "
            "constants, prompts included. Its ratios are those of counted work; 'by constants' is what any "
            "other constants within their ranges would make of them"
        ]
    return []


def csv_rows(report: Report) -> Iterator[Sequence[str]]:
    """Rows arm, measure, value, low, high."""
    for arm in report["arms"]:
        found = arm.get("energy")
        if found is None:
            continue
        low, high = found.get("joules_per_token_range") or (None, None)
        origin = report["energy"]["origin"]
        yield [
            arm["name"],
            f"energy.{origin}.joules_per_token",
            csv_cell(found["joules_per_token"]),
            csv_cell(low),
            csv_cell(high),
        ]
        yield [
            arm["name"],
            f"energy.{origin}.joules_per_answer",
            csv_cell(found["joules_per_answer"]),
            "",
            "",
        ]
        for key in ("ratio_to_plain", "ratio_to_reference"):
            if found[key]:
                yield [arm["name"], f"energy.{origin}.{key}", *csv_ratio(found[key])]
