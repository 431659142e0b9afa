"""Energy used, in joules."""

from __future__ import annotations

from mtp_cli.meters import UNAVAILABLE, Reading


def used() -> Reading:
    """Joules since the process began. No source is read yet."""
    return UNAVAILABLE
