"""Run one long command for install.py and show how far it is: one live line, or a few plain ones."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

_COUNT = re.compile(r"^\s*\[(\d+)/(\d+)\]")
_PERCENT = re.compile(r"^\s*\[\s*(\d+)%\]")
_FETCH = re.compile(r"^\s*(?:Downloading|Collecting|Processing)\s+(\S+)")
_USEFUL = re.compile(
    r"\berror\b|\bfatal\b|not found|no such file|undefined reference|cannot find", re.IGNORECASE
)
_NETWORK = re.compile(r"NewConnectionError|name resolution|Max retries|timed out|unreachable", re.IGNORECASE)
_NO_ROOM = re.compile(r"no space left|quota exceeded", re.IGNORECASE)
_PLAIN_SECONDS = 20.0
_LAST_LINES = 12


class StepFailed(Exception):
    """A step ended with an error; the message holds the last useful lines and the name of the log."""


def run_step(name: str, command: list[str], env: dict[str, str], log: Path) -> None:
    """Run `command`, everything it says goes to `log`. Raises StepFailed; Ctrl-C ends the command too."""
    line = _Line(name)
    lines: queue.Queue[str | None] = queue.Queue()
    kept: list[str] = []
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=env,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=os.name != "nt",  # so that the compilers can be stopped with it
    )
    reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
    reader.start()
    try:
        with log.open("a", buffering=1, encoding="utf-8") as output:
            output.write("$ " + " ".join(command) + "\n")
            while True:
                try:
                    text = lines.get(timeout=0.5)
                except queue.Empty:
                    line.show()
                    continue
                if text is None:
                    break
                output.write(text)
                kept.append(text.rstrip())
                del kept[:-400]
                line.read(text)
        code = process.wait()
    finally:
        if process.poll() is None:
            _stop(process)
        line.clear()
    if code != 0:
        raise StepFailed(failure(name, kept, log))
    line.end()


def _stop(process: subprocess.Popen[str]) -> None:
    """End the command and everything that it has started."""
    if os.name == "nt":
        process.terminate()
    else:
        os.killpg(process.pid, signal.SIGTERM)
    process.wait()


def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    for text in process.stdout:
        lines.put(text)
    lines.put(None)


def failure(name: str, lines: list[str], log: Path) -> str:
    """What a person needs of a failed step: its error lines, else its last ones, and a likely cause."""
    whole = "\n".join(lines)
    useful = [text for text in lines if _USEFUL.search(text) and not _COUNT.match(text)] or lines
    shown = "\n".join("    " + text.strip()[:300] for text in useful[-_LAST_LINES:] if text.strip())
    cause = ""
    if _NO_ROOM.search(whole):
        cause = "\nThe disk is full: free some space and run the same command again."
    elif _NETWORK.search(whole):
        cause = "\nThe package index cannot be reached: check the connection and run the same command again."
    return f"{name} failed:\n{shown}{cause}\nThe whole output is in {log}"


class _Line:
    """What is shown of a step while it runs."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._live = sys.stderr.isatty() and os.environ.get("CI", "").lower() not in ("1", "true")
        self._began = time.monotonic()
        self._last_plain = self._began
        self._doing = "starting"
        self._out(f"install: {name}: starting")

    def read(self, text: str) -> None:
        """Learn from one line of output what is going on."""
        doing = self._doing
        if match := _COUNT.match(text):
            doing = f"building {self._name} {match[1]}/{match[2]}"
        elif match := _PERCENT.match(text):
            doing = f"building {self._name} {match[1]} %"
        elif match := _FETCH.match(text):
            doing = f"fetching {match[1].rsplit('/', 1)[-1]}"[:60]
        elif "Building wheel for" in text and "finished" not in text:
            doing = f"building {self._name}"
        elif "Preparing metadata" in text and "finished" not in text:
            doing = "preparing"
        elif text.startswith("Installing collected packages"):  # indented: only the tools of a build
            doing = "installing"
        self._doing = doing
        self.show()

    def show(self) -> None:
        now = time.monotonic()
        if self._live:
            sys.stderr.write(f"\r\x1b[Kinstall: {self._name}: {self._doing}, {self._time(now)}")
            sys.stderr.flush()
        elif now - self._last_plain >= _PLAIN_SECONDS:
            self._last_plain = now
            self._out(f"install: {self._name}: {self._doing}, {self._time(now)}")

    def clear(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def end(self) -> None:
        self._out(f"install: {self._name}: done, {self._time(time.monotonic())}")

    def _time(self, now: float) -> str:
        seconds = int(now - self._began)
        return f"{seconds // 60}:{seconds % 60:02d}"

    def _out(self, text: str) -> None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
