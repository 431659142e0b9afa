"""The `mtp` program: one module per command, loaded when that command is asked for."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtp_cli import __version__

if TYPE_CHECKING:
    from mtp_cli.config import Setting

COMMANDS = ("summarize", "proofread", "bench", "eval", "models", "config", "train", "doctor")
"""In the order of the help text; each is mtp_cli.commands.NAME with `register(app)`."""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"mtp {__version__}")
        raise typer.Exit()


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Summarize and proofread text with a small language model on this machine's CPU, offline.

    Settings come from the command line, MTP_* variables, [tool.mtp] in pyproject.toml and a config file, in
    this order; mtp config shows them. NO_COLOR is heeded too.

    Exit codes: 0 fine, 1 a check found something, 2 usage or error, 3 model missing or damaged, 4 text too
    long, 130 interrupted."""


def build(arguments: Sequence[str]) -> typer.Typer:
    """The app with the command that `arguments` name, or with all when they name none."""
    app = typer.Typer(
        name="mtp",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    named = next((word for word in arguments if not word.startswith("-")), "")
    completing = any(name.startswith("_") and name.endswith("_COMPLETE") for name in os.environ)
    for name in COMMANDS if named not in COMMANDS or completing else (named,):
        importlib.import_module(f"mtp_cli.commands.{name}").register(app)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns the exit code. Nothing but SystemExit gets out."""
    from mtp_cli.exits import ExitStatus, describe, one_line

    found: dict[str, dict[str, Setting]] = {}
    try:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on it is a KeyboardInterrupt
        program = typer.main.get_command(build(arguments))
        found = _settings(program) if any(not word.startswith("-") for word in arguments) else {}
        code = program(
            args=list(arguments),
            prog_name="mtp",
            standalone_mode=False,
            default_map={
                command: {name: setting.value for name, setting in table.items()}
                for command, table in found.items()
            },
        )
    except SystemExit:
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":  # Typer's way to end: the reader has gone
            return ExitStatus.OK
        raise
    except typer.Abort:
        print("mtp: interrupted", file=sys.stderr)
        return ExitStatus.INTERRUPTED
    except BaseException as error:
        if hasattr(error, "format_message"):  # Typer's own errors; their class is not public everywhere
            return _usage(error, found)
        if os.environ.get("MTP_DEBUG"):
            raise
        line, status = describe(error)
        print(f"mtp: {one_line(line)}", file=sys.stderr)
        return status
    return code if isinstance(code, int) else ExitStatus.OK


def _settings(program: Any) -> dict[str, dict[str, Setting]]:
    """What the files set for the commands that are loaded, by command and parameter. Raises UserError."""
    from mtp_cli.config import read_settings

    settings = read_settings(COMMANDS)
    found = {}
    for name, command in program.commands.items():
        options = {opt[2:]: param.name for param in command.params for opt in param.opts if opt[:2] == "--"}
        found[name] = settings.of(name, options)
    return found


def _plain(message: str) -> str:
    """Without names of types."""
    for name, word in (
        ("int range", "whole number"),
        ("integer range", "whole number"),
        ("float range", "number"),
    ):
        message = message.replace(f"is not a valid {name}", f"is not a {word}")
    return message


def _usage(error: Any, found: dict[str, dict[str, Setting]]) -> int:
    """A wrong command line: one line, and where the help is. No command at all: the help itself."""
    from mtp_cli.exits import ExitStatus, one_line

    message = _plain(error.format_message())
    context = getattr(error, "ctx", None)
    if not message or message.startswith("Usage:"):
        print(message or (context.get_help() if context else ""), file=sys.stderr)
        return ExitStatus.ERROR
    command = context.command_path if context is not None else "mtp"
    setting = found.get(command.rpartition(" ")[2], {}).get(
        getattr(getattr(error, "param", None), "name", "")
    )
    origin = f" (from {setting.file}, unless given)" if setting is not None else ""
    print(f"mtp: {one_line(message).rstrip('.')}{origin}; see `{command} --help`", file=sys.stderr)
    return ExitStatus.ERROR
