"""Performance cores of a Mac."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

Ask = Callable[[str], str]


def performance_cores(system: str = sys.platform, ask: Ask | None = None) -> int:
    """0 on other systems, and where sysctl does not tell."""
    if system != "darwin":
        return 0
    for name in ("hw.perflevel0.physicalcpu", "hw.physicalcpu"):  # the second one: Intel
        text = (ask or _sysctl)(name).strip()
        if text.isdecimal() and int(text) > 0:
            return int(text)
    return 0


def _sysctl(name: str) -> str:
    try:
        done = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
