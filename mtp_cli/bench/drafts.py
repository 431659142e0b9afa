"""What drafting did, as plain data for a report: counts by drafter and by place, the oracle, verification.

Counts are those of the first run of each prompt: later runs meet a gate that has seen the same text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from mtp_cli.events import SPANS, DraftCounts

if TYPE_CHECKING:
    from mtp_cli.bench.results import Oracle, Sample, Verified


def share(part: float, whole: float, digits: int = 4) -> float | None:
    """part / whole; None when there is no whole."""
    return round(part / whole, digits) if whole else None


def _merged(samples: Sequence[Sample]) -> dict[str, DraftCounts]:
    """Counts of all samples by drafter."""
    found: dict[str, DraftCounts] = {}
    for sample in samples:
        for name, counts in sample.drafts.items():
            positions = [(int(tested), int(kept)) for tested, kept in counts["positions"]]
            one = DraftCounts(counts["drafted"], counts["accepted"], counts["lenient"], positions)
            found.setdefault(name, DraftCounts()).merge(one)
    return found


def _counts(counts: DraftCounts) -> dict[str, Any]:
    return {
        "drafted": counts.drafted,
        "accepted": counts.accepted,
        "acceptance": share(counts.accepted, counts.drafted),
    }


def of_arm(groups: Sequence[Sequence[Sample]]) -> dict[str, Any]:
    """The drafting part of an arm's report; all None when nothing was measured."""
    first = [group[0] for group in groups]
    if not first:
        names = (
            "tokens_per_pass",
            "drafted",
            "accepted",
            "acceptance",
            "lenient",
            "by_source",
            "by_position",
        )
        return dict.fromkeys(names)
    by_drafter = _merged(first)
    everything = DraftCounts()
    for counts in by_drafter.values():
        everything.merge(counts)
    tokens: Counter[str] = Counter()
    for sample in first:
        tokens.update(sample.tokens_by_source)
    by_source = {
        name: {"tokens": tokens[name], **(_counts(by_drafter[name]) if name in by_drafter else {})}
        for name in sorted({*tokens, *by_drafter})
    }
    return {
        "tokens_per_pass": share(sum(s.generated_tokens for s in first), sum(s.passes for s in first)),
        **_counts(everything),
        "lenient": everything.lenient,
        "by_source": by_source,
        "by_position": [
            {"drafted": tested, "accepted": kept, "acceptance": share(kept, tested)}
            for tested, kept in everything.positions
        ],
    }


def of_head(groups: Sequence[Sequence[Sample]], plain_pass_s: float | None) -> dict[str, Any] | None:
    """What the draft head was asked for and what a step of it costs; `share_of_pass`: against a plain pass of
    the same run. None when it was never asked. Times are those of all runs, counts of the first ones."""
    every = [sample.head for group in groups for sample in group if sample.head]
    steps, seconds = sum(h["steps"] for h in every), sum(h["seconds"] for h in every)
    if not steps:
        return None
    first = [group[0].head for group in groups if group[0].head]
    spans = [
        (sum(h["spans"][i][0] for h in first), sum(h["spans"][i][1] for h in first))
        for i in range(len(SPANS) + 1)
    ]
    names = ["0-31", "32-63", "64+"]
    return {
        "steps": sum(h["steps"] for h in first),
        "ms_per_step": round(1e3 * seconds / steps, 4),
        "share_of_pass": share(seconds / steps, plain_pass_s) if plain_pass_s else None,
        "by_answer_position": {
            name: {"drafted": tested, "accepted": kept, "acceptance": share(kept, tested)}
            for name, (tested, kept) in zip(names, spans, strict=True)
        },
    }


def of_oracle(found: Collection[Oracle]) -> dict[str, Any] | None:
    """How far these drafters would go under a gate that knew the answers. `ratio_to_plain_priced` is by the
    cost of passes as measured on this machine: a price, not a time that was taken."""
    if not found:
        return None
    passes, seconds = sum(one.passes for one in found), sum(one.seconds for one in found)
    return {
        "prompts": len(found),
        "passes": passes,
        "tokens_per_pass": share(sum(one.tokens for one in found), passes),
        "ratio_to_plain_priced": share(sum(one.plain_s for one in found), seconds),
    }


def of_verified(found: Collection[Verified]) -> dict[str, Any] | None:
    """Whether the reference's own drafting could be exact: its greedy text, fed again some tokens a pass."""
    if not found:
        return None
    return {
        "prompts": len(found),
        "prompts_differing": sum(bool(one.differing) for one in found),
        "positions": sum(one.positions for one in found),
        "positions_differing": sum(len(one.differing) for one in found),
    }
