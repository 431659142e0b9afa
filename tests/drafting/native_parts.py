"""The parts of drafting without an engine: native/tests/test_draft.cpp, compiled and asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
RULES = ("chow", "diff", "opt", "token-v1", "token-v2", "token-v3")


class Parts:
    """Asks the program many questions at once."""

    def __init__(self, folder: Path) -> None:
        compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
        if compiler is None:
            pytest.skip("no C++ compiler")
        self._program = folder / "test_draft"
        sources = [NATIVE / "tests" / "test_draft.cpp", *sorted((NATIVE / "src" / "draft").glob("*.cpp"))]
        sources += [NATIVE / "src" / "decode" / name for name in ("sampler.cpp", "lenient.cpp")]
        command = [compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-D_GLIBCXX_ASSERTIONS"]
        command += [f"-I{NATIVE / 'src'}", *map(str, sources), "-o", str(self._program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def ask(self, questions: Iterable[str]) -> list[list[str]]:
        """The words of each answer."""
        asked = list(questions)
        done = subprocess.run(
            [self._program], input="\n".join(asked), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        answers = [line.split() for line in done.stdout.splitlines()]
        assert len(answers) == len(asked)
        return answers

    def numbers(self, question: str) -> list[tuple[int, ...]]:
        """One answer of "a:b a:b ..." as tuples."""
        return [tuple(map(int, word.split(":"))) for word in self.ask([question])[0]]


def row(values: Sequence[float]) -> str:
    """A list as the program reads it."""
    return " ".join([str(len(values)), *(repr(float(value)) for value in values)])


def ids(values: Sequence[int]) -> str:
    """The same for token ids."""
    return " ".join(map(str, [len(values), *values]))
