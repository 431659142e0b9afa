"""What the text commands share: opening a model, one way through errors and output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from mtp_cli.commands.options import Format, ModelOption, Options
from mtp_cli.exits import ExitStatus, UserError
from mtp_cli.meters.time import RunMeter, clock, process_age

__all__ = ["ModelOption", "Result", "Run", "run_guarded"]

if TYPE_CHECKING:
    from mtp_cli.catalog import PullEvent, Resolved
    from mtp_cli.engine import Drafting, Engine
    from mtp_cli.inputs import Source
    from mtp_cli.tasks.job import JobEvent
    from mtp_cli.tasks.prompts import Template
    from mtp_cli.view.progress import Progress


@dataclass(slots=True)
class Result:
    """What a job made of one text: for stdout and for JSON."""

    text: str
    record: dict[str, Any]


class Run:
    """One run of a text command: sources -> results, with everything a person sees around it."""

    def __init__(self, task: str, options: Options, *, streaming: bool = True) -> None:
        from mtp_cli.outputs import Stdout
        from mtp_cli.view.progress import Progress

        self.task = task
        self.options = options
        self.meter = RunMeter()
        self.records = options.form is Format.json
        """whether JSON tells of the run"""
        self.streaming = streaming and options.form is Format.text and options.output is None
        self.progress: Progress = Progress(
            self.meter, quiet=options.quiet, colour=options.colour.value, streaming=self.streaming
        )
        self.out = Stdout(self.progress.before_text, self.progress.after_text)
        self._remarks: list[str] = []
        self.warnings: list[str] = []
        """for the person, once the result is out"""
        self._engine: Engine | None = None
        self.template: Template | None = None
        self.model = ""
        self.prompts: Mapping[str, Any] | None = None
        """the model's own prompts"""
        self.languages: tuple[str, ...] = ()

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
        from mtp_cli.heads import attach_head

        mode = options.drafting.mode
        warning = attach_head(engine, resolved.path, resolved.entry, mode=mode, head=options.head)
        if warning:
            self.warnings.append(warning)
        self.meter.load_seconds = clock() - began
        if options.drafting.lenient and not options.dry_run:
            self.progress.note("--lenient: the text may differ from the model's own")
        prompts = resolved.entry.prompts if resolved.entry else None
        self.prompts, self.languages = prompts, resolved.entry.languages if resolved.entry else ()
        try:
            self.template = template_for(self.task, prompts, chat=engine.info.has_chat_template)
        except ValueError as error:
            raise UserError(f"the description of {resolved.reference} is not valid: {error}") from None
        self._engine = engine
        self.model = resolved.entry.name if resolved.entry else resolved.path.name
        self._watch_energy(engine)
        self.meter.prompt_begins()

    def _watch_energy(self, engine: Engine) -> None:
        """Joules, where somebody will see them."""
        spoken = self.options.verbose and not self.options.quiet
        told = spoken or self.records
        if not told and not self.progress.live:
            return
        from mtp_cli.meters.energy import EnergyMeter
        from mtp_cli.meters.sources.find import find_source

        found = find_source(live_only=not told, commands=spoken)
        self.meter.energy = EnergyMeter(found.source, lambda: engine.work)

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

    def meter_only(self, event: JobEvent) -> None:
        """Decoding is counted; nothing is shown of it but the live line."""
        from mtp_cli.tasks.job import Part, PartDone, Plan, Text

        if not isinstance(event, (Part, PartDone, Plan, Text)):
            self.listen(event)

    def exact_drafting(self) -> Drafting:
        """As asked for, without leniency."""
        return replace(self.options.drafting, lenient="", alpha=0.0)

    def count(self, exact: Callable[[], str], text: str) -> dict[str, Any]:
        """What the JSON record of a text tells about decoding, and with --lenient how far it is from the
        model's own text, which `exact` generates (with -v and for JSON only)."""
        counts = self.meter.text_counts
        record = counts.record()
        drafting = self.options.drafting
        if not self.options.compares:
            return record
        from mtp_cli.tasks.distance import word_distance
        from mtp_cli.view.timing import percent

        own = exact()
        distance, words = word_distance(text, own), len(own.split())
        record["lenient"] = {
            "rule": drafting.lenient,
            "alpha": drafting.alpha,
            "tokens": counts.drafts.lenient,
            "share": counts.lenient_share,
            "edit_distance_words": distance,
            "exact_words": words,
        }
        self._remarks.append(
            f"{percent(counts.lenient_share)} of the tokens taken leniently; edit distance to the exact text "
            f"{distance} of {words} words"
        )
        return record

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
        self._tell()

    def _tell(self) -> None:
        """What a person hears once the result is out."""
        options = self.options
        for warning in self.warnings:
            self.progress.note(warning)
        if options.verbose and not options.quiet:
            for remark in self._remarks:
                self.progress.note(remark)
            self._print_timing()

    def finish_with(self, text: str) -> None:
        """The same for a result that is made whole by the command itself; "" for none."""
        self.progress.clear()
        if text or self.options.output is not None:
            self._whole(text)
        self._tell()

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
        shown = {key: "unavailable" if value is None else value for key, value in rounded.items()}
        energy = meter.energy_used()
        told = energy.record(meter.generated_tokens) if energy is not None else {"origin": "unavailable"}
        return {**shown, "energy": told}

    def _print_timing(self) -> None:
        from mtp_cli.meters import memory
        from mtp_cli.view.timing import timing_block

        lenient = bool(self.options.drafting.lenient)
        used = self.meter.energy_used()
        sys.stderr.write(timing_block(self.meter, process_age(), memory.peak(), used, lenient=lenient))

    def print_prompts(self, prompts: list[str]) -> None:
        """--dry-run: the first prompt whole; of the others only how many there are."""
        self.progress.clear()
        if prompts:
            self.out.write(prompts[0])
            self.out.end()
        if len(prompts) > 1:
            self.progress.note(f"the first of {len(prompts)} prompts; the others differ in their text")


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
