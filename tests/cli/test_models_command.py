"""`mtp models ...`: what goes to stdout, what to stderr, and the exit codes."""

from __future__ import annotations

import io
import json
import re

import pytest
import typer
from typer.testing import CliRunner

from cli.catalog_fakes import Shop
from mtp_cli import catalog
from mtp_cli.catalog.report import PullDone, PullProgress, PullStart
from mtp_cli.commands import models
from mtp_cli.view.pull import PullView
from mtp_cli.view.tables import write_table

runner = CliRunner()


def invoke(*arguments: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of `mtp models ARGUMENTS`."""
    app = typer.Typer()
    models.register(app)
    app.callback()(lambda: None)
    result = runner.invoke(app, ["models", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_list_before_and_after(shop: Shop) -> None:
    code, out, err = invoke("list")
    assert (code, err) == (0, "")
    header, row = out.splitlines()
    assert header.split() == ["name", "kind", "size", "licence", "languages", "state", "draft", "head"]
    assert " ".join(row.split()) == "tiny (default) base 200.0 kB Tiny-1.0 en de not fetched none"
    catalog.resolve("tiny")
    assert invoke("list")[1].splitlines()[1].split()[-2:] == ["ready", "none"]
    shop.target.write_bytes(b"short")
    assert invoke("list")[1].splitlines()[1].split()[-2:] == ["damaged", "none"]


def test_list_json(shop: Shop) -> None:
    catalog.resolve("tiny")
    code, out, _ = invoke("list", "--format", "json")
    (row,) = json.loads(out)["models"]
    assert code == 0
    assert (row["name"], row["state"], row["path"]) == ("tiny", "ready", str(shop.target))
    assert row["licence_url"] == "https://example.org/terms"


def test_pull_shows_terms_on_stderr_and_the_path_on_stdout(shop: Shop) -> None:
    code, out, err = invoke("pull", "tiny")
    assert (code, out) == (0, f"{shop.target}\n")
    assert "Tiny-1.0: Do as you like. https://example.org/terms" in err
    assert "200.0 kB on disk" in err
    assert "100%" in err
    assert "\x1b" not in err + out


def test_quiet_pull_still_shows_the_terms(shop: Shop) -> None:
    code, _, err = invoke("pull", "-q", "tiny")
    assert code == 0
    assert "https://example.org/terms" in err
    assert "100%" not in err
    assert "complete" not in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pull", "tin"], "did you mean tiny?"),
        (["pull", "--offline", "tiny"], "offline it is not fetched"),
        (["path", "tiny"], "mtp models pull tiny"),
        (["rm", "tiny"], "nothing was removed"),
        (["verify", "tiny"], "mtp models pull tiny"),
    ],
)
def test_one_line_and_exit_code_3(arguments: list[str], said: str, shop: Shop) -> None:
    code, out, err = invoke(*arguments)
    assert (code, out) == (3, "")
    assert err.startswith("mtp: ")
    assert err.count("\n") == 1
    assert said in err


def test_a_bad_name_stops_before_anything_is_fetched(shop: Shop) -> None:
    assert invoke("pull", "tiny", "wrong")[0] == 3
    assert shop.calls == []


def test_verbose_shows_what_pip_said(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_PIP_MODE", "odd")
    assert "some noise" not in invoke("pull", "tiny")[2]
    assert "some noise" in invoke("pull", "-v", "tiny")[2]


def test_ctrl_c(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mtp_cli.catalog.fetch_pip.fetch", interrupt)
    code, out, err = invoke("pull", "tiny")
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "mtp: interrupted; nothing half-fetched was kept"


def test_path_rm_verify(shop: Shop) -> None:
    invoke("pull", "tiny")
    assert invoke("path", "tiny") == (0, f"{shop.target}\n", "")
    assert invoke("verify")[:2] == (0, "tiny: ok\n")
    shop.target.write_bytes(b"?" * len(shop.content))
    code, out, err = invoke("verify")
    assert (code, out) == (3, "tiny: damaged\n")
    assert "mtp models pull --force tiny" in err
    code, out, _ = invoke("rm", "tiny")
    assert code == 0
    assert out.startswith(f"removed {shop.target} (200.0 kB)")
    assert invoke("verify")[0] == 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bar_on_a_terminal(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("mtp_cli.view.pull.time.monotonic", lambda: clock[0])
    screen = Terminal()
    with PullView(screen) as view:
        view(PullStart("tiny", "Tiny", 200, 100, "L", "note", "url", shop.folder))
        for done in (0, 50, 100):
            view(PullProgress("downloading", done, 100))
            clock[0] += 2
        view(PullDone("tiny", shop.target, 4.0))
    text = screen.getvalue()
    assert "[############............]  50% of 100 B, 25 B/s" in text
    assert "[########################] 100% of 100 B" in text
    assert text.split("\x1b[K")[-1].startswith("mtp: tiny is complete")


def test_interrupted_bar_leaves_a_clean_line() -> None:
    screen = Terminal()
    with pytest.raises(KeyboardInterrupt), PullView(screen) as view:
        view(PullProgress("downloading", 1, 100))
        raise KeyboardInterrupt
    assert screen.getvalue().endswith("\r\x1b[K")


def test_table_in_a_pipe() -> None:
    out = io.StringIO()
    write_table(out, ["a", "size"], [["long name", "1"], ["b", "1000"]], right=[1])
    assert out.getvalue() == "a          size\nlong name     1\nb          1000\n"


@pytest.mark.parametrize("width", [12, 40, 60, 80])
def test_progress_fits_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("mtp_cli.view.pull._TTY_SECONDS", 0.0)
    screen = Terminal()
    with PullView(screen) as view:
        for done in (1, 50_000_000, 98_362_432):
            view(PullProgress("verifying", done, 98_362_432))
    lines = re.split(r"\r\x1b\[K", screen.getvalue())
    assert all(len(line) < width for line in lines)
    assert any(("[" in line) == (width >= 60) for line in lines)
    assert any(line.startswith("checking"[: width - 2]) for line in lines)


def test_an_interrupt_of_a_check_says_no_more(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("mtp_cli.catalog.pull.verify", interrupted)
    assert invoke("verify", "tiny") == (130, "", "mtp: interrupted\n")
