"""`mtp summarize`: the gist of texts."""

from __future__ import annotations

import typer

from mtp_cli.commands.common import Run, run_guarded
from mtp_cli.commands.options import (
    Colour,
    ColourOption,
    ContextOption,
    DraftMaxOption,
    DraftMode,
    DraftOption,
    DryRunOption,
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
from mtp_cli.commands.summary_options import (
    InputOption,
    LangOption,
    LengthOption,
    OverflowOption,
    PerFileOption,
    RecursiveOption,
    ResumeOption,
    SourcesArgument,
    StyleOption,
    SummaryFormat,
    SummaryFormatOption,
    SummaryOptions,
)
from mtp_cli.engine import MAX_DRAFT, Sampling
from mtp_cli.exits import ExitStatus
from mtp_cli.tasks.summary_wish import MEDIUM, Overflow


def register(app: typer.Typer) -> None:
    """Add `summarize` to the main app."""
    app.command("summarize")(summarize)


def summarize(
    files: SourcesArgument = None,
    style: StyleOption = None,
    length: LengthOption = MEDIUM,
    kind: InputOption = None,
    lang: LangOption = "auto",
    per_file: PerFileOption = False,
    recursive: RecursiveOption = False,
    form: SummaryFormatOption = SummaryFormat.text,
    output: OutputOption = None,
    on_overflow: OverflowOption = Overflow.chunk,
    resume: ResumeOption = None,
    model: ModelOption = None,
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
    """Summarize files, or what comes through a pipe.

    Several files give one summary of all, unless --per-file is given. A text that does not fit the context
    is read in parts, and their summaries are summarized; what is left out of a file is said."""
    options = Options(
        model=model,
        output=output,
        form=form.general,
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
    wanted = SummaryOptions(style, length, kind, lang, form, per_file, recursive, on_overflow, resume)
    run = Run("summarize", options)

    def work() -> ExitStatus:
        from mtp_cli.commands.summary_run import SummaryRun

        return SummaryRun(run, wanted).work(files or [])

    run_guarded(run, work)
