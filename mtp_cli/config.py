"""Settings from files: the person's own, then those of the project.

    model = "gemma3-270m"          # for all commands: the keys of COMMON
    [summarize]                    # for one command: its options, by their long names
    length = "short"

The project's stand in its pyproject.toml, under [tool.mtp]. The command line and MTP_* variables go before
both."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from mtp_cli.exits import UserError

COMMON = ("model", "threads", "ctx", "kernel", "draft", "draft-max", "color", "quiet", "verbose", "offline")
"""What can be set for all commands at once; a command that has no such option goes without."""
_NEVER = ("help", "output", "write", "backup", "resume", "dry-run")
"""Where a run writes, and what is for one run only, is said on the command line."""
_TABLE = b"tool.mtp"


@dataclass(frozen=True, slots=True)
class Setting:
    """One value and the file it is from."""

    value: Any
    file: Path


@dataclass(frozen=True, slots=True)
class Settings:
    """`common` by option, `commands` by command and option; options have their long names without dashes."""

    common: dict[str, Setting] = field(default_factory=dict)
    commands: dict[str, dict[str, Setting]] = field(default_factory=dict)

    def of(self, command: str, options: Mapping[str, str]) -> dict[str, Setting]:
        """By the names of parameters. `options`: option -> parameter of `command`. Raises UserError for an
        option that it has not."""
        own = self.commands.get(command, {})
        for option, setting in own.items():
            if option not in options or option in _NEVER:
                why = "cannot be set in a file" if option in _NEVER else f"is no option of mtp {command}"
                raise UserError(f"{setting.file}: {option} {why}")
        found = {**self.common, **own}
        return {options[option]: setting for option, setting in found.items() if option in options}


def read_settings(commands: Sequence[str]) -> Settings:
    """What the files say. Raises UserError for a file that is not valid."""
    settings = Settings()
    for path, table in _tables():
        for key, value in table.items():
            if isinstance(value, dict):
                if key not in commands:
                    raise UserError(f"{path}: there is no command {key}; there are {', '.join(commands)}")
                rows = settings.commands.setdefault(key, {})
                rows.update({option: Setting(given, path) for option, given in value.items()})
            elif key in COMMON:
                settings.common[key] = Setting(value, path)
            else:
                known = ", ".join(COMMON)
                raise UserError(f"{path}: {key} is none of {known}; options of a command need its table")
    return settings


def places() -> list[tuple[Path, bool]]:
    """(file, whether it is read): the person's, then the project's."""
    own = Path(os.environ.get("MTP_CONFIG") or Path(typer.get_app_dir("mtp")) / "config.toml")
    found = [(own, own.is_file())] if os.environ.get("MTP_CONFIG") != "" else []
    project = _project_file()
    return [*found, (project, True)] if project is not None else found


def _project_file() -> Path | None:
    """The nearest pyproject.toml upwards from here that has a [tool.mtp]."""
    try:
        here = Path.cwd()
    except OSError:
        return None
    for folder in (here, *here.parents):
        path = folder / "pyproject.toml"
        try:
            if path.is_file() and _TABLE in path.read_bytes():
                return path
        except OSError:
            continue
    return None


def _tables() -> list[tuple[Path, dict[str, Any]]]:
    found: list[tuple[Path, dict[str, Any]]] = []
    for path, there in places():
        if not there:
            continue
        table = _parse(path)
        if path.name == "pyproject.toml" and isinstance(table.get("tool"), dict):
            table = table["tool"].get("mtp", {})
        found.append((path, table if isinstance(table, dict) else {}))
    if os.environ.get("MTP_CONFIG") and not (found and found[0][0] == Path(os.environ["MTP_CONFIG"])):
        raise UserError(f"MTP_CONFIG: there is no file {os.environ['MTP_CONFIG']}")
    return found


def _parse(path: Path) -> dict[str, Any]:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is not valid: {' '.join(str(error).split())}") from None
    return found
