"""`mtp summarize`: the gist of texts."""

from __future__ import annotations

from collections.abc import Callable
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
from mtp_cli.events import FinishReason
from mtp_cli.exits import ExitStatus
from mtp_cli.tasks.job import JobEvent, Plan, Text

if TYPE_CHECKING:
    from mtp_cli.engine import Drafting


def register(app: typer.Typer) -> None:
    """Add `summarize` to the main app."""
    app.command("summarize")(summarize)


def summarize(
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
    """Summarize files, or what comes through a pipe.

    A text that does not fit the context is read in parts, and their summaries are summarized."""
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
    run = Run("summarize", options)
    run_guarded(run, lambda: _work(run, files))


def _work(run: Run, files: list[str] | None) -> ExitStatus:
    sources = run.sources(files)
    results: list[Result] = []
    for number, source in enumerate(sources):
        lead = "\n\n" if number else ""
        if len(sources) > 1:
            lead += f"{source.name}:\n"
        result = _one(run, source.name, source.text, lead)
        result.text = lead + result.text
        results.append(result)
    if run.options.dry_run:
        return ExitStatus.OK
    if results[-1].text:
        results[-1].text += "\n"
    run.finish(results)
    return ExitStatus.OK


def _one(run: Run, name: str, text: str, lead: str) -> Result:
    run.meter.text_begins()
    if not text.strip():
        if lead and run.streaming:
            run.out.write(lead)
        record: dict[str, Any] = {"source": name, "summary": "", "input_tokens": 0, "used_tokens": 0}
        record |= {
            "chunks": 0,
            "truncated": False,
            "finish_reason": "empty_input",
            **run.meter.text_counts.record(),
        }
        return Result("", record)
    from mtp_cli.tasks.summarize import Summarizer

    engine, template = run.engine()

    def listen(event: JobEvent) -> None:
        if isinstance(event, Plan) and event.parts > 1:
            run.progress.note(f"{event.input_tokens:,} tokens, {event.parts} parts")
        run.listen(event)

    def summarizer(drafting: Drafting, listen: Callable[[JobEvent], None]) -> Summarizer:
        options = run.options
        return Summarizer(
            engine,
            template,
            max_tokens=options.max_tokens,
            sampling=options.sampling,
            drafting=drafting,
            listen=listen,
        )

    asked = summarizer(run.options.drafting, listen)
    if run.options.dry_run:
        run.print_prompts(asked.prompts(text))
        return Result("", {})
    if lead:
        run.listen(Text(lead))
    found = asked.run(text)
    if found.finish_reason in (FinishReason.TOKEN_LIMIT, FinishReason.CONTEXT_FULL):
        what = f"the summary of {name}" if lead else "the summary"
        more = "--max-tokens" if found.finish_reason is FinishReason.TOKEN_LIMIT else "--ctx"
        run.warnings.append(f"{what} was cut at its limit; a larger {more} gives it more room")
    record = {
        "source": name,
        "summary": found.text,
        "input_tokens": found.input_tokens,
        "used_tokens": found.used_tokens,
        "chunks": found.chunks,
        "truncated": found.truncated,
        "finish_reason": found.finish_reason.value,
        **run.count(lambda: summarizer(run.exact_drafting(), lambda event: None).run(text).text, found.text),
    }
    return Result(found.text, record)
