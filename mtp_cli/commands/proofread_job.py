"""What `mtp proofread` does with its files: read, correct, ask, then show or write."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtp_cli.commands.proofread_options import Kind, ProofFormat, Wish
from mtp_cli.exits import ExitStatus, UserError
from mtp_cli.tasks.documents.kinds import kind_of, reader_of
from mtp_cli.tasks.findings import Lines, count_of, described, findings, records, sarif
from mtp_cli.tasks.proofread import Correction, Proofreader, Rules, has_prose

if TYPE_CHECKING:
    from mtp_cli.commands.common import Run
    from mtp_cli.engine import Drafting
    from mtp_cli.inputs import Source
    from mtp_cli.tasks.documents.document import Document, Reader
    from mtp_cli.tasks.documents.docx import WordFile
    from mtp_cli.tasks.job import JobEvent


def load_word(path: str) -> WordFile:
    """A Word document. Raises UserError."""
    from mtp_cli.tasks.documents.docx import load

    try:
        return load(Path(path).read_bytes())
    except ImportError:
        raise UserError(
            f"{path}: reading Word documents needs an extra; pip install 'mtp-cli[docx]'"
        ) from None
    except ValueError:
        raise UserError(f"{path} is no Word document that can be read") from None


@dataclass(frozen=True, slots=True)
class Done:
    """A file and what became of it. `counts`: what its JSON record tells about decoding."""

    source: Source
    found: Correction
    counts: dict[str, Any]

    @property
    def mark(self) -> str:
        """See Source."""
        return self.source.mark


class Job:
    """One run over all files."""

    def __init__(self, run: Run, wish: Wish, rules: Rules) -> None:
        self._run = run
        self._wish = wish
        self._rules = rules
        self._goes_on = True
        self._kept: Proofreader | None = None
        self._words: dict[str, WordFile] = {}

    def work(self, files: list[str]) -> ExitStatus:
        """Everything, up to the exit code. Raises UserError, EngineError, KeyboardInterrupt."""
        from mtp_cli.globs import expanded

        run, wish = self._run, self._wish
        wish.verify(output=run.options.output is not None, files=files)
        if wish.interactive and not sys.stdin.isatty():
            raise UserError("-i asks a person, and standard input is no terminal; --diff shows the edits")
        files = expanded(files)
        if wish.write:
            from mtp_cli.outputs import check_writable

            for file in files:
                check_writable(Path(file))
        sources = self._sources(files)
        readers = [self._reader(source) for source in sources]
        if run.options.dry_run:
            self._dry_run(sources, readers)
            return ExitStatus.OK
        done: list[Done] = []
        for source, read in zip(sources, readers, strict=True):
            done.append(self._one(source, read))
            if not self._goes_on:
                break
        self._finish(done)
        found = any(one.found.applied for one in done)
        return ExitStatus.FOUND if wish.check and found else ExitStatus.OK

    def _sources(self, files: list[str]) -> list[Source]:
        """All texts in the order of the files; those of Word documents are taken out of them."""
        from mtp_cli.inputs import Source

        words = [path for path in files if path.lower().endswith(".docx")]
        others = [path for path in files if path not in words]
        read = self._run.sources(others) if others or not words else []
        for path in words:
            self._words[path] = load_word(path)
        found = {path: Source(path, self._words[path].document.text) for path in words}
        rest = iter(read)
        return [found[path] if path in found else next(rest) for path in files] if files else read

    def _reader(self, source: Source) -> Reader | None:
        """None for a Word document, which is read already and cannot be read anew from its text."""
        if source.name in self._words:
            return None
        kind = kind_of(source.name) if self._wish.kind is Kind.auto else self._wish.kind.value
        if self._wish.comments:
            kind = "comments"
        elif kind == "comments":
            raise UserError(
                f"{source.name} is source code; --comments proofreads its comments, --type text all of it"
            )
        return reader_of(kind, source.name)

    def _dry_run(self, sources: list[Source], readers: list[Reader | None]) -> None:
        engine, template = self._run.engine()
        proofreader = Proofreader(engine, template)
        for source, read in zip(sources, readers, strict=True):
            self._run.print_prompts(proofreader.prompts(self._document(source, read)))

    def _document(self, source: Source, read: Reader | None) -> Document:
        return read(source.text) if read else self._words[source.name].document

    def _one(self, source: Source, read: Reader | None) -> Done:
        self._run.meter.text_begins()
        document = self._document(source, read)
        if document.remark:
            self._run.progress.note(f"{source.name}: {document.remark}")
        done = self._corrected(source, document, read)
        if self._run.options.verbose and not self._run.options.quiet:
            self._print_refused(done)
        if self._wish.interactive:
            done = self._asked(done)
        if self._wish.write:
            self._write(done)
        if self._wish.form is ProofFormat.jsonl and self._run.options.output is None:
            self._run.progress.clear()
            self._run.out.write(self._line(done))
        return done

    def _corrected(self, source: Source, document: Document, read: Reader | None) -> Done:
        run = self._run
        if not has_prose(document):
            done = Done(source, Correction(source.text, ()), run.meter.text_counts.record())
            if run.streaming:
                run.out.write(done.mark + source.text)
            return done
        if run.streaming:
            run.out.write(source.mark)
        found = self._proofreader().run(document, read)
        counts = run.count(lambda: self._exact().run(document, read).text, found.text)
        return Done(source, found, counts)

    def _proofreader(self) -> Proofreader:
        """One for all files: what their prompts begin with is computed once."""
        if self._kept is None or self._run.options.compares:  # the other one has used the cache meanwhile
            self._kept = self._made(self._run.options.drafting, self._run.listen)
        return self._kept

    def _exact(self) -> Proofreader:
        """The same without lenient drafts, unheard."""
        return self._made(self._run.exact_drafting(), lambda event: None)

    def _made(self, drafting: Drafting, listen: Callable[[JobEvent], None]) -> Proofreader:
        engine, template = self._run.engine()
        options = self._run.options
        made = Proofreader(
            engine,
            template,
            max_tokens=options.max_tokens,
            sampling=options.sampling,
            drafting=drafting,
            rules=self._rules,
            listen=listen,
        )
        made.warnings = self._run.warnings
        return made

    def _asked(self, done: Done) -> Done:
        from mtp_cli.view.choose import choose
        from mtp_cli.view.terminal import use_colour

        self._run.progress.clear()
        taken, self._goes_on = choose(
            done.source.name,
            done.source.text,
            done.found.edits,
            lambda: sys.stdin.buffer.readline().decode("utf-8", "replace"),
            colour=use_colour(self._run.options.colour.value, sys.stderr),
        )
        return replace(done, found=replace(done.found, chosen=frozenset(taken)))

    def _write(self, done: Done) -> None:
        from mtp_cli.outputs import write_bytes

        name, found = done.source.name, done.found
        if found.applied and name in self._words:
            word = self._words[name]
            write_bytes(name, word.data, word.saved(found.applied), backup=self._wish.backup)
        elif found.applied:
            form = done.source.form
            write_bytes(name, form.encode(found.source), form.encode(found.text), backup=self._wish.backup)
        left = f", {count_of(found.refused, 'unsafe edit')} left out" if found.refused else ""
        if found.applied or found.refused:
            self._run.progress.note(f"{name}: {count_of(found.applied)}{left}")

    def _finish(self, done: list[Done]) -> None:
        run, wish = self._run, self._wish
        if wish.flows:
            from mtp_cli.commands.common import Result

            run.finish([Result(one.mark + one.found.text, {}) for one in done])
            return
        run.finish_with(self._shown(done))
        if wish.check and wish.form is ProofFormat.text:
            files = sum(bool(one.found.applied) for one in done)
            if files:
                total = count_of([edit for one in done for edit in one.found.applied])
                run.progress.note(f"{total} in {files} of {len(done)} files; -w makes them")

    def _shown(self, done: list[Done]) -> str:
        """The result as text."""
        wish = self._wish
        if wish.form is ProofFormat.json:
            rows = [self._record(one) for one in done]
            return json.dumps(rows[0] if len(rows) == 1 else rows, ensure_ascii=False, indent=2) + "\n"
        if wish.form is ProofFormat.jsonl:
            return "".join(map(self._line, done)) if self._run.options.output is not None else ""
        if wish.form is ProofFormat.sarif:
            report = sarif((one.source.name, one.found) for one in done)
            return json.dumps(report, ensure_ascii=False, indent=2) + "\n"
        if wish.diff or wish.word_diff:
            return "".join(map(self._diff, done))
        if wish.check:
            return "".join(findings(one.source.name, one.found) for one in done)
        return "" if wish.write else "".join(one.mark + one.found.text for one in done)

    def _diff(self, done: Done) -> str:
        from mtp_cli.view.diff import by_word, unified
        from mtp_cli.view.terminal import use_colour

        target = None if self._run.options.output is not None else sys.stdout
        colour = use_colour(self._run.options.colour.value, target)
        found = done.found
        if self._wish.word_diff:
            return by_word(done.source.name, found.source, found.applied, colour=colour)
        return unified(done.source.name, found.source, found.text, colour=colour)

    def _record(self, done: Done) -> dict[str, Any]:
        run = self._run
        return {
            "source": done.source.name,
            **records(done.found),
            **done.counts,
            "model": run.model,
            "timing": run.timing(),
        }

    def _line(self, done: Done) -> str:
        return json.dumps(self._record(done), ensure_ascii=False) + "\n"

    def _print_refused(self, done: Done) -> None:
        if not done.found.refused:
            return
        self._run.progress.clear()
        self._run.out.end()
        lines = Lines(done.found.source)
        for edit in done.found.refused:
            line, _ = lines.position(edit.start)
            print(f"mtp: line {line}: not applied: {described(edit)} ({edit.reason})", file=sys.stderr)
