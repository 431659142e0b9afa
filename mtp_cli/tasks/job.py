"""What a job tells while it works; views and meters listen."""

from __future__ import annotations

from dataclasses import dataclass

from mtp_cli.events import Event


@dataclass(frozen=True, slots=True)
class Plan:
    """How the text will be worked through. Comes first. `parts` are model calls known so far."""

    input_tokens: int
    parts: int


@dataclass(frozen=True, slots=True)
class Part:
    """Work on part `number` (from 1) of `total` begins; `what` is one word for it."""

    number: int
    total: int
    what: str
    done: float | None = None
    """share of the whole work that is behind; None: not known"""


@dataclass(frozen=True, slots=True)
class PartDone:
    """Part `number` of `total` has its result, one sentence a line. `key` names what it was made of; `kept`:
    it is from an earlier run."""

    number: int
    total: int
    tokens: int
    text: str
    key: str
    kept: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt is going in: `done` of `total` tokens."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Text:
    """The next piece of the result."""

    text: str


JobEvent = Plan | Part | PartDone | Reading | Text | Event
