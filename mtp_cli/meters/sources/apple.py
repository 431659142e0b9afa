"""Apple silicon by the package zeus-apple-silicon (extra `energy`), which reads IOReport without root."""

from __future__ import annotations

import platform
import sys
from typing import Any

from mtp_cli.meters.sources import Refusal, SourceLost

NAME = "IOReport (zeus-apple-silicon)"


class Apple:
    """CPU and memory of the chip, in millijoules since some moment."""

    name = NAME
    scope = "CPU and memory"
    live = True

    def __init__(self, monitor: Any) -> None:
        self._monitor = monitor
        self._first = 0.0
        self._last = 0.0

    def begin(self) -> None:
        self._first = self._last = self._total()

    def tick(self) -> None:
        """The total is kept by the system."""

    def joules(self) -> float:
        now = self._total()
        if now < self._last:
            raise SourceLost("its counter went back")
        self._last = now
        return now - self._first

    def _total(self) -> float:
        try:
            found = self._monitor.get_cumulative_energy()
            cpu, memory = found.cpu_total_mj, found.dram_mj
        except Exception as error:  # the library's own kinds
            raise SourceLost(f"it fails ({type(error).__name__})") from None
        if cpu is None:
            raise SourceLost("it tells nothing of the CPU")
        return float(cpu + (memory or 0)) / 1e3


def find(system: str = sys.platform, machine: str = platform.machine()) -> Apple | Refusal | None:
    """None on other machines; a Refusal without the package."""
    if system != "darwin" or machine != "arm64":
        return None
    try:
        from zeus_apple_silicon import AppleEnergyMonitor
    except ImportError:
        return Refusal(NAME, "the package is not installed", "pip install 'mtp-cli[energy]'")
    try:
        source = Apple(AppleEnergyMonitor())
        source.begin()
    except Exception as error:  # the library's own kinds
        return Refusal(NAME, f"it does not work here ({type(error).__name__})")
    return source
