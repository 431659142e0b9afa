"""`mtp eval`: how good the results of a model and its prompts are, on texts with references."""

from __future__ import annotations

import importlib

import typer

EVALS = ("summarize", "proofread")
"""In the order of the help text; each is mtp_cli.commands.eval_NAME with `register(app)`."""


def register(app: typer.Typer) -> None:
    """Add `eval` to the main app."""
    evals = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False)
    evals.callback()(_evals)
    for name in EVALS:
        importlib.import_module(f"mtp_cli.commands.eval_{name}").register(evals)
    app.add_typer(evals, name="eval")


def _evals() -> None:
    """Measure results on texts with references, to compare models and prompts."""
