"""The options that the text commands share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from mtp_cli.engine import LENIENT_RULES, MAX_DRAFT, Drafting, Sampling
from mtp_cli.threads import MAX_THREADS

LENIENT_ALPHA = 0.2
"""Where --lenient names none."""


class Format(str, Enum):
    """Form of the result."""

    text = "text"
    json = "json"


class Colour(str, Enum):
    """When to use colours."""

    auto = "auto"
    always = "always"
    never = "never"


class DraftMode(str, Enum):
    """Who drafts tokens."""

    auto = "auto"
    off = "off"
    copy = "copy"
    head = "head"
    both = "copy+head"


@dataclass(frozen=True, slots=True)
class Lenient:
    """--lenient RULE[:ALPHA]."""

    rule: str
    alpha: float = LENIENT_ALPHA

    def __str__(self) -> str:
        return f"{self.rule}:{self.alpha:g}"


def parse_lenient(value: str) -> Lenient:
    """RULE[:ALPHA]. Raises typer.BadParameter."""
    rule, colon, number = value.partition(":")
    if rule not in LENIENT_RULES:
        raise typer.BadParameter(f"unknown rule '{rule}'; there are {', '.join(LENIENT_RULES)}")
    try:
        alpha = float(number) if colon else LENIENT_ALPHA
    except ValueError:
        alpha = math.nan
    if not 0 <= alpha <= 1:
        raise typer.BadParameter(f"ALPHA must be a number from 0 to 1, not '{number}'")
    return Lenient(rule, alpha)


def _finite(value: float) -> float:
    """Ranges let nan through."""
    if math.isnan(value):
        raise typer.BadParameter("nan is not a number that can be used")
    return value


FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE]...", help="Text files; - is standard input.", show_default=False),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="NAME|PATH", envvar="MTP_MODEL", help="The model.", show_default=False
    ),
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the result there, all at once.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="Form of the result.")]
MaxTokensOption = Annotated[
    int,
    typer.Option(
        "--max-tokens", min=0, max=1 << 20, metavar="N", help="Most tokens of an answer; 0: the task's own."
    ),
]
ThreadsOption = Annotated[
    int,
    typer.Option(
        "--threads",
        min=0,
        max=MAX_THREADS,
        metavar="N",
        envvar="MTP_THREADS",
        help="0: the performance cores.",
    ),
]
ContextOption = Annotated[
    int,
    typer.Option(
        "--ctx",
        min=0,
        max=1 << 24,
        metavar="N",
        envvar="MTP_CTX",
        help="Context in tokens; 0: the model's, at most 4096.",
    ),
]
KernelOption = Annotated[str, typer.Option("--kernel", metavar="NAME", help="Kernel set; see mtp doctor.")]
DraftOption = Annotated[
    DraftMode,
    typer.Option(
        "--draft",
        envvar="MTP_DRAFT",
        help="Draft several tokens a pass, where that pays: by whatever there is (auto), by copying from the "
        "text, by the model's draft head, by both, or not at all (off). The text stays the same.",
    ),
]
HeadOption = Annotated[
    Path | None,
    typer.Option(
        "--head", metavar="FILE", help="The draft head to use; without: the model's own.", show_default=False
    ),
]
DraftMaxOption = Annotated[
    int, typer.Option("--draft-max", min=0, max=MAX_DRAFT, metavar="N", help="Most drafted tokens of a pass.")
]
LenientOption = Annotated[
    Lenient | None,
    typer.Option(
        "--lenient",
        parser=parse_lenient,
        metavar="RULE[:ALPHA]",
        help="Keep drafts that are nearly as likely: faster, but the text may differ from the model's own. "
        f"RULE: {', '.join(LENIENT_RULES)}; ALPHA: 0 to 1, {LENIENT_ALPHA} when left out. "
        "With -v or --format json the exact text is generated too, which takes its time, and how far "
        "the two are apart is told.",
        show_default=False,
    ),
]
TemperatureOption = Annotated[
    float,
    typer.Option(min=0, max=100, callback=_finite, metavar="T", help="Draw tokens; 0: always the likeliest."),
]
TopKOption = Annotated[
    int, typer.Option(min=0, metavar="K", help="Draw among the K likeliest tokens; 0: among all.")
]
TopPOption = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        callback=_finite,
        metavar="P",
        help="Draw among the likeliest with P in all; 1: among all.",
    ),
]
MinPOption = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        callback=_finite,
        metavar="P",
        help="Draw among tokens P times as likely as the likeliest.",
    ),
]
RepeatPenaltyOption = Annotated[
    float,
    typer.Option(
        min=0.01, max=100, callback=_finite, metavar="X", help="Above 1: the last 64 tokens get less likely."
    ),
]
SeedOption = Annotated[int, typer.Option(metavar="N", help="The same seed draws the same text again.")]
OfflineOption = Annotated[bool, typer.Option("--offline", help="Never fetch a model.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but errors.")]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Timing, drafting, memory and energy on stderr.")
]
ColourOption = Annotated[Colour, typer.Option("--color", envvar="MTP_COLOR", help="Colours on stderr.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Print the prompts instead of running them.")]


@dataclass(frozen=True, slots=True)
class Options:
    """The options every text command has."""

    model: str | None
    output: Path | None
    form: Format
    max_tokens: int
    threads: int
    ctx: int
    kernel: str
    offline: bool
    quiet: bool
    verbose: bool
    colour: Colour
    dry_run: bool
    sampling: Sampling
    drafting: Drafting
    head: Path | None = None

    @property
    def compares(self) -> bool:
        """Whether the exact text is wanted beside a lenient one."""
        told = self.verbose and not self.quiet
        return bool(self.drafting.lenient) and (told or self.form is Format.json)


def drafting_of(mode: DraftMode, longest: int, lenient: Lenient | None) -> Drafting:
    """The drafting options as the engine takes them. Raises typer.BadParameter."""
    if lenient is None:
        return Drafting(mode.value, longest)
    if mode is DraftMode.off or not longest:
        raise typer.BadParameter("--lenient needs drafts; leave out --draft off and --draft-max 0")
    return Drafting(mode.value, longest, lenient=lenient.rule, alpha=lenient.alpha)
