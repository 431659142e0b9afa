"""The part of a benchmark's report that is about drafting. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtp_cli.view.bench_cells import (
    NOT_APPLICABLE,
    Report,
    Table,
    count,
    csv_cell,
    csv_ratio,
    number,
    percent,
    ratio_text,
)


def _drafting_arms(report: Report) -> list[Mapping[str, Any]]:
    """Arms that drafted something."""
    return [arm for arm in report["arms"] if arm["drafted"]]


def _decode(ratios: Mapping[str, Any] | None) -> str:
    return ratio_text(ratios["decode"]) if ratios else NOT_APPLICABLE


def _same(arm: Mapping[str, Any]) -> str:
    if arm["same_as_plain"] is None:
        return NOT_APPLICABLE
    return f"{arm['same_as_plain']} of {arm['compared_with_plain']}"


def drafting(report: Report) -> Table | None:
    """One row an arm: tokens a pass, what became of drafts, decode speed to plain and to the reference.
    None when no arm drafts."""
    if not _drafting_arms(report):
        return None
    header = ["decoding", "tok/s", "tokens a pass", "drafted", "accepted", "acceptance", "copied tokens"]
    header += ["to plain", "to reference", "same as plain"]
    rows = []
    for arm in report["arms"]:
        copied = (arm["by_source"] or {}).get("copy", {}).get("tokens", 0)
        rows.append(
            [
                arm["name"],
                number(arm["decode_tok_s"]),
                number(arm["tokens_per_pass"], 2),
                count(arm["drafted"]),
                count(arm["accepted"]),
                percent(arm["acceptance"]),
                str(copied),
                _decode(arm["ratio_to_plain"]),
                _decode(arm["ratio_to_reference"]),
                _same(arm),
            ]
        )
    return header, rows


def heads(report: Report) -> Table | None:
    """One row an arm that asked a draft head: what a step costs, and acceptance along the answer."""
    arms = [arm for arm in report["arms"] if arm.get("head")]
    if not arms:
        return None
    header = ["draft head", "tokens", "steps", "ms a step", "of a plain pass"]
    header += [f"accepted at {name}" for name in arms[0]["head"]["by_answer_position"]]
    rows = []
    for arm in arms:
        head = arm["head"]
        tokens = (arm["by_source"] or {}).get("head", {}).get("tokens", 0)
        rows.append(
            [
                arm["name"],
                str(tokens),
                count(head["steps"]),
                number(head["ms_per_step"], 3),
                percent(head["share_of_pass"]),
                *(
                    f"{percent(found['acceptance'])} of {found['drafted']}"
                    for found in head["by_answer_position"].values()
                ),
            ]
        )
    return header, rows


def positions(report: Report) -> Table | None:
    """Acceptance by place in the draft: one row a place, one column an arm. None when no arm drafts."""
    arms = _drafting_arms(report)
    if not arms:
        return None
    rows = []
    for place in range(max(len(arm["by_position"]) for arm in arms)):
        row = [str(place + 1)]
        for arm in arms:
            found = arm["by_position"][place] if place < len(arm["by_position"]) else None
            row.append(f"{percent(found['acceptance'])} of {found['drafted']}" if found else NOT_APPLICABLE)
        rows.append(row)
    return ["place in the draft", *(f"{arm['name']}, accepted" for arm in arms)], rows


def lenient(report: Report) -> Table | None:
    """One row a strictness, the exact arm first. None when the run was not about that."""
    found = report.get("lenient")
    if not found:
        return None
    header = [f"lenient, {found['rule']}", "decode, tok/s", "to plain", "to exact drafting", "tokens a pass"]
    header += ["acceptance", "taken leniently", "edits per 100 tokens"]
    rows = [
        [
            "exact" if row["alpha"] is None else f"alpha {row['alpha']:g}",
            number(row["decode_tok_s"]),
            ratio_text(row["ratio_to_plain"]),
            NOT_APPLICABLE if row["alpha"] is None else ratio_text(row["ratio_to_exact"]),
            number(row["tokens_per_pass"], 2),
            percent(row["acceptance"]),
            percent(row["lenient_share"]),
            number(row["edits_per_100_tokens"]),
        ]
        for row in found["rows"]
    ]
    return header, rows


def remarks(report: Report) -> list[str]:
    """What a reader should take away, a line each."""
    lines = []
    gate = report.get("gate")
    if gate:
        lines.append(f"{gate['arm']} is {ratio_text(gate)} the best fixed length ({gate['best_fixed']})")
    for arm in report["arms"]:
        oracle = arm["oracle"]
        if oracle:
            name, passes = arm["name"], number(oracle["tokens_per_pass"], 2)
            price = number(oracle["ratio_to_plain_priced"], 2)
            measured = _decode(arm["ratio_to_plain"])
            lines.append(
                f"{name} with a gate that knew the answers: {passes} tokens a pass, {price}x plain (priced "
                f"with the measured cost of passes, not run); {name} as measured: {measured}"
            )
    for arm in report["arms"]:
        priced = arm.get("priced")
        if priced:
            column = number(report["settings"]["price_column"], 3)
            lines.append(
                f"{arm['name']} simulated for a CPU where a further token of a pass costs {column} of the "
                f"first: {number(priced['tokens_per_pass'], 2)} tokens a pass, "
                f"{number(priced['ratio_to_plain_priced'], 2)}x plain (priced, not run)"
            )
    found = report.get("reference_verify")
    if found:
        lines.append(
            f"llama.cpp fed its own greedy text 4 tokens a pass says something else on "
            f"{found['prompts_differing']} of {found['prompts']} prompts, at "
            f"{found['positions_differing']} of {found['positions']} positions"
        )
    if report.get("lenient"):
        lines.append("lenient drafting may give another text than the model's own; edits count tokens")
    return lines


def csv_arm(arm: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """Rows arm, measure, value, low, high."""
    name = arm["name"]
    for key in ("tokens_per_pass", "drafted", "accepted", "acceptance", "lenient"):
        yield [name, key, csv_cell(arm[key]), "", ""]
    for source, found in (arm["by_source"] or {}).items():
        for key, value in found.items():
            yield [name, f"by_source.{source}.{key}", csv_cell(value), "", ""]
    for place, found in enumerate(arm["by_position"] or [], 1):
        for key, value in found.items():
            yield [name, f"by_position.{place}.{key}", csv_cell(value), "", ""]
    head = arm.get("head") or {}
    for key in ("steps", "ms_per_step", "share_of_pass"):
        if key in head:
            yield [name, f"head.{key}", csv_cell(head[key]), "", ""]
    for place, found in (head.get("by_answer_position") or {}).items():
        for key, value in found.items():
            yield [name, f"head.by_answer_position.{place}.{key}", csv_cell(value), "", ""]
    for key, found in (arm["ratio_to_plain"] or {}).items():
        yield [name, f"ratio_to_plain.{key}", *csv_ratio(found)]
    for key, value in (arm["oracle"] or {}).items():
        yield [name, f"oracle.{key}", csv_cell(value), "", ""]


def csv_whole(report: Report) -> Iterator[Sequence[str]]:
    """Rows that are about no single arm, or about two."""
    gate = report.get("gate")
    if gate:
        yield [gate["arm"], f"ratio_to_best_fixed.{gate['best_fixed']}", *csv_ratio(gate)]
    for key, value in (report.get("reference_verify") or {}).items():
        yield ["reference", f"verify.{key}", csv_cell(value), "", ""]
    for row in (report.get("lenient") or {"rows": []})["rows"]:
        if row["alpha"] is not None:
            yield [row["arm"], "ratio_to_exact", *csv_ratio(row["ratio_to_exact"])]
        for key in ("lenient_share", "edits_per_100_tokens"):
            yield [row["arm"], key, csv_cell(row[key]), "", ""]
