"""RAPL by perf events, for where the powercap files are root's and perf_event_paranoid is 0 or less."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import time
from collections.abc import Callable
from pathlib import Path

from mtp_cli.meters.sources import Refusal, SourceLost, number_of, text_of
from mtp_cli.meters.sources.counting import Clock, Counter

NAME = "RAPL (perf)"
FOLDER = Path("sys/bus/event_source/devices/power")
_SYSCALL = {"x86_64": 298}
"""perf_event_open(2)"""
_ATTRIBUTES = 128
"""Bytes of its perf_event_attr that are handed over: all zero but the type, the size and the event."""

Open = Callable[[int, int, int], int]
"""(type, event, cpu) -> file descriptor. Raises OSError."""


class Perf:
    """One counter a package, each opened on one of its CPUs."""

    name = NAME
    scope = "CPU package"
    live = True

    def __init__(self, files: list[int], scale: float, clock: Clock = time.monotonic) -> None:
        self._counters = [(file, Counter(scale, 0, clock)) for file in files]

    def begin(self) -> None:
        for file, counter in self._counters:
            counter.begin(_read(file))

    def tick(self) -> None:
        for file, counter in self._counters:
            counter.add(_read(file))

    def joules(self) -> float:
        self.tick()
        return sum(counter.joules for _, counter in self._counters)

    def __del__(self) -> None:
        for file, _ in self._counters:
            os.close(file)


def find(root: Path, clock: Clock = time.monotonic, opener: Open | None = None) -> Perf | Refusal | None:
    """None where there is no such counter; a Refusal where it may not be opened."""
    folder = root / FOLDER
    kind, event = number_of(folder / "type"), _event(text_of(folder / "events" / "energy-pkg"))
    cpus = _first_of_each(text_of(folder / "cpumask"))
    try:
        scale = float(text_of(folder / "events" / "energy-pkg.scale") or "")
    except ValueError:
        return None
    if kind is None or event is None or not cpus or not 0 < scale < 1:
        return None
    files: list[int] = []
    try:
        for cpu in cpus:
            files.append((opener or _open)(kind, event, cpu))
    except PermissionError:
        for file in files:
            os.close(file)
        return Refusal(NAME, "perf_event_paranoid forbids it", "sudo sysctl kernel.perf_event_paranoid=0")
    except OSError:
        for file in files:
            os.close(file)
        return None
    return Perf(files, scale, clock)


def _event(text: str | None) -> int | None:
    """ "event=0x02" -> 2"""
    name, _, value = (text or "").partition("=")
    try:
        return int(value, 0) if name == "event" else None
    except ValueError:
        return None


def _first_of_each(mask: str | None) -> list[int]:
    """ "0,18" -> [0, 18]"""
    parts = (mask or "").split(",")
    return [int(part) for part in parts if part.isdecimal()]


def _open(kind: int, event: int, cpu: int) -> int:
    number = _SYSCALL.get(platform.machine())
    if number is None:
        raise OSError("not known for this CPU")
    attributes = ctypes.create_string_buffer(struct.pack("=IIQ", kind, _ATTRIBUTES, event), _ATTRIBUTES)
    call = ctypes.CDLL(None, use_errno=True).syscall
    found = int(call(ctypes.c_long(number), attributes, -1, cpu, -1, ctypes.c_ulong(0)))
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return found


def _read(file: int) -> int:
    try:
        return int(struct.unpack("=Q", os.read(file, 8))[0])
    except (OSError, struct.error):
        raise SourceLost("its counter cannot be read any more") from None
