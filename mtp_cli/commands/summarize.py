"""`mtp summarize`: the gist of texts."""

from __future__ import annotations

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
from mtp_cli.tasks.job import JobEvent, Plan, Text


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
    offline: OfflineOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    colour: ColourOption = Colour.auto,
    dry_run: DryRunOption = False,
) -> None:
    """Summarize files, or what comes through a pipe.

    A text that does not fit the context is read in parts, and their summaries are summarized."""
    options = Options(
        model, output, form, max_tokens, threads, ctx, kernel, offline, quiet, verbose, colour, dry_run
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
    if not text.strip():
        if lead and run.streaming:
            run.out.write(lead)
        record = {"source": name, "summary": "", "input_tokens": 0, "used_tokens": 0, "chunks": 0}
        return Result("", {**record, "truncated": False, "finish_reason": "empty_input"})
    from mtp_cli.tasks.summarize import Summarizer

    engine, template = run.engine()

    def listen(event: JobEvent) -> None:
        if isinstance(event, Plan) and event.parts > 1:
            run.progress.note(f"{event.input_tokens:,} tokens, {event.parts} parts")
        run.listen(event)

    summarizer = Summarizer(engine, template, max_tokens=run.options.max_tokens, listen=listen)
    if run.options.dry_run:
        run.print_prompts(summarizer.prompts(text))
        return Result("", {})
    if lead:
        run.listen(Text(lead))
    found = summarizer.run(text)
    record = {
        "source": name,
        "summary": found.text,
        "input_tokens": found.input_tokens,
        "used_tokens": found.used_tokens,
        "chunks": found.chunks,
        "truncated": found.truncated,
        "finish_reason": found.finish_reason.value,
    }
    return Result(found.text, record)
