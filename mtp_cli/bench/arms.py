"""The arms of a benchmark: what each one runs, and which of them share a process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mtp_cli.heads import HEAD_MODES

REFERENCE = "reference"
PLAIN = "plain"
AUTO = "auto"
COPY = "copy"
HEAD = "head"
BOTH = "copy+head"
GATED = (AUTO, COPY, HEAD, BOTH)
"""Arms with a gate, by their draft mode."""
DEFAULT_ARMS = (REFERENCE, PLAIN, AUTO)

NATIVE = "native"
"""The command of every arm but the reference."""

FIXED_LENGTHS = range(1, 16)
_FIXED = {"fixed": AUTO, COPY: COPY, HEAD: HEAD, BOTH: BOTH}
"""Name before the length -> draft mode."""
_FIXED_WORKER = "fixed lengths"
KNOWN = (
    f"{REFERENCE}, {PLAIN}, {', '.join(GATED)}, and fixed-N, {COPY}-N, {HEAD}-N, {BOTH}-N that always draft N "
    f"tokens (1 to {FIXED_LENGTHS[-1]})"
)


@dataclass(frozen=True, slots=True)
class Arm:
    """`command`: which worker program. `worker`: arms with the same one share a process.

    A gate learns from the passes it sees, so an arm with a gate has a process of its own, and so has every
    arm whose memory and start are measured. Fixed lengths have no gate: they share one, and have neither
    measured. `drafting`: fields of `mtp_cli.engine.Drafting`."""

    name: str
    worker: str
    command: str = NATIVE
    drafting: dict[str, Any] = field(default_factory=dict)

    @property
    def native(self) -> bool:
        return self.command == NATIVE

    @property
    def fixed(self) -> bool:
        """Always drafts the same number of tokens."""
        return "fixed" in self.drafting

    @property
    def lenient(self) -> bool:
        """May give another text than plain."""
        return bool(self.drafting.get("lenient"))

    @property
    def heads(self) -> bool:
        """Uses a draft head, if there is one."""
        return self.drafting.get("mode") in HEAD_MODES

    @property
    def alone(self) -> bool:
        """Has a process of its own."""
        return self.worker == self.name


def lenient_name(rule: str, alpha: float) -> str:
    return f"{rule}:{alpha:g}"


def find(name: str) -> Arm:
    """Raises ValueError for a name that no arm has."""
    if name == REFERENCE:
        return Arm(name, name, REFERENCE)
    if name == PLAIN:
        return Arm(name, name, drafting={"mode": "off"})
    if name in GATED:
        return Arm(name, name, drafting={"mode": name})
    drafter, _, length = name.rpartition("-")
    if drafter in _FIXED and length in map(str, FIXED_LENGTHS):
        return Arm(name, _FIXED_WORKER, drafting={"mode": _FIXED[drafter], "fixed": int(length)})
    rule, _, alpha = name.partition(":")
    if alpha.replace(".", "", 1).isdecimal():
        return Arm(name, name, drafting={"mode": AUTO, "lenient": rule, "alpha": float(alpha)})
    raise ValueError(f"there is no arm {name!r}; known arms: {KNOWN}")
