"""Events that `generate` yields; everything above it (views, meters, bench) reads only these."""

from __future__ import annotations

from dataclasses import dataclass
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
    multi-byte character is still open). `pass_number` counts backbone passes from 1; `seconds` is the
    time since decoding began.
    """

    token: int
    text: str
    source: Source
    pass_number: int
    seconds: float


@dataclass(frozen=True, slots=True)
class EndEvent:
    """The last event: totals of the answer. `tail` is text that only became known at the end."""

    reason: FinishReason
    tail: str
    generated_tokens: int
    passes: int
    drafted: int
    accepted: int
    decode_seconds: float


Event = PrefillEvent | StepEvent | EndEvent
