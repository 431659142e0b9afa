"""`mtp eval proofread`: GLEU, over-edited clean sentences, protected spans."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtp_cli.commands.common import Run, run_guarded
from mtp_cli.commands.options import (
    Colour,
    ColourOption,
    ContextOption,
    Format,
    FormatOption,
    KernelOption,
    ModelOption,
    OfflineOption,
    Options,
    OutputOption,
    QuietOption,
    ThreadsOption,
)
from mtp_cli.commands.proofread_options import (
    Answers,
    AnswersOption,
    HelpersOption,
    JudgeOption,
    helper_names,
)
from mtp_cli.engine import AUTO, GREEDY
from mtp_cli.exits import ExitStatus

if TYPE_CHECKING:
    from mtp_cli.evaluate.proofreading import Item
    from mtp_cli.tasks.proofread import Rules


def register(app: typer.Typer) -> None:
    """Add `proofread` to `mtp eval`."""
    app.command("proofread")(eval_proofread)


def eval_proofread(
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="FILE",
            help='JSON lines with "source" and "references", or right sentences, one a line.',
        ),
    ],
    limit: Annotated[int, typer.Option("--limit", min=0, metavar="N", help="Only the first N; 0: all.")] = 0,
    judge: JudgeOption = True,
    helpers: HelpersOption = "auto",
    answers: AnswersOption = Answers.auto,
    model: ModelOption = None,
    form: FormatOption = Format.text,
    output: OutputOption = None,
    threads: ThreadsOption = 0,
    ctx: ContextOption = 0,
    kernel: KernelOption = "auto",
    offline: OfflineOption = False,
    quiet: QuietOption = False,
    colour: ColourOption = Colour.auto,
) -> None:
    """Correct each sentence by itself and score the results.

    GLEU is the mean over the references. Sentences with references come in tokens: marks and contractions are
    put back to their words first, and the result is cut into tokens again. Sentences without references are
    taken to be right, and each change of them is counted as an error."""
    options = Options(
        model=model,
        output=output,
        form=form,
        max_tokens=0,
        threads=threads,
        ctx=ctx,
        kernel=kernel,
        offline=offline,
        quiet=quiet,
        verbose=False,
        colour=colour,
        dry_run=False,
        sampling=GREEDY,
        drafting=AUTO,
    )
    run = Run("proofread", options, streaming=False)

    def work() -> ExitStatus:
        from mtp_cli.tasks.proofread import Rules

        rules = Rules(judged=judge, helpers=helper_names(helpers), answers=answers.value)
        return _work(run, data, limit, rules)

    run_guarded(run, work)


def _work(run: Run, data: Path, limit: int, rules: Rules) -> ExitStatus:
    import json

    from mtp_cli.evaluate.proofreading import evaluate, read_items
    from mtp_cli.tasks.proofread import Proofreader

    items = read_items(data, limit)
    engine, template = run.engine()
    proofreader = Proofreader(engine, template, rules=rules, listen=run.listen)
    scores = evaluate(
        items,
        lambda text: proofreader.run(text).text,
        lambda done: run.progress.step(f"sentence {done}/{len(items)}"),
    )
    record = {
        "data": data.name,
        "model": run.model,
        "judge": rules.judged,
        "helpers": list(rules.helpers),
        "answers": rules.answers,
        **scores.record(),
        **_harper_alone(items, rules.helpers),
    }
    if run.options.form is Format.json:
        run.finish_with(json.dumps(record, ensure_ascii=False, indent=2) + "\n")
        return ExitStatus.OK
    rows = [(key, value) for key, value in record.items() if key != "clean_changes"]
    run.finish_with("".join(f"{key.replace('_', ' ') + ':':<28}{_shown(value)}\n" for key, value in rows))
    return ExitStatus.OK


def _harper_alone(items: Sequence[Item], helpers: Sequence[str]) -> dict[str, Any]:
    """What to beat: Harper without a model, where it is one of the helpers and installed."""
    from mtp_cli.evaluate.proofreading import evaluate

    if "harper" not in helpers:
        return {}
    try:
        from mtp_cli.tasks.helpers.harper import Harper
    except ImportError:
        return {}
    scores = evaluate(items, Harper("").alone, lambda done: None).record()
    kept = ("gleu", "clean_changed", "clean_changed_share")
    return {f"harper_alone_{name}": scores[name] for name in kept}


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "unavailable" if value is None else str(value)
