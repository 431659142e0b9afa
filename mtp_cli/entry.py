"""The entry point of the `mtp` command: what must hold before anything slow is imported."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Ctrl-C while modules are still being imported: there is nothing to save yet."""
    os.write(2, b"mtp: interrupted\n")
    os._exit(130)


if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored on purpose
    signal.signal(signal.SIGINT, _leave)


def main() -> NoReturn:
    """Run the command line of this process."""
    # a closed stream is None in Python; what would be written there is lost, and that is all
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    from mtp_cli.app import run

    code = run(sys.argv[1:])
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    sys.exit(code)
