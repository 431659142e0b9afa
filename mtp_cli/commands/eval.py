"""`mtp eval`: how good the results of a model and its prompts are, on data of your own."""

from __future__ import annotations

import importlib
from importlib.util import find_spec

import typer

_TASKS = ("proofread", "summarize")
"""Each is mtp_cli.commands.eval_NAME with `register(app)`."""


def register(app: typer.Typer) -> None:
    """Add `eval` to the main app."""
    group = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Score a task on data with references."
    )
    group.callback()(_root)
    for name in _TASKS:
        if find_spec(f"mtp_cli.commands.eval_{name}") is not None:
            importlib.import_module(f"mtp_cli.commands.eval_{name}").register(group)
    app.add_typer(group, name="eval")


def _root() -> None:
    """Score a task on data with references."""
