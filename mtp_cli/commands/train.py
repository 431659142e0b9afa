"""`mtp train`: make a draft head for a model on this machine."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtp_cli.commands.options import ModelOption, ThreadsOption
from mtp_cli.exits import ExitStatus, UserError

if TYPE_CHECKING:
    from mtp_cli.catalog import Resolved
    from mtp_cli.train.session import Trained, Wish

TASKS = ("summarize", "proofread")
MOST_LAYERS = 8
"""That a head can read; see native/src/head/head_model.h."""


class Format(str, Enum):
    """Form of the result."""

    text = "text"
    json = "json"


def register(app: typer.Typer) -> None:
    """Add `train` to the main app."""
    app.command("train")(train)


def train(
    model: ModelOption = None,
    text: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE|FOLDER",
            help="Text to train on, of the kind you will use the model for. May be given again. Without: "
            "free texts that are fetched.",
            show_default=False,
        ),
    ] = None,
    task: Annotated[str, typer.Option(metavar="A,B", help="The tasks it is for.")] = ",".join(TASKS),
    minutes: Annotated[
        float, typer.Option(min=0.5, max=10_000, metavar="N", help="Time in all; more is better.")
    ] = 45.0,
    layers: Annotated[
        str, typer.Option(metavar="auto|A,B", help="Layers of the model whose cache the head reads.")
    ] = "auto",
    width: Annotated[
        int,
        typer.Option(min=0, max=16384, metavar="N", help="Width of its FFN; 0: the model's, at most 1536."),
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The head; without: where mtp finds it.",
            show_default=False,
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="What is kept to go on from; without: in the cache.", show_default=False
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png|svg", help="Draw the learning curve.", show_default=False)
    ] = None,
    threads: ThreadsOption = 0,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The same seed, texts and model: the same data.")
    ] = 0,
    output_format: Annotated[Format, typer.Option("--format", help="Form of the result.")] = Format.text,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but errors.")] = False,
) -> None:
    """Train a draft head for a model: it makes the model faster and changes none of its words.

    The model answers texts, and the head learns to foresee its answers. Ctrl-C, then the same command again:
    it goes on where it stopped. Needs the extra: pip install 'mtp-cli[train]'."""
    from mtp_cli import catalog
    from mtp_cli.exits import describe, one_line

    try:
        _check_extra()
        resolved = catalog.resolve(model, offline=offline)
        wish = _wish(resolved, text or [], task, minutes, layers, width, output, work, threads, seed, offline)
        if plot is not None:
            from mtp_cli.view.plot import check

            check(plot)
        trained = _train(wish, threads, quiet)
        if plot is not None:
            from mtp_cli.view.plot import learning_curve

            learning_curve(trained.curve, plot)
        print(_result(trained, output_format))
    except KeyboardInterrupt:
        print("mtp: interrupted; the same command goes on from here", file=sys.stderr)
        raise typer.Exit(int(ExitStatus.INTERRUPTED)) from None
    except Exception as error:
        line, status = describe(error)
        print(f"mtp: {one_line(line)}", file=sys.stderr)
        raise typer.Exit(int(status)) from None


def _check_extra() -> None:
    missing = [name for name in ("torch", "gguf") if importlib.util.find_spec(name) is None]
    if missing:
        raise UserError(f"training needs {' and '.join(missing)}: pip install 'mtp-cli[train]'")


def _wish(
    resolved: Resolved,
    texts: list[Path],
    task: str,
    minutes: float,
    layers: str,
    width: int,
    output: Path | None,
    work: Path | None,
    threads: int,
    seed: int,
    offline: bool,
) -> Wish:
    from mtp_cli.catalog.cache import cache_dir
    from mtp_cli.catalog.heads import trained_head_path
    from mtp_cli.catalog.resolve import is_offline
    from mtp_cli.outputs import check_target
    from mtp_cli.train.session import Wish

    tasks = [part.strip() for part in task.split(",") if part.strip()]
    if not tasks or any(name not in TASKS for name in tasks):
        raise UserError(f"--task wants one or both of {', '.join(TASKS)}")
    if width % 32:
        raise UserError("--width must be a multiple of 32")
    try:
        chosen = [] if layers == "auto" else [int(part) for part in layers.split(",")]
    except ValueError:
        raise UserError("--layers wants auto, or numbers with commas between them") from None
    if len(chosen) > MOST_LAYERS or len(set(chosen)) != len(chosen):
        raise UserError(f"--layers wants at most {MOST_LAYERS} different layers")
    for path in texts:
        if not path.exists():
            raise UserError(f"there is no {path}")
    name = resolved.entry.name if resolved.entry else resolved.path.stem
    target = output or trained_head_path(resolved.path, resolved.entry)
    if output is not None:
        check_target(output)
    what = json.dumps(
        [str(resolved.path.absolute()), [str(p.absolute()) for p in texts], tasks, chosen, width, seed]
    )
    key = hashlib.sha256(what.encode()).hexdigest()[:8]
    folder = work or cache_dir() / "train" / f"{name}-{key}"
    return Wish(
        model=resolved.path.absolute(),
        name=name,
        folder=folder,
        output=target,
        texts=[path.absolute() for path in texts],
        tasks=tasks,  # type: ignore[arg-type]
        minutes=minutes,
        layers=chosen,
        n_ff=width,
        threads=threads,
        seed=seed,
        offline=is_offline(offline),
    )


def _train(wish: Wish, threads: int, quiet: bool) -> Trained:
    from mtp_cli.engine_native import NativeEngine
    from mtp_cli.train.session import Training
    from mtp_cli.view.training import TrainingView

    engine = NativeEngine(wish.model, n_ctx=0, n_threads=threads, kernel="auto", progress=None)
    for layer in wish.layers:
        if not 0 <= layer < engine.info.n_layer:
            raise UserError(f"--layers: the model has layers 0 to {engine.info.n_layer - 1}, not {layer}")
    from mtp_cli.train.backbone import BackboneFile

    file = BackboneFile(wish.model)
    shape = file.shape(wish.layers, 32)
    if shape.n_embd % 32 or shape.head_dim % 32:
        raise UserError("heads need a model whose states and attention heads have widths that 32 divides")
    if wish.n_ff > file.n_ff:
        raise UserError(f"--width: at most the model's own, {file.n_ff}")
    try:
        with TrainingView(quiet=quiet) as view:
            return Training(wish, engine, view.hear).run()
    finally:
        engine.close()


def _result(trained: Trained, form: Format) -> str:
    if form is Format.json:
        record: dict[str, Any] = {
            "head": str(trained.path),
            "tokens_per_pass_at_3": trained.tokens_per_pass,
            "right_by_position": trained.right,
            "answer_tokens": trained.answer_tokens,
            "visits": trained.visits,
            "curve": trained.curve,
        }
        return json.dumps(record, indent=2)
    told = ", ".join(f"{task} {value:.2f}" for task, value in trained.tokens_per_pass.items())
    return f"{trained.path}\ntokens per pass on held-out answers, 3 drafted: {told or 'unavailable'}"
