"""Settings from files and variables, shell completion."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Outcome
from cli.fake_engine import FakeEngine
from cli.summary_texts import three
from mtp_cli import app
from mtp_cli.commands.config import VARIABLES

Mtp = Callable[..., Outcome]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder in which one works, and a settings file of the person's own at tmp_path/own.toml."""
    folder = tmp_path / "project" / "docs"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MTP_CONFIG", str(tmp_path / "own.toml"))
    (tmp_path / "own.toml").write_text("")
    return folder


def said(mtp: Mtp, *options: str) -> str:
    done = mtp(FakeEngine(three), "summarize", *options, stdin="The roof leaks.")
    assert done.code == 0, done.err
    return done.text


def test_settings_and_what_goes_before_what(
    mtp: Mtp, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said(mtp).count(".") == 3
    (tmp_path / "own.toml").write_text('quiet = true\n[summarize]\nlength = "short"\n')
    assert said(mtp).count(".") == 2
    project = here.parent / "pyproject.toml"
    project.write_text(
        '[project]\nname = "x"\n[tool.mtp.summarize]\nstyle = "headline"\nformat = "markdown"\n'
    )
    assert said(mtp) == "# The roof leaks badly\n"
    monkeypatch.setenv("MTP_STYLE", "bullets")
    assert said(mtp).startswith("- The roof")
    assert said(mtp, "--style", "paragraph", "--length", "medium").count(".") == 3
    assert said(mtp, "--format", "text", "--style", "headline") == "The roof leaks badly\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lenght = 3", "lenght is none of model, threads"),
        ("[summarise]\nlength = 3", "no command summarise"),
        ("[summarize]\nlenght = 3", "lenght is no option of mtp summarize"),
        ('[summarize]\noutput = "x"', "output cannot be set in a file"),
        ('[summarize]\nlength = "tall"', "none of short, medium, long"),
        ("[summarize", "is not valid"),
        ("x = \xff", "is not valid"),
    ],
)
def test_wrong_settings_are_one_line_that_names_the_file(
    mtp: Mtp, here: Path, tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "own.toml").write_bytes(text.encode("latin-1"))
    done = mtp(None, "summarize", stdin="The roof leaks.")
    assert (done.code, done.out, done.err.count("\n")) == (2, b"", 1)
    assert says in done.err
    assert "own.toml" in done.err


def test_missing_file_is_said_and_an_empty_name_is_none(
    mtp: Mtp, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MTP_CONFIG", str(tmp_path / "none.toml"))
    assert "there is no file" in mtp(None, "summarize", stdin="x").err
    monkeypatch.setenv("MTP_CONFIG", "")
    assert said(mtp).count(".") == 3


def test_config_shows_what_holds(here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.toml").write_text('model = "tiny"\n[summarize]\nlength = 30\n')
    assert app.run(["config"]) == 0
    text = capsys.readouterr().out
    assert f"--model tiny  ({tmp_path}/own.toml)" in text
    assert "summarize --length 30" in text
    assert all(name in text for name in VARIABLES)


def test_every_variable_that_help_names_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    import re

    named: set[str] = set()
    for command in ("summarize", "proofread", "bench", "models", "doctor"):
        assert app.run([command, "--help"]) == 0
        named |= set(re.findall(r"MTP_[A-Z_]+", capsys.readouterr().out))
    assert named - set(VARIABLES) == set()
    assert "MTP_STYLE" in named


@pytest.mark.parametrize(
    ("line", "wanted"),
    [("mtp sum", "summarize"), ("mtp summarize --sty", "--style"), ("mtp summarize --style h", "headline")],
)
def test_shell_completion(line: str, wanted: str) -> None:
    code = "import sys; from mtp_cli.app import run; sys.exit(run([]))"
    environment = {
        **os.environ,
        "_MTP_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=root, check=False
    )
    assert wanted in done.stdout.split(), done.stderr
