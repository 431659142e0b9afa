"""Lenient drafting against exact drafting: what speed it buys for how much of another text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mtp_cli.bench.arms import AUTO, PLAIN, lenient_name
from mtp_cli.bench.drafts import share
from mtp_cli.bench.ratios import decode_ratio
from mtp_cli.bench.results import Results

ALPHAS = (0.1, 0.2, 0.3, 0.4, 0.5)
EXACT_ARMS = (PLAIN, AUTO)


def lenient_arms(rule: str) -> list[str]:
    """Plain, exact drafting, and the rule at each of ALPHAS."""
    return [*EXACT_ARMS, *(lenient_name(rule, alpha) for alpha in ALPHAS)]


def edit_distance(one: Sequence[int], other: Sequence[int]) -> int:
    """Fewest insertions, deletions and replacements of tokens that make `one` into `other` (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return row[-1]


def distance_per_100(results: Results, arm: str) -> float | None:
    """Edits between an arm's answers and plain's, for each 100 tokens of plain's. First runs."""
    edits = tokens = 0
    for prompt in range(len(results.prompts)):
        here, plain = results.ids.get((arm, prompt)), results.ids.get((PLAIN, prompt))
        if here and plain:
            edits += edit_distance(here[0], plain[0])
            tokens += len(plain[0])
    return share(100 * edits, tokens, 2)


def lenient_report(results: Results, rule: str, arms: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The `lenient` object of a report. `arms` are the elements of the report's own `arms`.

    A row a strictness, the exact arm (alpha None) first; `lenient_share` is the share of generated tokens
    that the model would not have chosen."""
    by_name = {arm["name"]: arm for arm in arms}
    rows: list[dict[str, Any]] = []
    for alpha in (None, *ALPHAS):
        name = AUTO if alpha is None else lenient_name(rule, alpha)
        arm = by_name.get(name)
        if arm is None or not arm["prompts"]:
            continue
        rows.append(
            {
                "alpha": alpha,
                "arm": name,
                "decode_tok_s": arm["decode_tok_s"],
                "ratio_to_plain": decode_ratio(results, name, PLAIN),
                "ratio_to_exact": None if alpha is None else decode_ratio(results, name, AUTO),
                "tokens_per_pass": arm["tokens_per_pass"],
                "acceptance": arm["acceptance"],
                "lenient_share": share(arm["lenient"] or 0, arm["generated_tokens"] or 0),
                "edits_per_100_tokens": distance_per_100(results, name),
            }
        )
    return {"rule": rule, "rows": rows}
