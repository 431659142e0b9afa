"""`mtp config`: which settings hold, and where they come from."""

from __future__ import annotations

import os

import typer

VARIABLES = {
    "MTP_MODEL": "--model",
    "MTP_THREADS": "--threads",
    "MTP_CTX": "--ctx",
    "MTP_DRAFT": "--draft",
    "MTP_COLOR": "--color",
    "MTP_STYLE": "summarize --style",
    "MTP_LENGTH": "summarize --length",
    "MTP_LANG": "summarize --lang",
    "MTP_FORMAT": "summarize --format",
    "MTP_ON_OVERFLOW": "summarize --on-overflow",
    "MTP_OFFLINE": "--offline",
    "MTP_CACHE_DIR": "where models are kept",
    "MTP_CONFIG": "the settings file; empty: none",
    "MTP_DEBUG": "tracebacks of faults",
}
"""Variables that are read, and what each one sets."""


def register(app: typer.Typer) -> None:
    """Add `config` to the main app."""
    app.command("config")(config)


def config() -> None:
    """Show settings: the files they are read from, their values, and the MTP_* variables.

    A setting on the command line goes before a variable, a variable before a project's pyproject.toml
    ([tool.mtp]), and that before the person's own file."""
    from mtp_cli.app import COMMANDS
    from mtp_cli.config import places, read_settings

    settings = read_settings(COMMANDS)
    print("Files")
    for path, there in places():
        print(f"  {path}" + ("" if there else " (not there)"))
    print("\nSettings")
    rows = [(option, "", setting) for option, setting in settings.common.items()]
    rows += [
        (option, f"{command} ", setting)
        for command, table in settings.commands.items()
        for option, setting in table.items()
    ]
    for option, command, setting in rows:
        print(f"  {command}--{option} {setting.value}  ({setting.file})")
    if not rows:
        print("  none")
    print("\nVariables")
    for name, what in VARIABLES.items():
        value = os.environ.get(name)
        print(f"  {name:<16} {what}" + ("" if value is None else f" = {value}"))
