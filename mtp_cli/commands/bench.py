"""`mtp bench`: the product's engine against the reference on this machine."""

from __future__ import annotations

import os
import signal
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from mtp_cli.commands.common import ModelOption
from mtp_cli.exits import UserError

if TYPE_CHECKING:
    from mtp_cli.bench.run import Plan

ARMS = ("reference", "plain")


class ReportFormat(str, Enum):
    """How the report is printed."""

    text = "text"
    json = "json"
    csv = "csv"
    markdown = "markdown"


class Task(str, Enum):
    """What is done with each text."""

    summarize = "summarize"
    proofread = "proofread"
    free = "free"


def register(app: typer.Typer) -> None:
    """Add `bench` to the main app."""
    app.command("bench")(bench)


def _fail(message: str, code: int = 2) -> NoReturn:
    print(f"mtp: {message}", file=sys.stderr)
    raise typer.Exit(code)


def bench(
    model: ModelOption = None,
    arms: Annotated[str, typer.Option(metavar="A,B", help="What to compare.")] = ",".join(ARMS),
    prompts: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Texts: turns[0], prompt, text or source of each line."),
    ] = None,
    task: Annotated[Task, typer.Option(help="The prompt around each text; free: none.")] = Task.summarize,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Use the first N texts.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Tokens of an answer.")] = 128,
    threads: Annotated[int, typer.Option(min=0, metavar="N", help="0: the performance cores.")] = 0,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Runs of each text and arm.")] = 5,
    startup: Annotated[
        bool, typer.Option("--startup", help="Only time whole processes: proofreading one sentence.")
    ] = False,
    output_format: Annotated[ReportFormat, typer.Option("--format", help="The report.")] = ReportFormat.text,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report there.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png|svg", help="Draw the cost of a pass over k tokens.")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Never fetch a model.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="One line for each measurement.")] = False,
) -> None:
    """Compare speed, memory and the cost of a pass with llama.cpp's.

    Same file, prompts, context and threads; each in its own process, taking turns (A B B A).

    A ratio above 1 means faster than the reference; its interval covers 95 %.

    Close other programs first: they are measured as well."""
    from mtp_cli.bench.client import BenchError
    from mtp_cli.bench.protocol import KIND_MODEL
    from mtp_cli.catalog import ModelError
    from mtp_cli.view.plot import PlotError

    chosen = _arms(arms)
    try:
        _check_targets(output, plot, startup)
        plan = _plan(model, chosen, prompts, task, limit, max_tokens, threads, runs, offline, quiet)
        report, code, problem = _run(plan, startup, quiet, verbose)
        if report is not None:
            if code:
                report["complete"] = False
            if plot is not None and report["verify_cost_ms"]:
                _plot(report, plot, complete=not code)
            _write(report, output_format.value, output)
    except ModelError as error:
        _fail(str(error), 3)
    except BenchError as error:
        _fail(str(error), 3 if error.kind == KIND_MODEL else 2)
    except UserError as error:
        _fail(str(error), error.status)
    except PlotError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    if code:
        _fail(problem, code)


def _arms(text: str) -> list[str]:
    chosen = [part.strip() for part in text.split(",") if part.strip()]
    for arm in chosen:
        if arm not in ARMS:
            _fail(f"--arms: there is no arm {arm!r}; known arms: {', '.join(ARMS)}")
    if not chosen or len(set(chosen)) != len(chosen):
        _fail("--arms wants one or more different arms, for instance " + ",".join(ARMS))
    return chosen


def _check_targets(output: Path | None, plot: Path | None, startup: bool) -> None:
    """What would only fail after minutes of measuring fails now."""
    if output is not None:
        from mtp_cli.outputs import check_target

        check_target(output)
    if plot is not None:
        from mtp_cli.view.plot import check

        if startup:
            _fail("--plot draws the cost of a pass, which --startup does not measure; use one of them")
        check(plot)


def _plan(
    model: str | None,
    arms: list[str],
    prompts: Path | None,
    task: Task,
    limit: int | None,
    max_tokens: int,
    threads: int,
    runs: int,
    offline: bool,
    quiet: bool,
) -> Plan:
    """Raises ModelError and BenchError."""
    from mtp_cli import catalog
    from mtp_cli.bench.prompts import built_in, read_texts
    from mtp_cli.bench.run import Plan
    from mtp_cli.view.pull import PullView

    texts = read_texts(prompts, limit) if prompts is not None else built_in(limit)
    with PullView(quiet=quiet) as view:
        path = catalog.resolve(model, offline=offline, report=view).path
    return Plan(
        model=path.absolute(),
        texts=texts,
        arms=arms,
        task=task.value,
        max_tokens=max_tokens,
        threads=threads,
        runs=runs,
    )


def _run(plan: Plan, startup: bool, quiet: bool, verbose: bool) -> tuple[dict[str, Any] | None, int, str]:
    """(report, exit code, what went wrong). The report holds what was measured before anything went wrong,
    and is None when that is nothing."""
    from mtp_cli.bench import results as found
    from mtp_cli.bench.client import BenchError
    from mtp_cli.bench.run import measure
    from mtp_cli.view.bench_report import Progress

    # Ending on SIGTERM the ordinary way ends the workers too.
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    progress = Progress(verbose=verbose, quiet=quiet)
    results = found.Results(list(plan.arms))
    code, problem = 0, ""
    try:
        if startup:
            from mtp_cli.bench.startup import measure_startup

            measure_startup(plan, results, progress)
        else:
            measure(plan, results, progress)
    except KeyboardInterrupt:
        code, problem = 130, "interrupted"
    except BenchError as error:
        if not results.samples:
            raise
        code, problem = 2, str(error)
    finally:
        progress.clear()
        signal.signal(signal.SIGTERM, before)
    if not results.samples and not results.startup_ms:
        return None, code, problem
    return found.report(results), code, problem


def _plot(report: dict[str, Any], path: Path, *, complete: bool) -> None:
    from mtp_cli.view.plot import PlotError, cost_curve

    try:
        cost_curve(report, path)
    except PlotError:
        if complete:
            raise


def _write(report: dict[str, Any], form: str, output: Path | None) -> None:
    """To stdout or to a file. Raises UserError."""
    from mtp_cli.outputs import Stdout, write_whole
    from mtp_cli.view.bench_report import render

    text = render(report, form)
    if output is not None:
        write_whole(output, text)
        return
    try:
        Stdout().write(text)
    except BrokenPipeError:
        # The reader has seen enough (`| head -1`); the interpreter must not complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
