"""`mtp eval summarize`: ROUGE and countable faults of summaries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtp_cli.commands.common import Result, Run, run_guarded
from mtp_cli.commands.options import (
    Colour,
    ColourOption,
    ContextOption,
    Format,
    FormatOption,
    MaxTokensOption,
    ModelOption,
    OfflineOption,
    Options,
    OutputOption,
    QuietOption,
    ThreadsOption,
)
from mtp_cli.commands.summary_options import (
    InputOption,
    LangOption,
    LengthOption,
    StyleOption,
    SummaryOptions,
)
from mtp_cli.engine import AUTO, GREEDY
from mtp_cli.exits import ExitStatus, UserError
from mtp_cli.meters.time import clock
from mtp_cli.tasks.summary_wish import MEDIUM, Overflow

if TYPE_CHECKING:
    from mtp_cli.evaluate.summaries import Item
    from mtp_cli.tasks.summary_wish import Wish

DataOption = Annotated[
    Path,
    typer.Option(
        "--data",
        metavar="FILE",
        help='JSON lines with a text ("text", "article", "dialogue", ...) and, for ROUGE, its "summary".',
        show_default=False,
    ),
]
LimitOption = Annotated[int, typer.Option("--limit", min=0, metavar="N", help="The first N texts; 0: all.")]


def register(app: typer.Typer) -> None:
    """Add `summarize` to the evals."""
    app.command("summarize")(eval_summarize)


def eval_summarize(
    data: DataOption,
    limit: LimitOption = 0,
    style: StyleOption = None,
    length: LengthOption = MEDIUM,
    kind: InputOption = None,
    lang: LangOption = "auto",
    form: FormatOption = Format.text,
    output: OutputOption = None,
    model: ModelOption = None,
    max_tokens: MaxTokensOption = 0,
    threads: ThreadsOption = 0,
    ctx: ContextOption = 0,
    offline: OfflineOption = False,
    quiet: QuietOption = False,
    colour: ColourOption = Colour.auto,
) -> None:
    """Summarize texts that have reference summaries and compare.

    ROUGE F-measures (extra eval) beside those of the first three lines or sentences of each text and of the
    three that sumy's LexRank finds the weightiest, how many asked lengths are kept, unfinished sentences,
    preambles, loops, and names and numbers that are not in the text."""
    options = Options(
        model=model,
        output=output,
        form=form,
        max_tokens=max_tokens,
        threads=threads,
        ctx=ctx,
        kernel="auto",
        offline=offline,
        quiet=quiet,
        verbose=False,
        colour=colour,
        dry_run=False,
        sampling=GREEDY,
        drafting=AUTO,
    )
    wanted = SummaryOptions(style, length, kind, lang, None, True, False, Overflow.chunk, None)
    run = Run("summarize", options)
    run.streaming = False
    run_guarded(run, lambda: _work(run, data, limit, wanted))


def _work(run: Run, data: Path, limit: int, wanted: SummaryOptions) -> ExitStatus:
    from mtp_cli.evaluate.summaries import read_items, report

    items = read_items(data, limit, wanted.kind)
    began = clock()
    records = [_record(run, item, wanted, number, len(items)) for number, item in enumerate(items, 1)]
    found = report(items, records, wanted.wish(items[0].kind), clock() - began)
    table = _table(found)
    if run.options.form is Format.text and run.options.output is None:
        run.out.write(table)
    run.finish([Result(table, found)])
    return ExitStatus.OK


def _record(run: Run, item: Item, wanted: SummaryOptions, number: int, total: int) -> dict[str, Any]:
    from mtp_cli.commands.summary_report import record_of
    from mtp_cli.readers import Document
    from mtp_cli.tasks.job import Part
    from mtp_cli.tasks.summarize import Summarizer
    from mtp_cli.tasks.summary_prompts import asks_for

    engine, _ = run.engine()
    wish: Wish = wanted.wish(item.kind)
    try:
        asks = asks_for(run.prompts, chat=engine.info.has_chat_template, wish=wish)
    except ValueError as error:
        raise UserError(f"the description of {run.model} is not valid: {error}") from None
    run.progress.hear(Part(number, total, "text", (number - 1) / total))
    summarizer = Summarizer(engine, asks, wish=wish, max_tokens=run.options.max_tokens, listen=run.meter_only)
    document = Document(f"text {number}", item.text, item.kind)
    return record_of(document, wish, summarizer.run(item.text)) | {"references": list(item.references)}


def _table(found: dict[str, Any]) -> str:
    """For a person."""
    lines = [f"{'':<10}{'ROUGE-1':>9}{'ROUGE-2':>9}{'ROUGE-L':>9}"]
    for name, scores in found["rouge"].items():
        cells = "".join(f"{value:>9.3f}" for value in scores.values()) if scores else f"{'unavailable':>27}"
        lines.append(f"{name:<10}{cells}")
    if not found["rouge_available"]:
        lines.append("ROUGE needs rouge-score: pip install 'mtp-cli[eval]'")
    texts = found["texts"]
    lines += [
        "",
        f"texts                       {texts}",
        f"mean words                  {found['mean_words']}",
    ]
    for key, label in (
        ("length_kept", "asked length kept"),
        ("unfinished", "unfinished sentence"),
        ("preambles", "preamble"),
        ("loops", "loop"),
        ("own_sentences_of_the_text", "text's own sentence used"),
        ("with_unsupported_names", "name not in the text"),
        ("with_unsupported_numbers", "number not in the text"),
    ):
        value = found[key]
        lines.append(f"{label:<28}" + ("not asked" if value is None else f"{value} of {texts}"))
    lines.append(f"{'seconds':<28}{found['seconds']}")
    return "\n".join(lines) + "\n"
