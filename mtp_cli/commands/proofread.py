"""`mtp proofread`: texts with their spelling and grammar put right."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from mtp_cli.commands.common import Result, Run, run_guarded
from mtp_cli.commands.options import (
    Colour,
    ColourOption,
    ContextOption,
    DraftMaxOption,
    DraftMode,
    DraftOption,
    DryRunOption,
    FilesArgument,
    Format,
    FormatOption,
    HeadOption,
    KernelOption,
    LenientOption,
    MaxTokensOption,
    MinPOption,
    ModelOption,
    OfflineOption,
    Options,
    OutputOption,
    QuietOption,
    RepeatPenaltyOption,
    SeedOption,
    TemperatureOption,
    ThreadsOption,
    TopKOption,
    TopPOption,
    VerboseOption,
    drafting_of,
)
from mtp_cli.engine import MAX_DRAFT, Sampling
from mtp_cli.exits import ExitStatus

if TYPE_CHECKING:
    from mtp_cli.engine import Drafting
    from mtp_cli.inputs import Source
    from mtp_cli.tasks.guard import Change
    from mtp_cli.tasks.job import JobEvent
    from mtp_cli.tasks.proofread import Correction

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
    draft: DraftOption = DraftMode.auto,
    draft_max: DraftMaxOption = MAX_DRAFT,
    head: HeadOption = None,
    lenient: LenientOption = None,
    temperature: TemperatureOption = 0.0,
    top_k: TopKOption = 0,
    top_p: TopPOption = 1.0,
    min_p: MinPOption = 0.0,
    repeat_penalty: RepeatPenaltyOption = 1.0,
    seed: SeedOption = 0,
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
        model=model,
        output=output,
        form=form,
        max_tokens=max_tokens,
        threads=threads,
        ctx=ctx,
        kernel=kernel,
        offline=offline,
        quiet=quiet,
        verbose=verbose,
        colour=colour,
        dry_run=dry_run,
        sampling=Sampling(temperature, top_k, top_p, min_p, repeat_penalty, seed=seed),
        drafting=drafting_of(draft, draft_max, lenient),
        head=head,
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
    from mtp_cli.tasks.proofread import Correction, Proofreader

    run.meter.text_begins()
    mark = "\ufeff" if source.bom else ""
    if not any(unit.prose for unit in units(source.text)):
        if run.streaming and not run.options.dry_run:
            run.out.write(mark + source.text)
        counts = run.meter.text_counts.record()
        return _result(source, mark, Correction(source.text, 0, 0, (), ()), counts)

    engine, template = run.engine()

    def proofreader(drafting: Drafting, listen: Callable[[JobEvent], None]) -> Proofreader:
        options = run.options
        return Proofreader(
            engine,
            template,
            max_tokens=options.max_tokens,
            sampling=options.sampling,
            drafting=drafting,
            listen=listen,
        )

    asked = proofreader(run.options.drafting, run.listen)
    if run.options.dry_run:
        run.print_prompts(asked.prompts(source.text))
        return Result("", {})
    if mark and run.streaming:
        run.out.write(mark)
    found = asked.run(source.text)
    if run.options.verbose and not run.options.quiet:
        _print_refused(run, source, found.refused)
    counts = run.count(
        lambda: proofreader(run.exact_drafting(), lambda event: None).run(source.text).text, found.text
    )
    return _result(source, mark, found, counts)


def _result(source: Source, mark: str, found: Correction, counts: dict[str, Any]) -> Result:
    def plain(change: Change) -> dict[str, object]:
        return {key: value for key, value in asdict(change).items() if key != "reason"}

    record = {
        "source": source.name,
        "text": found.text,
        "input_tokens": found.input_tokens,
        "used_tokens": found.input_tokens,
        "sentences": found.sentences,
        "truncated": False,
        "edits": [plain(change) for change in found.edits],
        "refused": [asdict(change) for change in found.refused],
        **counts,
    }
    return Result(mark + found.text, record)


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
