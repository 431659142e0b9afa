"""The work of `mtp summarize`: documents -> summaries, with what a person is told about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mtp_cli.commands.common import Result, Run
from mtp_cli.commands.summary_options import SummaryFormat, SummaryOptions
from mtp_cli.documents import read_documents
from mtp_cli.engine import Drafting, Engine
from mtp_cli.events import FinishReason
from mtp_cli.exits import ExitStatus, UserError
from mtp_cli.outputs import check_target
from mtp_cli.readers import Document, Kind
from mtp_cli.readers.document import counted
from mtp_cli.tasks.job import JobEvent, PartDone, Plan, Text
from mtp_cli.tasks.summary_wish import Style, Wish

if TYPE_CHECKING:
    from mtp_cli.parts_file import PartsFile
    from mtp_cli.tasks.summarize import Summary
    from mtp_cli.tasks.summary_prompts import Asks


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done for one document."""

    prompts: Callable[[], list[str]]
    run: Callable[[], Summary]


class SummaryRun:
    """One command line."""

    def __init__(self, run: Run, wanted: SummaryOptions) -> None:
        self._run = run
        self._wanted = wanted
        if wanted.form is SummaryFormat.jsonl:
            run.streaming, run.records = False, True
        self._lines = ""
        self._parts: PartsFile | None = None
        self._done = 0

    def work(self, files: list[str]) -> ExitStatus:
        """Raises what `run_guarded` knows how to tell."""
        run, wanted = self._run, self._wanted
        if run.options.output is not None:
            check_target(run.options.output)
        if wanted.resume is not None:
            from mtp_cli.parts_file import PartsFile

            self._parts = PartsFile(wanted.resume)
        found: Iterable[Document] = read_documents(
            files,
            kind=wanted.kind,
            recursive=wanted.recursive,
            waiting=lambda: run.progress.note("waiting for standard input"),
            note=run.progress.note,
        )
        documents = list(found)
        several = len(documents) > 1
        if several and not wanted.per_file:
            documents, several = [joined(documents)], False
        try:
            results = [self._one(document, at, several) for at, document in enumerate(documents)]
        except KeyboardInterrupt:
            self._tell_kept()
            raise
        if not run.options.dry_run:
            self._finish(results)
        return ExitStatus.OK

    def _tell_kept(self) -> None:
        if self._parts is not None and self._parts.written:
            kept = counted(self._parts.written, "finished part")
            self._run.progress.note(f"{kept} kept in {self._wanted.resume}; the same command goes on there")
        elif self._parts is None and self._done and self._wanted.form is not SummaryFormat.jsonl:
            lost = counted(self._done, "finished part")
            self._run.progress.note(f"{lost} lost; with --resume FILE the next run would go on from there")

    def _finish(self, results: list[Result]) -> None:
        run = self._run
        if self._wanted.form is SummaryFormat.jsonl:
            run.finish([Result(self._lines, {})] if run.options.output is not None else [])
            return
        if results and results[-1].text:
            results[-1].text += "\n"
        run.finish(results)

    def _one(self, document: Document, at: int, several: bool) -> Result:
        run = self._run
        run.meter.text_begins()
        wish = self._wanted.wish(document.kind)
        lead = self._lead(document.name, wish, at, several)
        if document.left_out and not run.options.dry_run:
            run.progress.note(f"{document.name}: left out {', '.join(document.left_out)}")
        if not document.text.strip():
            if lead:
                run.listen(Text(lead))
            record = _empty_record(document, wish) | run.meter.text_counts.record()
            self._line(record)
            return Result(lead, record)
        text, record = self._summarized(document, wish, lead)
        self._line(record)
        return Result(lead + text, record)

    def _lead(self, name: str, wish: Wish, at: int, several: bool) -> str:
        """What stands before a summary."""
        gap = "\n\n" if at else ""
        if self._wanted.form is SummaryFormat.markdown:
            if several:
                return f"{gap}## {name}\n\n"
            return "# " if wish.style is Style.headline else ""
        return f"{gap}{name}:\n" if several else ""

    def _summarized(self, document: Document, wish: Wish, lead: str) -> tuple[str, dict[str, Any]]:
        from mtp_cli.tasks.summarize import Summarizer, TextTooLong
        from mtp_cli.tasks.summary_prompts import asks_for

        run = self._run
        engine, _ = run.engine()
        try:
            asks = asks_for(run.prompts, chat=engine.info.has_chat_template, wish=wish)
        except ValueError as error:
            raise UserError(f"the description of {run.model} is not valid: {error}") from None

        def work(drafting: Drafting, listen: Callable[[JobEvent], None]) -> Work:
            options = run.options
            if document.kind is Kind.notifications and wish.style is Style.notification:
                return self._digest(engine, asks, document, wish, drafting, listen)
            summarizer = Summarizer(
                engine,
                asks,
                wish=wish,
                max_tokens=options.max_tokens,
                sampling=options.sampling,
                drafting=drafting,
                kept=self._parts,
                listen=listen,
            )
            return Work(lambda: summarizer.prompts(document.text), lambda: summarizer.run(document.text))

        asked = work(run.options.drafting, lambda event: self._hear(document, event))
        if run.options.dry_run:
            run.print_prompts(asked.prompts())
            return "", {}
        self._tell_language(engine, document, wish)
        if lead:
            run.listen(Text(lead))
        try:
            found = asked.run()
        except TextTooLong as error:
            raise UserError(
                f"{document.name}: {error}; --on-overflow chunk reads it in parts, or use a larger --ctx",
                ExitStatus.TOO_LONG,
            ) from None
        from mtp_cli.commands.summary_report import record_of, warnings

        what = f"the summary of {document.name}" if lead.strip("\n# ") else "the summary"
        run.warnings += warnings(found, wish, what)
        counts = run.count(lambda: work(run.exact_drafting(), lambda event: None).run().text, found.text)
        return found.text, record_of(document, wish, found) | counts

    def _digest(
        self,
        engine: Engine,
        asks: Asks,
        document: Document,
        wish: Wish,
        drafting: Drafting,
        listen: Callable[[JobEvent], None],
    ) -> Work:
        from mtp_cli.tasks.digest import Digester

        digester = Digester(
            engine,
            asks,
            wish=wish,
            sampling=self._run.options.sampling,
            drafting=drafting,
            kept=self._parts,
            listen=listen,
        )
        return Work(lambda: digester.prompts(document.messages), lambda: digester.run(document.messages))

    def _hear(self, document: Document, event: JobEvent) -> None:
        run = self._run
        if isinstance(event, Plan) and event.parts > 1 and document.kind is not Kind.notifications:
            run.progress.note(f"{event.input_tokens:,} tokens, {event.parts} parts")
        if isinstance(event, PartDone):
            self._part_done(document, event)
        run.listen(event)

    def _part_done(self, document: Document, event: PartDone) -> None:
        record = {
            "type": "part",
            "source": document.name,
            "part": event.number,
            "parts": event.total,
            "tokens": event.tokens,
            "sentences": event.text.splitlines(),
            "key": event.key,
        }
        self._done += 1
        if self._parts is not None and not event.kept:
            self._parts.add(record)
        if self._wanted.form is SummaryFormat.jsonl:
            self._write(record)

    def _line(self, record: dict[str, Any]) -> None:
        """--format jsonl: the record of a summary."""
        run = self._run
        if self._wanted.form is SummaryFormat.jsonl and not run.options.dry_run:
            self._write({"type": "summary", **record, "model": run.model, "timing": run.timing()})

    def _write(self, record: dict[str, Any]) -> None:
        line = json.dumps(record, ensure_ascii=False) + "\n"
        if self._run.options.output is None:
            self._run.out.write(line)
        else:
            self._lines += line

    def _tell_language(self, engine: Engine, document: Document, wish: Wish) -> None:
        """A language that the model does not know gives poor summaries: better said beforehand."""
        from mtp_cli.tasks.text_language import NAMES, language_of

        known = self._run.languages
        code = wish.language or language_of(document.text)
        if code and known and code not in known:
            self._run.progress.note(
                f"{self._run.model} was not made for {NAMES[code]}; its summary will be poor (it knows "
                f"{', '.join(known)})"
            )


def joined(documents: list[Document]) -> Document:
    """Several files as one text."""
    kinds = {document.kind for document in documents}
    return Document(
        ", ".join(document.name for document in documents),
        "\n\n".join(document.text.strip() for document in documents if document.text.strip()),
        kinds.pop() if len(kinds) == 1 else Kind.article,
        tuple(message for document in documents for message in document.messages),
        tuple(f"of {document.name}: {what}" for document in documents for what in document.left_out),
    )


def _empty_record(document: Document, wish: Wish) -> dict[str, Any]:
    from mtp_cli.commands.summary_report import record_of
    from mtp_cli.tasks.summarize import Summary

    nothing = Summary("", 0, 0, 0, FinishReason.END_TOKEN)
    return record_of(document, wish, nothing) | {"finish_reason": "empty_input"}
