"""Events that `generate` yields; everything above it (views, meters, bench) reads only these."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

Source = Literal["backbone", "copy", "head"]


class FinishReason(str, Enum):
    """Why an answer ended."""

    END_TOKEN = "end_token"
    STOP_TEXT = "stop_text"
    TOKEN_LIMIT = "token_limit"
    CONTEXT_FULL = "context_full"


@dataclass(frozen=True, slots=True)
class PrefillEvent:
    """The prompt is in the KV cache. `seconds` covers tokens [reused, prompt_tokens)."""

    prompt_tokens: int
    reused_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class StepEvent:
    """One committed token.

    `text` holds the complete characters that became known with this token (it may be empty while a
    multi-byte character is still open). `pass_number` counts backbone passes from 1 (0: the token came with
    the prompt); `seconds` is the time since decoding began; `drafted` and `accepted` count the answer's
    drafts up to and with this pass.
    """

    token: int
    text: str
    source: Source
    pass_number: int
    seconds: float
    drafted: int = 0
    accepted: int = 0


@dataclass(slots=True)
class DraftCounts:
    """What became of drafts: `drafted` were tested, `accepted` kept, `lenient` of these against the model's
    own choice. `positions[d]` is (drafted, accepted) of the tokens at place d of their draft."""

    drafted: int = 0
    accepted: int = 0
    lenient: int = 0
    positions: list[tuple[int, int]] = field(default_factory=list)

    def add(self, place: int, *, kept: bool, lenient: bool = False) -> None:
        """One tested token, at `place` of its draft."""
        self.drafted += 1
        self.accepted += kept
        self.lenient += lenient
        while len(self.positions) <= place:
            self.positions.append((0, 0))
        tested, before = self.positions[place]
        self.positions[place] = (tested + 1, before + kept)

    def merge(self, other: DraftCounts) -> None:
        """Add the counts of another answer."""
        self.drafted += other.drafted
        self.accepted += other.accepted
        self.lenient += other.lenient
        while len(self.positions) < len(other.positions):
            self.positions.append((0, 0))
        for place, (tested, kept) in enumerate(other.positions):
            mine = self.positions[place]
            self.positions[place] = (mine[0] + tested, mine[1] + kept)

    @property
    def acceptance(self) -> float | None:
        """accepted / drafted; None when nothing was drafted."""
        return self.accepted / self.drafted if self.drafted else None


@dataclass(frozen=True, slots=True)
class EndEvent:
    """The last event: totals of the answer. `tail` is text that only became known at the end.

    `tokens_by_source` counts generated tokens; `drafts` the fate of drafts by drafter."""

    reason: FinishReason
    tail: str
    generated_tokens: int
    passes: int
    drafted: int
    accepted: int
    decode_seconds: float
    tokens_by_source: dict[Source, int] = field(default_factory=dict)
    drafts: dict[Source, DraftCounts] = field(default_factory=dict)


Event = PrefillEvent | StepEvent | EndEvent
