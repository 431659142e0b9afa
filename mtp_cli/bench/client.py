"""The parent's side of a worker process: start it, ask it, end it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from mtp_cli.bench.arms import NATIVE, REFERENCE
from mtp_cli.bench.protocol import KIND_ERROR

PACKAGE_ROOT = Path(__file__).resolve().parent.parent.parent
"""The folder that this package is imported from."""


def python_command(statements: str) -> tuple[str, ...]:
    """A Python process that imports this very package. `python -m` would take a folder of the same name
    in the working directory, such as a source tree without its native module."""
    return (sys.executable, "-c", f"import sys; sys.path[0] = {str(PACKAGE_ROOT)!r}; {statements}")


COMMANDS: Mapping[str, Sequence[str]] = {
    NATIVE: python_command("from mtp_cli.bench.worker_native import NativeArm, main; main(NativeArm())"),
    REFERENCE: python_command(
        "from mtp_cli.bench.worker_reference import ReferenceArm, main; main(ReferenceArm())"
    ),
}
"""How to start a worker, by the `command` of its arm."""

GRACE_S = 2.0
"""How long a worker may take to leave by itself."""


class BenchError(Exception):
    """The benchmark cannot go on. The message is one line for a person; `kind` as in the protocol."""

    def __init__(self, message: str, kind: str = KIND_ERROR) -> None:
        super().__init__(message)
        self.kind = kind


def cpu_seconds(pid: int) -> float | None:
    """CPU time that a process has used so far, over all its threads; None where the system does not tell."""
    import os

    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2]
        return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


class Worker:
    """One arm (or several alike) in a process, in its own session: Ctrl-C reaches the parent alone, which
    ends the rest.

    `idle_cpu_s` / `idle_s` is the load that it caused while it should have slept.
    """

    def __init__(self, arm: str, command: Sequence[str]) -> None:
        self.arm = arm
        self.started = time.perf_counter()
        self.idle_s = self.idle_cpu_s = 0.0
        self._answered: tuple[float, float | None] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `close`)
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
        except OSError as error:
            self._errors.close()
            raise BenchError(f"cannot start the worker of arm {arm}: {error.strerror or error}") from error

    def send(self, op: str, **fields: Any) -> None:
        """Hand over a request without waiting for the answer."""
        self._note_idle()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"op": op, **fields}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._died() from None

    def receive(self) -> dict[str, Any]:
        """The next answer. Raises BenchError when the arm refuses or its process has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._died()
        try:
            reply: dict[str, Any] = json.loads(line)
        except ValueError:
            raise BenchError(f"the worker of arm {self.arm} answered with something else than JSON") from None
        self._answered = (time.perf_counter(), cpu_seconds(self._process.pid))
        if not reply.get("ok"):
            raise BenchError(f"arm {self.arm}: {reply.get('error')}", str(reply.get("kind", KIND_ERROR)))
        return reply

    @property
    def answered_after(self) -> float:
        """Seconds from the start of the process to its newest answer."""
        return (self._answered[0] if self._answered else time.perf_counter()) - self.started

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        self.send(op, **fields)
        return self.receive()

    def _note_idle(self) -> None:
        if self._answered is None:
            return
        since, cpu_then = self._answered
        cpu_now = cpu_seconds(self._process.pid)
        if cpu_then is not None and cpu_now is not None:
            self.idle_s += time.perf_counter() - since
            self.idle_cpu_s += cpu_now - cpu_then

    def _died(self) -> BenchError:
        """What became of the process, with the last line that it wrote to stderr."""
        try:
            code: int | None = self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            code = None
        if code is None:
            how = "closed its output"
        elif code < 0:
            how = f"was ended by signal {-code}" + (" (out of memory?)" if code == -9 else "")
        else:
            how = f"ended with status {code}"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return BenchError(f"the worker of arm {self.arm} {how}" + (f": {lines[-1].strip()}" if lines else ""))

    def close(self) -> None:
        """Let the process end by itself, else make it. May be called twice."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._release()

    def kill(self) -> None:
        """End the process at once, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._release()

    def _release(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._errors.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.kill()
