"""Patterns among the paths of a command line, for shells that leave them alone."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from mtp_cli.exits import UserError


def expanded(paths: Sequence[str]) -> list[str]:
    """The paths with each pattern (`*.md`, `docs/**/*.rst`) replaced by the files it finds, in order. A file
    whose name looks like a pattern is that file. Raises UserError for a pattern that finds nothing."""
    found: list[str] = []
    for path in paths:
        if not glob.has_magic(path) or Path(path).exists():
            found.append(path)
            continue
        files = [name for name in sorted(glob.glob(path, recursive=True)) if Path(name).is_file()]  # noqa: PTH207
        if not files:
            raise UserError(f"{path}: no file is found by this pattern")
        found += files
    return found
