"""Small tables as text: aligned columns, for a terminal of any width and for pipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO


def write_table(
    stream: TextIO, header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> None:
    """Write rows under a header. Columns in `right` are aligned right.

    On a terminal Rich draws it and folds long cells; in a pipe it is plain text, one row a line."""
    if stream.isatty():
        _write_rich(stream, header, rows, right)
        return
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        stream.write("  ".join(cells).rstrip() + "\n")


def _write_rich(
    stream: TextIO, header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column, title in enumerate(header):
        table.add_column(title, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    Console(file=stream).print(table)


def write_fields(stream: TextIO, fields: Sequence[tuple[str, str]]) -> None:
    """Write `name  value` lines, names padded to one width."""
    width = max((len(name) for name, _ in fields), default=0)
    for name, value in fields:
        stream.write(f"{name.ljust(width)}  {value}".rstrip() + "\n")
