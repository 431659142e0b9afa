"""The command line with a fake engine behind it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.fake_engine import FakeEngine
from mtp_cli import app


@dataclass
class Outcome:
    """What one run gave."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


class _Input:
    """Standard input with a given content."""

    def __init__(self, data: bytes, terminal: bool) -> None:
        self.buffer = io.BytesIO(data)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def fileno(self) -> int:
        raise OSError("no such thing")


@pytest.fixture
def mtp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Outcome]:
    """mtp(engine, *arguments, stdin=..., terminal=False): run one command line. engine None: loading fails
    the test."""
    monkeypatch.setenv("MTP_OFFLINE", "1")
    monkeypatch.delenv("MTP_MODEL", raising=False)
    model = tmp_path / "fake.gguf"
    model.write_bytes(b"GGUF")

    def run(
        engine: FakeEngine | None, *arguments: str, stdin: bytes | str = b"", terminal: bool = False
    ) -> Outcome:
        def open_engine(path: Path, **options: Any) -> FakeEngine:
            assert engine is not None, "a model was loaded"
            return engine

        data = stdin.encode() if isinstance(stdin, str) else stdin
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr("mtp_cli.engine.open_engine", open_engine)
            patch.setattr(sys, "stdin", _Input(data, terminal))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            command, *rest = arguments
            if command == "proofread" and "--answers" not in rest:
                rest = ["--answers", "always", *rest]  # the fake engine's answers are what is tested
            if command == "proofread" and "--helpers" not in rest:
                rest = ["--helpers", "off", *rest]  # whatever is installed here
            head = [command, rest.pop(0)] if command == "eval" else [command]
            code = app.run([*head, "--model", str(model), *rest])
        return Outcome(code, out.buffer.getvalue(), err.getvalue())  # type: ignore[attr-defined]

    return run
