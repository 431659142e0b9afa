"""Give an engine its draft head: the one asked for, or the first that there is."""

from __future__ import annotations

from pathlib import Path

from mtp_cli.catalog.entry import Entry
from mtp_cli.engine import Engine, HeadFileError

HEAD_MODES = ("auto", "head", "copy+head")
"""Draft modes that use a head."""
_NEED_HEAD = ("head", "copy+head")


def attach_head(
    engine: Engine, model: Path, entry: Entry | None, *, mode: str, head: Path | None
) -> str | None:
    """Open the head that `mode` wants; returns a warning for the person, or None.

    Without a usable head, mode "auto" goes on without; a mode that needs one, or a head asked for by name,
    raises HeadFileError."""
    if mode not in HEAD_MODES:
        return None
    if head is not None:
        engine.open_head(head)
        return None
    from mtp_cli.catalog.heads import find_heads

    problem: HeadFileError | None = None
    for candidate in find_heads(model, entry):
        try:
            engine.open_head(candidate.path)
        except HeadFileError as error:
            problem = problem or error
            continue
        return f"draft head not used: {problem}" if problem else None
    if problem and mode in _NEED_HEAD:
        raise problem
    if problem:
        return f"draft head not used: {problem}"
    if mode in _NEED_HEAD:
        raise HeadFileError(
            f"there is no draft head for {entry.name if entry else model.name}; `mtp train` makes one, or "
            "use --draft auto"
        )
    return None
