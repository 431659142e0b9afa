"""`mtp models`: list, pull, rm, path, verify."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from mtp_cli import catalog
from mtp_cli.catalog.errors import FetchError


class Format(str, Enum):
    """How results are printed."""

    text = "text"
    json = "json"


_NAME_HELP = "A known model's name, or hf:OWNER/NAME/FILE.gguf."

FormatOption = Annotated[Format, typer.Option("--format", help="How to print the result.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help=_NAME_HELP)]
NamesArgument = Annotated[list[str], typer.Argument(metavar="NAME...", help=_NAME_HELP)]

models_app = typer.Typer(no_args_is_help=True, help="List, fetch, check and remove models.")


def register(app: typer.Typer) -> None:
    """Add `models` to the main app."""
    app.add_typer(models_app, name="models")


def _fail(error: catalog.ModelError, verbose: bool = False) -> NoReturn:
    """One line on stderr (with -v also the tool's own words), exit code 3."""
    detail = error.detail if isinstance(error, FetchError) else ""
    if verbose and detail:
        print(detail.rstrip(), file=sys.stderr)
    print(f"mtp: {error}", file=sys.stderr)
    raise typer.Exit(catalog.EXIT_CODE) from None


def _interrupted(after: str) -> NoReturn:
    print(f"mtp: interrupted{after}", file=sys.stderr)
    raise typer.Exit(130) from None


def _guard(work: Callable[[], None], verbose: bool = False, *, after: str = "") -> None:
    """Run `work`; what a person can cause becomes one line and an exit code. `after` tells what an interrupt
    leaves behind."""
    try:
        work()
    except catalog.ModelError as error:
        _fail(error, verbose)
    except KeyboardInterrupt:
        _interrupted(after)


def _row(entry: catalog.Entry) -> dict[str, Any]:
    path = catalog.model_path(entry)
    state = "not fetched"
    if path.is_file():
        state = "ready" if catalog.is_intact(entry) else "damaged"
    return {
        "name": entry.name,
        "title": entry.title,
        "default": entry.default,
        "kind": entry.kind,
        "architecture": entry.architecture,
        "languages": list(entry.languages),
        "file_bytes": entry.size,
        "licence": entry.licence.name,
        "licence_url": entry.licence.url,
        "state": state,
        "path": str(path) if path.is_file() else None,
        "heads": _heads(path, entry),
    }


def _heads(path: Path, entry: catalog.Entry | None) -> list[dict[str, Any]]:
    """The draft heads of a model, the one that is used first."""
    from mtp_cli.catalog.heads import find_heads, head_record

    return [
        {"path": str(head.path), "origin": head.origin, "record": head_record(head.path)}
        for head in find_heads(path, entry)
    ]


def _head_cell(heads: list[dict[str, Any]]) -> str:
    """One word or two for the table: where the head comes from and how many bytes it has."""
    if not heads:
        return "none"
    record = heads[0]["record"]
    size = catalog.size_text(record["file_bytes"]) if record else "damaged"
    return f"{heads[0]['origin']}, {size}"


def _hub_row(reference: str) -> dict[str, Any]:
    from mtp_cli.catalog import fetch_hf

    path = fetch_hf.parse(reference).path
    row: dict[str, Any] = dict.fromkeys(("kind", "architecture", "licence", "licence_url"))
    return row | {
        "name": reference,
        "title": path.name,
        "default": False,
        "languages": [],
        "file_bytes": path.stat().st_size,
        "state": "ready",
        "path": str(path),
        "heads": _heads(path, None),
    }


@models_app.command("list")
def list_models(output: FormatOption = Format.text) -> None:
    """Show the known models and those on this machine."""

    def work() -> None:
        from mtp_cli.catalog import pull
        from mtp_cli.view import tables

        rows = [_row(entry) for entry in catalog.load_catalog().values()]
        rows += [_hub_row(reference) for reference in pull.hub_files()]
        if output is Format.json:
            print(json.dumps({"cache": str(catalog.cache_dir()), "models": rows}, indent=2))
            return
        lines = [
            [
                row["name"] + (" (default)" if row["default"] else ""),
                row["kind"] or "unknown",
                catalog.size_text(row["file_bytes"]),
                row["licence"] or "unknown",
                " ".join(row["languages"]) or "unknown",
                row["state"],
                _head_cell(row["heads"]),
            ]
            for row in rows
        ]
        header = ["name", "kind", "size", "licence", "languages", "state", "draft head"]
        tables.write_table(sys.stdout, header, lines, right=[2])

    _guard(work)


@models_app.command("pull")
def pull_models(
    names: NamesArgument,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing; fail if it is missing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Fetch again even if it is there.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="On failure, show pip's output.")] = False,
) -> None:
    """Fetch models into the cache folder and print their paths."""

    def work() -> None:
        from mtp_cli.catalog import fetch_hf, pull
        from mtp_cli.view.pull import PullView

        targets = [fetch_hf.parse(n) if n.lower().startswith("hf:") else catalog.find_entry(n) for n in names]
        for target in targets:
            with PullView(quiet=quiet) as view:
                if isinstance(target, fetch_hf.HubFile):
                    path = pull.pull_hub(target, offline=offline, force=force, report=view)
                else:
                    path = pull.pull_entry(target, offline=offline, force=force, report=view)
            print(path)

    _guard(work, verbose, after="; nothing half-fetched was kept")


@models_app.command("rm")
def remove_models(names: NamesArgument) -> None:
    """Remove fetched models from the cache folder."""

    def work() -> None:
        from mtp_cli.catalog import pull

        for name in names:
            path, freed = pull.remove(name)
            print(f"removed {path} ({catalog.size_text(freed)})")

    _guard(work)


@models_app.command("path")
def print_path(name: NameArgument) -> None:
    """Print where a fetched model lies. Fetches nothing."""
    _guard(lambda: print(catalog.resolve(name, offline=True).path))


@models_app.command("verify")
def verify_models(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help=_NAME_HELP + " Without: all fetched ones.")
    ] = None,
) -> None:
    """Compute the checksums of fetched models again."""

    def work() -> None:
        from mtp_cli.catalog import pull

        chosen = names or [
            *(e.name for e in catalog.load_catalog().values() if catalog.model_path(e).is_file()),
            *pull.hub_files(),
        ]
        if not chosen:
            print("no model has been fetched", file=sys.stderr)
        damaged = [name for name in chosen if not _verify(name)]
        if damaged:
            fix = " ".join(damaged)
            raise catalog.ModelError(f"damaged: {', '.join(damaged)}; run `mtp models pull --force {fix}`")

    _guard(work)


def _verify(name: str) -> bool:
    """Check one model by name and print the outcome. Raises ModelError when it is not on this machine."""
    from mtp_cli.catalog import pull
    from mtp_cli.view.pull import PullView

    with PullView() as view:
        good = pull.verify(name, report=view)
    print(f"{name}: {'ok' if good else 'damaged'}", flush=True)
    return good
