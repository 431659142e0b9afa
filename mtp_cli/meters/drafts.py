"""What drafting did: passes, tokens by source, drafts tested and kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mtp_cli.events import DraftCounts, EndEvent, Source


@dataclass(slots=True)
class DecodeCounts:
    """Adds up the answers of a text or of a whole run."""

    generated_tokens: int = 0
    passes: int = 0
    drafts: DraftCounts = field(default_factory=DraftCounts)
    tokens_by_source: dict[Source, int] = field(default_factory=dict)

    def add(self, end: EndEvent) -> None:
        """One more answer."""
        self.generated_tokens += end.generated_tokens
        self.passes += end.passes
        for counts in end.drafts.values():
            self.drafts.merge(counts)
        for source, tokens in end.tokens_by_source.items():
            self.tokens_by_source[source] = self.tokens_by_source.get(source, 0) + tokens

    @property
    def tokens_per_pass(self) -> float | None:
        """generated tokens / backbone passes; None before the first pass."""
        return self.generated_tokens / self.passes if self.passes else None

    @property
    def lenient_share(self) -> float | None:
        """Share of the generated tokens that the model would not have chosen; None without tokens."""
        return self.drafts.lenient / self.generated_tokens if self.generated_tokens else None

    def record(self) -> dict[str, Any]:
        """For JSON. A ratio with nothing below the line is null."""
        return {
            "passes": self.passes,
            "drafted": self.drafts.drafted,
            "accepted": self.drafts.accepted,
            "acceptance": _rounded(self.drafts.acceptance),
            "tokens_per_pass": _rounded(self.tokens_per_pass),
            "tokens_by_source": dict(self.tokens_by_source),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
