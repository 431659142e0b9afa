"""Compiles the small C++ test programs with the system compiler, into a folder of the test run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"


def _llama_cpp_folder() -> Path:
    """Where llama-cpp-python lies, found without importing it."""
    spec = importlib.util.find_spec("llama_cpp")
    if spec is None or spec.origin is None:
        pytest.skip("llama-cpp-python is not installed")
    return Path(spec.origin).parent


def compile_program(name: str, folder: Path, *, flags: tuple[str, ...] = ("-O2",)) -> Path:
    """native/tests/NAME.cpp with the gguf and text sources -> an executable in `folder`.

    Skips the test where there is no C++ compiler; a compiler's error fails it."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    package = _llama_cpp_folder()
    sources = [NATIVE / "tests" / f"{name}.cpp"]
    for part in ("gguf", "text"):
        sources += sorted((NATIVE / "src" / part).glob("*.cpp"))
    program = folder / name
    libraries = [str(next((package / "lib").glob(f"lib{lib}.so.*"))) for lib in ("llama", "ggml-base")]
    command = [compiler, "-std=c++17", "-Wall", "-Wextra", *flags, f"-I{NATIVE / 'src'}"]
    command += [f"-I{package.parent / 'include'}", *map(str, sources), *libraries]
    command += [f"-Wl,-rpath,{package / 'lib'}", "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program
