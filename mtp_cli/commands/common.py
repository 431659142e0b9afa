"""What the text commands share: options, opening a model, one way through errors and output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtp_cli.exits import ExitStatus, UserError
from mtp_cli.meters.time import RunMeter, clock, process_age

if TYPE_CHECKING:
    from mtp_cli.catalog import PullEvent, Resolved
    from mtp_cli.engine import Engine
    from mtp_cli.inputs import Source
    from mtp_cli.tasks.job import JobEvent
    from mtp_cli.tasks.prompts import Template
    from mtp_cli.view.progress import Progress


class Format(str, Enum):
    """Form of the result."""

    text = "text"
    json = "json"


class Colour(str, Enum):
    """When to use colours."""

    auto = "auto"
    always = "always"
    never = "never"


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
    typer.Option("--max-tokens", min=0, metavar="N", help="Most tokens of an answer; 0: the task's own."),
]
ThreadsOption = Annotated[
    int, typer.Option("--threads", min=0, metavar="N", help="0: the performance cores.")
]
ContextOption = Annotated[
    int, typer.Option("--ctx", min=0, metavar="N", help="Context in tokens; 0: the model's, at most 4096.")
]
KernelOption = Annotated[str, typer.Option("--kernel", metavar="NAME", help="Kernel set; see mtp doctor.")]
OfflineOption = Annotated[bool, typer.Option("--offline", help="Never fetch a model.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but errors.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Timing and memory on stderr.")]
ColourOption = Annotated[Colour, typer.Option("--color", help="Colours on stderr.")]
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


@dataclass(slots=True)
class Result:
    """What a job made of one text: for stdout and for JSON."""

    text: str
    record: dict[str, Any]


class Run:
    """One run of a text command: sources -> results, with everything a person sees around it."""

    def __init__(self, task: str, options: Options) -> None:
        from mtp_cli.outputs import Stdout
        from mtp_cli.view.progress import Progress

        self.task = task
        self.options = options
        self.meter = RunMeter()
        self.streaming = options.form is Format.text and options.output is None
        self.progress: Progress = Progress(
            self.meter, quiet=options.quiet, colour=options.colour.value, streaming=self.streaming
        )
        self.out = Stdout(self.progress.before_text, self.progress.after_text)
        self._engine: Engine | None = None
        self.template: Template | None = None
        self.model = ""

    def sources(self, files: list[str] | None) -> list[Source]:
        """The texts to work on; also checks where the result is to go."""
        from mtp_cli.inputs import read_inputs
        from mtp_cli.outputs import check_target

        if self.options.output is not None:
            check_target(self.options.output)
        return read_inputs(files or [], lambda: self.progress.note("waiting for standard input"))

    def engine(self) -> tuple[Engine, Template]:
        """The model, loaded on first use, and its prompt for the task."""
        if self._engine is None or self.template is None:
            self._open()
        assert self._engine is not None and self.template is not None
        return self._engine, self.template

    def _open(self) -> None:
        from mtp_cli.engine import open_engine
        from mtp_cli.tasks.prompts import template_for

        options = self.options
        resolved = self._resolve()
        began = clock()
        engine = open_engine(
            resolved.path,
            n_ctx=options.ctx,
            n_threads=options.threads,
            kernel=options.kernel,
            progress=self.progress.loading,
        )
        self.meter.load_seconds = clock() - began
        prompts = resolved.entry.prompts if resolved.entry else None
        try:
            self.template = template_for(self.task, prompts, chat=engine.info.has_chat_template)
        except ValueError as error:
            raise UserError(f"the description of {resolved.reference} is not valid: {error}") from None
        self._engine = engine
        self.model = resolved.entry.name if resolved.entry else resolved.path.name
        self.meter.prompt_begins()

    def _resolve(self) -> Resolved:
        from mtp_cli import catalog

        views: list[Any] = []

        def report(event: PullEvent) -> None:
            if not views:
                from mtp_cli.view.pull import PullView

                self.progress.clear()
                views.append(PullView(quiet=self.options.quiet).__enter__())
            views[0](event)

        try:
            return catalog.resolve(self.options.model, offline=self.options.offline, report=report)
        finally:
            for view in views:
                view.__exit__(None, None, None)

    def listen(self, event: JobEvent) -> None:
        """Job events go to the meter, the view and, when streaming, to stdout."""
        from mtp_cli.events import EndEvent, PrefillEvent, StepEvent
        from mtp_cli.tasks.job import Text

        if isinstance(event, (StepEvent, PrefillEvent, EndEvent)):
            self.meter.feed(event)
        if isinstance(event, Text) and self.streaming:
            self.out.write(event.text)
        self.progress.hear(event)

    def finish(self, results: list[Result]) -> None:
        """Everything is done: write what has not been streamed, and the timing block."""
        import json

        self.progress.clear()
        options = self.options
        if options.form is Format.json:
            records = [{**result.record, "model": self.model, "timing": self.timing()} for result in results]
            whole = json.dumps(records[0] if len(records) == 1 else records, ensure_ascii=False, indent=2)
            self._whole(whole + "\n")
        elif options.output is not None:
            self._whole("".join(result.text for result in results))
        else:
            self.out.end()
        if options.verbose and not options.quiet:
            self._print_timing()

    def _whole(self, text: str) -> None:
        from mtp_cli.outputs import write_whole

        if self.options.output is not None:
            write_whole(self.options.output, text)
        else:
            self.out.write(text)
            self.out.end()

    def timing(self) -> dict[str, Any]:
        """For JSON; a value that could not be had is "unavailable"."""
        from mtp_cli.meters import memory

        meter = self.meter
        values: dict[str, Any] = {
            "load_seconds": meter.load_seconds,
            "prompt_tokens": meter.prompt_tokens,
            "prompt_tokens_reused": meter.reused_tokens,
            "prompt_seconds": meter.prompt_seconds,
            "prompt_tok_s": meter.prompt_rate,
            "generated_tokens": meter.generated_tokens,
            "passes": meter.passes,
            "decode_seconds": meter.decode_seconds,
            "decode_tok_s": meter.decode_rate,
            "first_token_seconds_from_process_start": meter.first_token_from_process,
            "first_token_seconds_from_prompt": meter.first_token_from_prompt,
            "peak_memory_bytes": memory.peak().value,
        }
        rounded = {
            key: round(value, 4) if isinstance(value, float) else value for key, value in values.items()
        }
        return {key: "unavailable" if value is None else value for key, value in rounded.items()}

    def _print_timing(self) -> None:
        from mtp_cli.meters import energy, memory
        from mtp_cli.view.timing import timing_block

        sys.stderr.write(timing_block(self.meter, process_age(), memory.peak(), energy.used()))

    def print_prompts(self, prompts: list[str]) -> None:
        """--dry-run: the first prompt whole; of the others only how many there are."""
        self.progress.clear()
        if prompts:
            self.out.write(prompts[0])
            self.out.end()
        if len(prompts) > 1:
            self.progress.note(f"the first of {len(prompts)} prompts; the others differ in their text")


def _json_value(value: float | int | None) -> float | int | str:
    if value is None:
        return "unavailable"
    return round(value, 4) if isinstance(value, float) else value


def run_guarded(run: Run, work: Callable[[], ExitStatus]) -> None:
    """Do `work`; whatever ends it becomes one line on stderr and the exit code."""
    from mtp_cli.exits import describe, one_line

    try:
        status = work()
    except BrokenPipeError:
        run.progress.clear()
        status = _reader_gone()
    except (typer.Exit, SystemExit):
        raise
    except BaseException as error:
        if os.environ.get("MTP_DEBUG"):
            raise
        line, status = describe(error)
        _keep_text_so_far(run)
        print(f"mtp: {one_line(line)}", file=sys.stderr)
    raise typer.Exit(int(status))


def _keep_text_so_far(run: Run) -> None:
    try:
        run.progress.clear()
        run.out.end()
    except BrokenPipeError:
        _reader_gone()


def _reader_gone() -> ExitStatus:
    """The reader of stdout has enough (`| head -1`): that is fine, and the interpreter must not complain."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        pass
    return ExitStatus.OK
