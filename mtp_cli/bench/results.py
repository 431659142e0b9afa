"""What was measured: plain data, filled while a benchmark runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one prompt in one arm. Times in seconds, `cpu_s` over all threads.

    `drafts`: by drafter {"drafted", "accepted", "lenient", "positions": [[drafted, accepted], ...]}.
    `head`: {"steps", "seconds", "spans": [[drafted, accepted], ...]} of the draft head. `at`: when it began,
    in seconds since the first answer did. `joules`: as a sensor told them, idle power included. `work`: what
    was counted, fields of `mtp_cli.work.Work`; `decode_work`: without the prompt. `screen`: see
    `screening.between`."""

    arm: str
    prompt: int
    run: int
    prompt_tokens: int
    generated_tokens: int
    passes: int
    prefill_s: float
    decode_s: float
    first_token_s: float | None
    cpu_s: float
    wall_s: float
    tokens_by_source: dict[str, int] = field(default_factory=dict)
    drafts: dict[str, dict[str, Any]] = field(default_factory=dict)
    head: dict[str, Any] = field(default_factory=dict)
    at: float = 0.0
    joules: float | None = None
    work: dict[str, Any] = field(default_factory=dict)
    decode_work: dict[str, Any] = field(default_factory=dict)
    screen: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prompt:
    """`source`: ids that the answer is expected to repeat. `stops`: texts that end it."""

    name: str
    tokens: list[int]
    task: str = ""
    source: list[int] = field(default_factory=list)
    stops: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Oracle:
    """A gate that knew the answer, on one prompt: backbone passes, and seconds by the cost of passes as
    measured. `plain_s`: plain decoding by the same costs."""

    tokens: int
    passes: int
    seconds: float
    plain_s: float


@dataclass(frozen=True, slots=True)
class Verified:
    """The reference's greedy text fed again several tokens a pass: of `positions`, those in `differing` get
    another arg-max."""

    positions: int
    differing: list[int]


@dataclass(slots=True)
class Results:
    """Everything measured so far; filled while a benchmark runs, so an interrupted one has it too."""

    arms: list[str]
    prompts: list[Prompt] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    ids: dict[tuple[str, int], list[list[int]]] = field(default_factory=dict)
    """token ids by (arm, prompt), one list a run"""
    cost_ms: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    long_prefill_s: dict[str, list[float]] = field(default_factory=dict)
    fresh_ms: dict[str, list[float]] = field(default_factory=dict)
    """process start to first token"""
    opened: dict[str, dict[str, Any]] = field(default_factory=dict)
    """the answer to `open` by arm"""
    peak_rss: dict[str, int] = field(default_factory=dict)
    idle_cpu: dict[str, float] = field(default_factory=dict)
    startup_ms: dict[str, list[float]] = field(default_factory=dict)
    """whole-process times by program: mtp and reference"""
    oracle: dict[str, dict[int, Oracle]] = field(default_factory=dict)
    priced: dict[str, dict[int, Oracle]] = field(default_factory=dict)
    """by arm and prompt"""
    verified: dict[int, Verified] = field(default_factory=dict)
    """by prompt"""
    sensor: dict[str, Any] = field(default_factory=dict)
    """of the energy: {"source", "scope", "idle_watts"}; empty without one"""
    sustained: dict[str, Any] = field(default_factory=dict)
    """of a run over minutes: {"minutes", "seconds", "hottest_celsius"}; empty for any other"""
    notes: list[str] = field(default_factory=list)
    complete: bool = False

    def of(self, arm: str) -> list[list[Sample]]:
        """Samples of an arm by prompt; prompts without any are left out."""
        found: list[list[Sample]] = [[] for _ in self.prompts]
        for sample in self.samples:
            if sample.arm == arm:
                found[sample.prompt].append(sample)
        return [group for group in found if group]

    def pairs(self, arm: str, base: str) -> list[list[tuple[Sample, Sample]]]:
        """(base, arm) samples of the same prompt and run, by prompt."""
        other = {(s.prompt, s.run): s for s in self.samples if s.arm == base}
        return [
            [(other[s.prompt, s.run], s) for s in group if (s.prompt, s.run) in other]
            for group in self.of(arm)
        ]
