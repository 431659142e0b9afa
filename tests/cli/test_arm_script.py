"""native/arm/run_tests.py without building anything: what it decides and what it says."""

from __future__ import annotations

import importlib
import stat
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "native" / "arm"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("run_tests", "arm_python", "install", "install_view", "count"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("run_tests")


def _program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(
    ("known", "second"),
    [("cortex-a710 neoverse-v1", "cortex-a710"), ("neoverse-v1", "neoverse-v1"), ("", "max,sve=off")],
)
def test_four_cpus(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: str, second: str
) -> None:
    """Old versions of qemu know fewer models, and end with 1 after listing them."""
    _program(tmp_path / "qemu-aarch64", f"echo Available CPUs: max neoverse-n1 cortex-a72 {known}; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert script.usable_cpus() == ["max", second, "neoverse-n1", "cortex-a72"]


def test_missing_tools_are_named_and_may_be_skipped(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert script.main(["--kernels"]) == 2
    assert "lacks g++-aarch64-linux-gnu, qemu-user" in capsys.readouterr().err
    assert script.main(["--kernels", "--skip"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("arm: skipped: ")
    assert err.count("\n") == 1


def test_a_failed_install_is_one_line(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script.os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    _program(tmp_path / "apt-get", "echo working; echo E: Unable to locate package >&2; exit 100")
    assert script.main(["--kernels", "--skip"]) == 0
    assert "apt-get update failed: E: Unable to locate package" in capsys.readouterr().err


LISTING = """
0000000000000000 <void (anonymous namespace)::group_tile<(mtp::Format)5, 4, X>(int)>:
   0:\tmov\tx0, x1
   4:\tsdot\tv0.4s, v1.16b, v2.4b[0]
   8:\tfmla\tv0.4s, v1.4s, v2.4s
   c:\tb.lt\t4 <void (anonymous namespace)::group_tile<(mtp::Format)5, 4, X>(int)+0x4>
  10:\tret
0000000000000020 <matmul>:
  20:\tsdot\tv0.4s, v1.16b, v2.4b[0]
"""


def test_the_loop_is_found(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = importlib.import_module("count")
    (tmp_path / "listing").write_text(LISTING)
    _program(tmp_path / "aarch64-linux-gnu-objdump", f"cat {tmp_path}/listing")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    loops = count.inner_loops(tmp_path / "x.o", ("sdot",))
    assert loops == {(5, 4, False): Counter({"sdot": 1, "fmla": 1, "b.lt": 1})}


def test_bound() -> None:
    """Q4_1 by four columns with sdot, by hand."""
    sys.path.insert(0, str(FOLDER))
    try:
        count = importlib.import_module("count")
    finally:
        sys.path.remove(str(FOLDER))
    # weights 8, decoding 16, scales 6, activations 4 x 3, 64 products, 8 results x (3 + the minimum)
    assert count.bound("q4_1", 4, False, "dotprod", 16) == 8 + 16 + 6 + 12 + 64 + 32
    assert count.bound("q4_1", 4, False, "i8mm", 32) == 8 + 16 + 6 + 10 + 32 + 32
    assert count.bound("q4_1", 3, False, "i8mm", 32) == count.bound("q4_1", 4, False, "i8mm", 32)
