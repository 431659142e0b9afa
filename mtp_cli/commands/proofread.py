"""`mtp proofread`: texts with their spelling and grammar put right."""

from __future__ import annotations

import typer

from mtp_cli.commands.common import Run, run_guarded
from mtp_cli.commands.options import (
    Colour,
    ContextOption,
    DraftMaxOption,
    DraftMode,
    DraftOption,
    DryRunOption,
    FilesArgument,
    Format,
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
from mtp_cli.commands.proofread_options import (
    Answers,
    AnswersOption,
    BackupOption,
    CheckOption,
    CommentsOption,
    DialectOption,
    DiffOption,
    HelpersOption,
    InteractiveOption,
    JudgeOption,
    KeepOption,
    Kind,
    ProofColourOption,
    ProofFormat,
    ProofFormatOption,
    TypeOption,
    UnsafeOption,
    Wish,
    WordDiffOption,
    WriteOption,
    helper_names,
)
from mtp_cli.engine import MAX_DRAFT, Sampling
from mtp_cli.exits import ExitStatus


def register(app: typer.Typer) -> None:
    """Add `proofread` to the main app."""
    app.command("proofread")(proofread)


def proofread(
    files: FilesArgument = None,
    diff: DiffOption = False,
    word_diff: WordDiffOption = False,
    write: WriteOption = False,
    backup: BackupOption = False,
    check: CheckOption = False,
    interactive: InteractiveOption = False,
    unsafe: UnsafeOption = False,
    keep: KeepOption = None,
    dialect: DialectOption = None,
    kind: TypeOption = Kind.auto,
    comments: CommentsOption = False,
    judge: JudgeOption = True,
    helpers: HelpersOption = "auto",
    answers: AnswersOption = Answers.auto,
    form: ProofFormatOption = ProofFormat.text,
    output: OutputOption = None,
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
    colour: ProofColourOption = Colour.auto,
    dry_run: DryRunOption = False,
) -> None:
    """Correct spelling and grammar of files, or of what comes through a pipe.

    Layout, code, addresses, placeholders and numbers stay. What the model changes beyond corrections is
    unsafe and not applied; -v tells what that was.

    Exit codes: 0 fine, 1 --check found something, 2 usage or error, 3 model missing or damaged, 130
    interrupted."""
    options = Options(
        model=model,
        output=output,
        form=Format.text if form is ProofFormat.text else Format.json,
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
    wish = Wish(form, diff, word_diff, write, backup, check, interactive, kind, comments)
    run = Run("proofread", options, streaming=wish.flows)

    def work() -> ExitStatus:
        from mtp_cli.commands.proofread_job import Job
        from mtp_cli.tasks.proofread import Rules

        names = helper_names(helpers)
        rules = Rules(
            tuple(keep or ()), dialect.value if dialect else "", unsafe, judge, names, answers.value
        )
        return Job(run, wish, rules).work(files or [])

    run_guarded(run, work)
