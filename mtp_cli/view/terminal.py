"""What the terminal can do, and how wide text is on it."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from typing import TextIO

COLOURS = ("auto", "always", "never")


def is_terminal(stream: TextIO | None) -> bool:
    """False for pipes, files and closed streams."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def can_redraw(stream: TextIO | None) -> bool:
    """True for a terminal that understands cursor movement."""
    return is_terminal(stream) and os.environ.get("TERM", "") not in ("dumb", "unknown")


def use_colour(choice: str, stream: TextIO | None) -> bool:
    """--color, else NO_COLOR, else whether `stream` is a terminal that can."""
    if choice == "auto":
        return not os.environ.get("NO_COLOR") and can_redraw(stream)
    return choice == "always"


def columns(stream: TextIO | None = None) -> int:
    """Width of the terminal behind `stream` (stderr); COLUMNS goes before."""
    if not os.environ.get("COLUMNS"):
        try:
            return os.get_terminal_size((stream or sys.stderr).fileno()).columns or 80
        except (OSError, ValueError, AttributeError):
            pass
    return shutil.get_terminal_size().columns


def char_width(char: str) -> int | None:
    """Columns a character takes, or None where terminals differ (emoji sequences, control characters)."""
    if " " <= char <= "~":
        return 1
    code = ord(char)
    if code < 32 or code == 127 or code in (0x200D, 0xFE0F) or code >= 0x1F000:
        return None
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return None
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fit(text: str, width: int) -> str:
    """`text` cut to `width` columns; it must hold narrow characters only."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"[: max(width, 0)]
