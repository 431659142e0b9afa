"""What the options of `mtp bench` ask for, checked and made into a plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mtp_cli.exits import UserError

if TYPE_CHECKING:
    from mtp_cli.bench.plan import Plan
    from mtp_cli.bench.prompts import Text

DEFAULT_ARMS = "reference,plain,auto"
DEFAULT_LIMIT = 5


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for on the command line, as it stands there."""

    model: str | None
    arms: str
    prompts: list[str]
    task: str
    limit: int
    max_tokens: int
    threads: int
    runs: int
    temperature: float
    seed: int
    verify: bool
    lenient: str
    offline: bool
    quiet: bool
    head: Path | None = None
    price_column: float = 0.0
    sustained: float = 0.0


def arms_of(text: str) -> list[str]:
    """Raises UserError."""
    from mtp_cli.bench.arms import find

    chosen = [part.strip() for part in text.split(",") if part.strip()]
    for arm in chosen:
        try:
            lenient = find(arm).lenient
        except ValueError as error:
            raise UserError(f"--arms: {error}") from None
        if lenient:
            raise UserError("--arms: lenient drafting has a table of its own, --lenient-table")
    if not chosen or len(set(chosen)) != len(chosen):
        raise UserError("--arms wants one or more different arms, for instance " + DEFAULT_ARMS)
    return chosen


def check_uses(wish: Wish, startup: bool) -> None:
    """Raises UserError for options that contradict each other."""
    arms_of(wish.arms)
    if wish.lenient and startup:
        raise UserError("--lenient-table and --startup are two different measurements; use one of them")
    if wish.lenient and wish.arms != DEFAULT_ARMS:
        raise UserError("--lenient-table has arms of its own; leave --arms out")
    if wish.sustained and (startup or wish.lenient or wish.verify or wish.price_column):
        raise UserError(
            "--sustained is a measurement of its own; leave out --startup, --lenient-table, "
            "--reference-verify and --price-column"
        )
    if wish.verify and (wish.lenient or "reference" not in arms_of(wish.arms) or wish.temperature > 0):
        raise UserError("--reference-verify needs the reference arm and --temperature 0")


def _texts(wish: Wish) -> list[Text]:
    """Raises BenchError."""
    from mtp_cli.bench.prompts import TASKS, built_in, read_texts

    limit = wish.limit or None
    if not wish.prompts:
        return built_in(limit)
    found: list[Text] = []
    for given in wish.prompts:
        task, equals, file = given.partition("=")
        if not equals or task not in TASKS:
            task, file = "", given
        found += [replace(text, task=task) for text in read_texts(Path(file), limit)]
    return found


def plan_of(wish: Wish) -> Plan:
    """Raises ModelError and BenchError."""
    from mtp_cli import catalog
    from mtp_cli.bench.arms import AUTO
    from mtp_cli.bench.lenient import lenient_arms
    from mtp_cli.bench.plan import COST_WIDTHS, LONG_PREFILL, Plan
    from mtp_cli.view.pull import PullView

    texts = _texts(wish)
    arms = lenient_arms(wish.lenient) if wish.lenient else arms_of(wish.arms)
    if wish.sustained and wish.arms == DEFAULT_ARMS:
        arms = [AUTO]
    with PullView(quiet=wish.quiet) as view:
        path = catalog.resolve(wish.model, offline=wish.offline, report=view).path
    return Plan(
        model=path.absolute(),
        texts=texts,
        arms=arms,
        task=wish.task,
        max_tokens=wish.max_tokens,
        threads=wish.threads,
        runs=wish.runs,
        temperature=wish.temperature,
        seed=wish.seed,
        fresh=not wish.lenient,
        long_prefill=0 if wish.lenient else LONG_PREFILL,
        widths=() if wish.lenient else COST_WIDTHS,
        verify=wish.verify,
        lenient=wish.lenient,
        head=wish.head.absolute() if wish.head else None,
        price_column=wish.price_column,
        sustained=wish.sustained,
    )
