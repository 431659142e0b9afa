"""native/install.py without building anything: what it decides and what it says."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "native" / "install.py"


def _load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location(name, SCRIPT.with_name(name + ".py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    return _load("install", monkeypatch)


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> Any:
    return _load("install_view", monkeypatch)


@pytest.mark.parametrize(
    ("arguments", "own", "rest"),
    [
        ([], [], None),
        (["--extras", "plot"], ["--extras", "plot"], None),
        (["run", "summarize", "--", "-x"], [], ["summarize", "--", "-x"]),
        (["--run-tests", "--", "-k", "run"], ["--run-tests"], ["-k", "run"]),
    ],
)
def test_arguments(install: Any, arguments: list[str], own: list[str], rest: list[str] | None) -> None:
    assert install.split_arguments(arguments) == (own, rest)


def test_fingerprint_sees_sources_and_nothing_else(install: Any, tmp_path: Path) -> None:
    (tmp_path / "mtp_cli" / "__pycache__").mkdir(parents=True)
    source = tmp_path / "mtp_cli" / "a.py"
    source.write_text("1")
    first = install.fingerprint(tmp_path)
    (tmp_path / "mtp_cli" / "__pycache__" / "a.pyc").write_text("x")
    (tmp_path / "mtp_cli" / "_native.so").write_text("x")
    (tmp_path / "README.md").write_text("x")
    assert install.fingerprint(tmp_path) == first
    source.write_text("2")
    assert install.fingerprint(tmp_path) != first


def test_version_is_the_pinned_one(install: Any) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert text.count(f'"llama-cpp-python=={install.llama_version(ROOT)}"') == 2


def test_installed_version(install: Any, tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    (site / "llama_cpp_python-0.3.36.dist-info").mkdir(parents=True)
    assert install.installed_version(tmp_path, "llama-cpp-python") == "0.3.36"
    assert install.installed_version(tmp_path, "nanobind") == ""


def _run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        timeout=60,
    )


def test_no_compiler_is_one_line_and_nothing_is_made(tmp_path: Path) -> None:
    made = _run("--venv", str(tmp_path / "venv"), PATH=str(tmp_path), CXX="", CC="")
    assert (made.returncode, made.stdout) == (1, "")
    assert made.stderr.startswith("install: this machine lacks a C++ compiler, a C compiler")
    assert made.stderr.count("\n") == 1
    assert not (tmp_path / "venv").exists()


def test_a_folder_with_other_things_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    (tmp_path / "cc").write_text("#!/bin/sh\n")
    (tmp_path / "cc").chmod(0o755)
    compiler = str(tmp_path / "cc")
    made = _run("--venv", str(tmp_path), CXX=compiler, CC=compiler)
    assert made.returncode == 1
    assert "is in the way" in made.stderr
    assert (tmp_path / "letter.txt").read_text() == "mine"


def _step(view: Any, tmp_path: Path, body: str) -> Path:
    log = tmp_path / "log"
    view.run_step("demo", [sys.executable, "-c", textwrap.dedent(body)], dict(os.environ), log)
    return log


def test_step_that_works(view: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = _step(view, tmp_path, "print('  [26/83] /usr/bin/c++ -c x.cpp')")
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines()[0] == "install: demo: starting"
    assert err.splitlines()[-1].startswith("install: demo: done, 0:")
    assert "[26/83]" in log.read_text()


def test_step_that_fails_shows_its_errors_and_the_log(view: Any, tmp_path: Path) -> None:
    body = """
        import sys
        print("x.cpp:3:1: error: expected ';'")
        for number in range(500): print("noise", number)
        sys.exit(1)
    """
    with pytest.raises(view.StepFailed) as caught:
        _step(view, tmp_path, body.replace("range(500)", "range(300)"))
    text = str(caught.value)
    assert "expected ';'" in text
    assert "noise" not in text
    assert str(tmp_path / "log") in text


@pytest.mark.skipif(os.name == "nt", reason="POSIX process groups")
def test_stopping_ends_what_the_step_started(
    view: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print("child", child.pid, flush=True)
        child.wait()
    """
    pids: list[int] = []

    def interrupt(_: object, text: str) -> None:
        pids.append(int(text.split()[1]))
        raise KeyboardInterrupt

    monkeypatch.setattr(view._Line, "read", interrupt)
    with pytest.raises(KeyboardInterrupt):
        _step(view, tmp_path, body)
    end = time.monotonic() + 10
    while Path(f"/proc/{pids[0]}/cmdline").exists() and Path(f"/proc/{pids[0]}/cmdline").read_bytes():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("NewConnectionError: name resolution", "cannot be reached"),
    ],
)
def test_likely_cause_is_named(view: Any, tmp_path: Path, line: str, cause: str) -> None:
    assert cause in view.failure("demo", [line], tmp_path / "log")


def test_progress_line(view: Any, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(view.sys.stderr, "isatty", lambda: True, raising=False)
    line = view._Line("llama.cpp")
    line.read("  [26/83] /usr/bin/c++ -c x.cpp\n")
    assert "building llama.cpp 26/83, 0:00" in capfd.readouterr().err
    line.read("[ 31%] Building CXX object\n")
    assert "building llama.cpp 31 %" in capfd.readouterr().err
    line.read("Collecting numpy>=1.20.0 (from x)\n")
    assert "fetching numpy" in capfd.readouterr().err


def test_termux_is_asked_for_its_own_packages(
    install: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERMUX_VERSION", "0.119")
    real = importlib.util.find_spec
    monkeypatch.setattr(
        install.importlib.util, "find_spec", lambda name: None if name == "psutil" else real(name)
    )
    with pytest.raises(
        install.Refused, match=r"lacks python-psutil.*pkg install python clang .*python-psutil"
    ):
        install.check_machine()
    install.make_venv(tmp_path / "venv")
    assert "include-system-site-packages = true" in (tmp_path / "venv" / "pyvenv.cfg").read_text()
    monkeypatch.delenv("TERMUX_VERSION")
    install.make_venv(tmp_path / "other")
    assert "include-system-site-packages = false" in (tmp_path / "other" / "pyvenv.cfg").read_text()
