"""What `mtp doctor` tells of Android under Termux: what it may read, and what ends or slows long jobs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_ANDROID_12 = 31
_ANDROID_12L = 32
_ANDROID_14 = 34


@dataclass(frozen=True, slots=True)
class Termux:
    """`storage`: shared storage can be read. `android`: the API level, 0 where it cannot be told. `hints`:
    pairs of what is so and what to do."""

    version: str
    android: int
    storage: bool
    hints: tuple[tuple[str, str], ...]


def is_termux(env: Mapping[str, str]) -> bool:
    """True in a Termux shell."""
    return "TERMUX_VERSION" in env or "com.termux" in env.get("PREFIX", "")


def look(env: Mapping[str, str], level: Callable[[], int] | None = None) -> Termux:
    """What holds here. `level` tells the API level of Android; by default the system is asked."""
    android = (level or _android_level)()
    storage = _can_read(Path(env.get("HOME", "~")) / "storage" / "shared")
    hints = []
    if not storage:
        hints.append(("files outside of Termux cannot be read", "run termux-setup-storage once and allow it"))
    hints.append(
        (
            "Android slows programs down or stops them while the screen is off",
            "termux-wake-lock before long jobs, termux-wake-unlock after; no battery limits for Termux",
        )
    )
    if android >= _ANDROID_12:
        hints.append(
            ("Android 12 and newer ends busy programs in the background (signal 9)", _killer_fix(android))
        )
    return Termux(env.get("TERMUX_VERSION", "unknown"), android, storage, tuple(hints))


def _killer_fix(android: int) -> str:
    if android >= _ANDROID_14:
        return 'turn on "Disable child process restrictions" in the developer options'
    if android >= _ANDROID_12L:
        return "from a computer: adb shell settings put global settings_enable_monitor_phantom_procs false"
    return (
        "from a computer: adb shell device_config set_sync_disabled_for_tests persistent; "
        "adb shell device_config put activity_manager max_phantom_processes 2147483647"
    )


def _can_read(folder: Path) -> bool:
    try:
        return next(iter(folder.expanduser().iterdir()), None) is not None or os.access(folder, os.R_OK)
    except OSError:
        return False


def _android_level() -> int:
    try:
        done = subprocess.run(
            ["getprop", "ro.build.version.sdk"], capture_output=True, text=True, timeout=5, check=True
        )
        return int(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0
