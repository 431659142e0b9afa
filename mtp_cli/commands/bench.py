"""`mtp bench`: the product's engine against the reference on this machine."""

from __future__ import annotations

import os
import signal
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from mtp_cli.commands.bench_wish import DEFAULT_ARMS, DEFAULT_LIMIT, Wish, check_uses, plan_of
from mtp_cli.commands.common import ModelOption
from mtp_cli.exits import UserError

if TYPE_CHECKING:
    from mtp_cli.bench.plan import Plan


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
    mixed = "mixed"


class Rule(str, Enum):
    """The rules of lenient drafting."""

    chow = "chow"
    diff = "diff"
    opt = "opt"
    token_v1 = "token-v1"
    token_v2 = "token-v2"
    token_v3 = "token-v3"


def register(app: typer.Typer) -> None:
    """Add `bench` to the main app."""
    app.command("bench")(bench)


def _fail(message: str, code: int = 2) -> NoReturn:
    print(f"mtp: {message}", file=sys.stderr)
    raise typer.Exit(code)


def bench(
    model: ModelOption = None,
    arms: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            help="What to compare: reference, plain, auto, copy, head, copy+head, and with a fixed length "
            "fixed-N, copy-N, head-N, copy+head-N.",
        ),
    ] = DEFAULT_ARMS,
    prompts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TASK=]FILE.jsonl",
            help="Texts: turns[0], prompt, text or source of each line. May be given again.",
            show_default=False,
        ),
    ] = None,
    task: Annotated[
        Task, typer.Option(help="The prompt around each text; free: none; mixed: all in turn.")
    ] = Task.summarize,
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="Use the first N texts of each file; 0: all.")
    ] = DEFAULT_LIMIT,
    max_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Tokens of an answer.")] = 128,
    threads: Annotated[int, typer.Option(min=0, metavar="N", help="0: the performance cores.")] = 0,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Runs of each text and arm.")] = 5,
    temperature: Annotated[
        float, typer.Option(min=0, max=100, metavar="T", help="Above 0: every arm samples.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the sampling.")] = 0,
    reference_verify: Annotated[
        bool,
        typer.Option("--reference-verify", help="Feed llama.cpp its own text 4 tokens a pass: the same?"),
    ] = False,
    price_column: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="X",
            help="Also simulate a CPU where a further token of a pass costs X of the first; with int8 dot "
            "products about 0.094.",
        ),
    ] = 0.0,
    lenient_table: Annotated[
        Rule | None,
        typer.Option("--lenient-table", help="Only compare lenient with exact drafting.", show_default=False),
    ] = None,
    startup: Annotated[
        bool, typer.Option("--startup", help="Only time whole processes: proofreading one sentence.")
    ] = False,
    sustained: Annotated[
        float,
        typer.Option(
            min=0,
            max=24 * 60,
            metavar="MINUTES",
            help="Only answer for so long, with auto unless --arms says otherwise, and compare the first "
            "with the last third: does it slow down as it gets warm?",
        ),
    ] = 0.0,
    output_format: Annotated[ReportFormat, typer.Option("--format", help="The report.")] = ReportFormat.text,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report there.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png|svg", help="Draw the cost of a pass, or the lenient table."),
    ] = None,
    head: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The draft head; without: the model's own.", show_default=False),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Never fetch a model.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="One line for each measurement, and what passes read.")
    ] = False,
) -> None:
    """Compare speed, memory and the cost of a pass with llama.cpp's, and drafting with plain decoding.

    Same file, prompts, context and threads; each in its own process, taking turns (A B B A).

    A ratio above 1 means faster; its interval covers 95 %.

    Close other programs first: they are measured as well."""
    from mtp_cli.bench.client import BenchError
    from mtp_cli.bench.protocol import KIND_MODEL
    from mtp_cli.catalog import ModelError
    from mtp_cli.view.plot import PlotError

    wish = Wish(
        model=model,
        arms=arms,
        prompts=prompts or [],
        task=task.value,
        limit=limit,
        max_tokens=max_tokens,
        threads=threads,
        runs=runs,
        temperature=temperature,
        seed=seed,
        verify=reference_verify,
        lenient=lenient_table.value if lenient_table is not None else "",
        head=head,
        price_column=price_column,
        sustained=sustained,
        offline=offline,
        quiet=quiet,
    )
    try:
        check_uses(wish, startup)
        _check_targets(output, plot, startup, sustained > 0)
        report, code, problem = _run(plan_of(wish), startup, quiet, verbose)
        if report is not None:
            if code:
                report["complete"] = False
            if plot is not None:
                _plot(report, plot, complete=not code)
            _write(report, output_format.value, output, verbose)
            if not code and report["not_exact"]:
                code, problem = 2, "; ".join(report["not_exact"])
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


def _check_targets(output: Path | None, plot: Path | None, startup: bool, sustained: bool) -> None:
    """What would only fail after minutes of measuring fails now."""
    if output is not None:
        from mtp_cli.outputs import check_target

        check_target(output)
    if plot is not None:
        from mtp_cli.view.plot import check

        if startup or sustained:
            other = "--startup" if startup else "--sustained"
            _fail(f"--plot draws the cost of a pass, which {other} does not measure; use one of them")
        check(plot)


def _run(plan: Plan, startup: bool, quiet: bool, verbose: bool) -> tuple[dict[str, Any] | None, int, str]:
    """(report, exit code, what went wrong). The report holds what was measured before anything went wrong,
    and is None when that is nothing."""
    from mtp_cli.bench.client import BenchError
    from mtp_cli.bench.report import report
    from mtp_cli.bench.results import Results
    from mtp_cli.bench.run import measure
    from mtp_cli.view.bench_report import Progress

    # Ending on SIGTERM the ordinary way ends the workers too.
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    progress = Progress(verbose=verbose, quiet=quiet)
    results = Results(list(plan.arms))
    code, problem = 0, ""
    try:
        if startup:
            from mtp_cli.bench.startup import measure_startup

            measure_startup(plan, results, progress)
        elif plan.sustained:
            from mtp_cli.bench.sustained import measure_sustained

            measure_sustained(plan, results, progress)
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
    return report(results), code, problem


def _plot(report: dict[str, Any], path: Path, *, complete: bool) -> None:
    from mtp_cli.view.plot import PlotError, cost_curve, lenient_curve

    try:
        if report.get("lenient"):
            lenient_curve(report, path)
        elif report["verify_cost_ms"]:
            cost_curve(report, path)
    except PlotError:
        if complete:
            raise


def _write(report: dict[str, Any], form: str, output: Path | None, verbose: bool) -> None:
    """To stdout or to a file. Raises UserError."""
    from mtp_cli.outputs import Stdout, write_whole
    from mtp_cli.view.bench_report import render

    text = render(report, form, verbose=verbose)
    if output is not None:
        write_whole(output, text)
        return
    try:
        Stdout().write(text)
    except BrokenPipeError:
        # The reader has seen enough (`| head -1`); the interpreter must not complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
