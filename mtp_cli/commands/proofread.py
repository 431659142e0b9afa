"""`mtp proofread`: texts with their spelling and grammar put right."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from mtp_cli.commands.common import (
    Colour,
    ColourOption,
    ContextOption,
    DryRunOption,
    FilesArgument,
    Format,
    FormatOption,
    KernelOption,
    MaxTokensOption,
    ModelOption,
    OfflineOption,
    Options,
    OutputOption,
    QuietOption,
    Result,
    Run,
    ThreadsOption,
    VerboseOption,
    run_guarded,
)
from mtp_cli.exits import ExitStatus

if TYPE_CHECKING:
    from mtp_cli.inputs import Source
    from mtp_cli.tasks.guard import Change

_SHOWN_CHARS = 40


def register(app: typer.Typer) -> None:
    """Add `proofread` to the main app."""
    app.command("proofread")(proofread)


def proofread(
    files: FilesArgument = None,
    model: ModelOption = None,
    output: OutputOption = None,
    form: FormatOption = Format.text,
    max_tokens: MaxTokensOption = 0,
    threads: ThreadsOption = 0,
    ctx: ContextOption = 0,
    kernel: KernelOption = "auto",
    offline: OfflineOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    colour: ColourOption = Colour.auto,
    dry_run: DryRunOption = False,
) -> None:
    """Correct spelling and grammar of files, or of what comes through a pipe.

    Layout, code, addresses, placeholders and numbers stay. What the model changes beyond corrections is
    refused; -v tells what that was."""
    options = Options(
        model, output, form, max_tokens, threads, ctx, kernel, offline, quiet, verbose, colour, dry_run
    )
    run = Run("proofread", options)
    run_guarded(run, lambda: _work(run, files))


def _work(run: Run, files: list[str] | None) -> ExitStatus:
    results = [_one(run, source) for source in run.sources(files)]
    if not run.options.dry_run:
        run.finish(results)
    return ExitStatus.OK


def _one(run: Run, source: Source) -> Result:
    from mtp_cli.tasks.layout import units

    mark = "\ufeff" if source.bom else ""
    if not any(unit.prose for unit in units(source.text)):
        if run.streaming and not run.options.dry_run:
            run.out.write(mark + source.text)
        return _result(source, mark, source.text, 0, 0, (), ())
    from mtp_cli.tasks.proofread import Proofreader

    engine, template = run.engine()
    proofreader = Proofreader(engine, template, max_tokens=run.options.max_tokens, listen=run.listen)
    if run.options.dry_run:
        run.print_prompts(proofreader.prompts(source.text))
        return _result(source, mark, "", 0, 0, (), ())
    if mark and run.streaming:
        run.out.write(mark)
    found = proofreader.run(source.text)
    if run.options.verbose and not run.options.quiet:
        _print_refused(run, source, found.refused)
    return _result(source, mark, found.text, found.input_tokens, found.sentences, found.edits, found.refused)


def _result(
    source: Source,
    mark: str,
    text: str,
    tokens: int,
    sentences: int,
    edits: tuple[Change, ...],
    refused: tuple[Change, ...],
) -> Result:
    def plain(change: Change) -> dict[str, object]:
        return {key: value for key, value in asdict(change).items() if key != "reason"}

    record = {
        "source": source.name,
        "text": text,
        "input_tokens": tokens,
        "used_tokens": tokens,
        "sentences": sentences,
        "truncated": False,
        "edits": [plain(change) for change in edits],
        "refused": [asdict(change) for change in refused],
    }
    return Result(mark + text, record)


def _print_refused(run: Run, source: Source, refused: tuple[Change, ...]) -> None:
    if not refused:
        return
    run.progress.clear()
    run.out.end()
    for change in refused:
        line = source.text.count("\n", 0, change.start) + 1
        before, after = _short(change.before), _short(change.after)
        print(f"mtp: line {line}: kept {before!r}, not {after!r} ({change.reason})", file=sys.stderr)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN_CHARS else flat[: _SHOWN_CHARS - 1] + "…"
