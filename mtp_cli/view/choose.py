"""Edits shown one by one, for a person to take or leave."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from mtp_cli.tasks.edits import Edit
from mtp_cli.view.diff import marked

_KEYS = "y: take it, n: leave it, a: take this and all safe ones, q: stop here"


def choose(
    name: str, text: str, edits: Sequence[Edit], read_line: Callable[[], str], *, colour: bool = False
) -> tuple[list[Edit], bool]:
    """(the edits taken, whether the person wants to go on). Asks on stderr. Edits that cannot be applied are
    not asked about; the end of the input means q."""
    taken: list[Edit] = []
    todo = [edit for edit in edits if edit.possible]
    for number, edit in enumerate(todo, 1):
        answer = _ask(name, text, edit, f"{number}/{len(todo)}", read_line, colour)
        if answer == "q":
            return taken, False
        if answer in ("y", "a"):
            taken.append(edit)
        if answer == "a":
            taken += [other for other in todo[number:] if other.safe]
            return taken, True
    return taken, True


def _ask(name: str, text: str, edit: Edit, count: str, read_line: Callable[[], str], colour: bool) -> str:
    line = text.count("\n", 0, edit.start) + 1
    start = text.rfind("\n", 0, edit.start) + 1
    end = text.find("\n", edit.end)
    shown = marked(text, start, end if end >= 0 else len(text), [edit], colour=colour).strip("\r\n")
    kind = edit.label if edit.safe else f"{edit.label}, unsafe: {edit.reason}"
    sys.stderr.write(f"{name}:{line}: {kind}\n  {shown}\n")
    while True:
        sys.stderr.write(f"[{count}] y/n/a/q? ")
        sys.stderr.flush()
        said = read_line()
        answer = said.strip().lower()[:1]
        if not said:
            sys.stderr.write("\n")
            return "q"
        if answer and answer in "ynaq":
            return answer
        sys.stderr.write(f"{_KEYS}\n")
