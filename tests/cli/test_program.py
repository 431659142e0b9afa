"""The program as a whole: help, usage errors, processes and pipes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mtp_cli import __version__, app

ROOT = Path(__file__).resolve().parents[2]
ENGINE_AND_RUN = """
import sys
sys.path[:0] = [{tests!r}, {root!r}]
import mtp_cli.engine
from cli.fake_engine import FakeEngine
mtp_cli.engine.open_engine = lambda path, **options: FakeEngine({answer}, pause={pause})
from mtp_cli import entry
sys.argv = ["mtp", *{arguments!r}]
entry.main()
"""


SENTENCES = (
    "lambda prompt: ' '.join("
    "'word' + chr(97 + n % 26) * (n // 26 + 1) + '.' * (n % 20 == 9) for n in range(300))"
)


def program(tmp_path: Path, answer: str, *arguments: str, pause: float = 0.0) -> list[str]:
    """Command line of a process that runs mtp with a fake engine."""
    model = tmp_path / "fake.gguf"
    model.write_bytes(b"GGUF")
    code = ENGINE_AND_RUN.format(
        tests=str(ROOT / "tests"),
        root=str(ROOT),
        answer=answer,
        pause=pause,
        arguments=[*arguments, "--model", str(model), "--offline"],
    )
    return [sys.executable, "-c", code]


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["--version"]) == 0
    assert capsys.readouterr().out == f"mtp {__version__}\n"
    assert app.run(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in app.COMMANDS)
    assert app.run(["proofread", "--help"]) == 0
    assert "--max-tokens" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["sumarize", "x"], "summarize"),
        (["proofread", "--nonsense"], "--nonsense"),
        (["proofread", "--threads", "-1"], "--threads"),
        (["proofread", "--format", "xml"], "xml"),
        (["summarize", "--max-tokens", "many"], "--max-tokens"),
        (["summarize", "--threads", "x"], "'x' is not a whole number"),
        (["summarize", "--top-p", "x"], "'x' is not a number"),
    ],
)
def test_wrong_command_lines(line: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(line) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("mtp: ")
    assert says in err
    assert "--help" in err


def test_no_command_shows_the_help_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: mtp")


def test_unknown_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "in").write_text("Some text here.")
    assert app.run(["proofread", "-m", "no-such-model", str(tmp_path / "in")]) == 3
    assert capsys.readouterr().err.startswith("mtp: no model is called")


def test_only_what_is_needed_is_imported(tmp_path: Path) -> None:
    """The plain way to the first token must not pay for Rich, NumPy, psutil or the bench."""
    command = program(tmp_path, "lambda prompt: ' We use it.'", "proofread")
    command[2] += "\n"
    command[2] = command[2].replace(
        "app.main()",
        "status = app.run(sys.argv[1:])\nprint(*sys.modules, file=sys.stderr)\nsys.exit(status)",
    )
    done = subprocess.run(command, input="We use it.", capture_output=True, text=True, check=True)
    assert done.stdout == "We use it.\n"
    loaded = set(done.stderr.split())
    heavy = {"rich", "numpy", "psutil", "llama_cpp", "asyncio", "mtp_cli.bench", "mtp_cli.commands.bench"}
    heavy |= {
        "torch",
        "matplotlib",
        "gguf",
        "huggingface_hub",
        "docx",
        "pypdf",
        "mtp_cli.train",
        "mtp_cli.cores",
    }
    assert not heavy & loaded


def test_closed_pipe_is_quiet(tmp_path: Path) -> None:
    command = program(tmp_path, SENTENCES, "summarize", "--max-tokens", "300", pause=0.01)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as mtp:
        assert mtp.stdin and mtp.stdout and mtp.stderr
        mtp.stdin.write(b"We use it.")
        mtp.stdin.close()
        assert mtp.stdout.read(4)
        mtp.stdout.close()
        assert mtp.stderr.read() == b""
        assert mtp.wait(20) == 0


@pytest.mark.parametrize("line", [["--help"], ["--version"], ["config"], ["doctor"], ["models", "list"]])
def test_nobody_reads_what_is_printed(line: list[str]) -> None:
    """`mtp doctor | true` is no fault, and 1 would say that a check found something."""
    end, start = os.pipe()
    os.close(end)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mtp_cli", *line],
            stdout=start,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            check=False,
        )
    finally:
        os.close(start)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupt_signal(tmp_path: Path) -> None:
    import signal

    command = program(tmp_path, SENTENCES, "summarize", "--max-tokens", "300", pause=0.02)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as mtp:
        assert mtp.stdin and mtp.stdout
        mtp.stdin.write(b"We use it.")
        mtp.stdin.close()
        first = mtp.stdout.read(4)
        mtp.send_signal(signal.SIGINT)
        rest = mtp.stdout.read()
        assert mtp.stderr
        assert mtp.stderr.read() == b"mtp: interrupted\n"
        assert mtp.wait(20) == 130
    assert (first + rest).startswith(b"word")
    assert rest.endswith(b"\n")


@pytest.mark.slow
def test_waiting_for_stdin_is_said(tmp_path: Path) -> None:
    command = program(tmp_path, "lambda prompt: ' We use it.'", "proofread")
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as mtp:
        assert mtp.stdin and mtp.stdout and mtp.stderr
        assert mtp.stderr.readline() == b"mtp: waiting for standard input\n"
        mtp.stdin.write(b"We use it.")
        mtp.stdin.close()
        assert mtp.stdout.read() == b"We use it.\n"
        assert mtp.wait(20) == 0


def test_interrupt_while_starting_is_one_line() -> None:
    """Ctrl-C before the command line is even read: no traceback, the code of an interrupt."""
    code = "import os, signal, mtp_cli.entry\nos.kill(os.getpid(), signal.SIGINT)\nprint('went on')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"mtp: interrupted\n")


def test_closed_streams_are_quiet() -> None:
    """`mtp ... >&- 2>&-`: what would be written there is lost, and that is all."""
    code = (
        "import sys; sys.stdout = sys.stderr = None; from mtp_cli import entry\n"
        "sys.argv = ['mtp', '--version']; entry.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
