"""`mtp bench` as a person meets it: options, formats, exit codes, Ctrl-C. Workers need no model."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import mtp_cli
from mtp_cli.bench import plan as bench_plan
from mtp_cli.bench import startup as bench_startup
from mtp_cli.commands import bench

FAKE = Path(__file__).with_name("bench_fake_arm.py")
ROOT = Path(mtp_cli.__file__).parent.parent


def fake_commands(**behaviours: str) -> dict[str, list[str]]:
    return {arm: [sys.executable, str(FAKE), arm, behaviours.get(arm, "")] for arm in ("native", "reference")}


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(bench_plan, "COMMANDS", fake_commands())
    made = typer.Typer()
    bench.register(made)
    return made


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "fake.gguf"
    file.write_bytes(b"GGUF")
    return str(file)


def invoke(app: typer.Typer, *options: str) -> Any:
    return CliRunner().invoke(app, list(options))


QUICK = ("--runs", "2", "--limit", "1", "--max-tokens", "4", "--task", "free")


def test_json_has_the_promised_shape_and_stdout_nothing_else(app: typer.Typer, model: str) -> None:
    result = invoke(app, "--model", model, *QUICK, "--format", "json", "-v")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert {"machine", "model", "arms", "verify_cost_ms"} <= found.keys()
    keys = "name prompts generated_tokens passes prefill_tok_s decode_tok_s ttft_ms peak_rss_mb same_as_plain"
    for arm in found["arms"]:
        assert {*keys.split(), "ratio_to_reference"} <= arm.keys()
    more = "drafted accepted acceptance tokens_per_pass by_source by_position ratio_to_plain oracle"
    assert [arm["name"] for arm in found["arms"]] == ["reference", "plain", "auto"]
    assert set(more.split()) <= found["arms"][2].keys()
    ratios = found["arms"][1]["ratio_to_reference"]
    assert {"decode", "prefill", "total_time"} <= ratios.keys()
    assert {"ratio", "ci95"} <= ratios["decode"].keys()
    assert list(found["verify_cost_ms"]["plain"]) == [str(k) for k in range(1, 9)]
    assert "mtp: plain: library, run 1 of 2" in result.stderr


def test_text_and_markdown_show_every_measure(app: typer.Typer, model: str, tmp_path: Path) -> None:
    text = invoke(app, "--model", model, *QUICK)
    assert text.exit_code == 0
    assert text.stderr == ""
    for words in ("decode, tok/s", "2.00x [2.00, 2.00]", "1 of 1", "peak memory, MB", "tokens a pass"):
        assert words in text.stdout
    file = tmp_path / "report.md"
    markdown = invoke(app, "--model", model, *QUICK, "--format", "markdown", "-o", str(file))
    assert markdown.exit_code == 0
    assert markdown.stdout == ""
    rows = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert any(row.startswith("| decode, tok/s | 250.0 | 500.0 | 1818.2 | 2.00x") for row in rows)
    assert {row.count("|") for row in rows[:12]} == {6}


def test_csv_is_one_value_a_line(app: typer.Typer, model: str) -> None:
    result = invoke(app, "--model", model, *QUICK, "--format", "csv", "--arms", "plain")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    found = {(row["arm"], row["measure"]): row for row in rows}
    assert found["plain", "decode_tok_s"]["value"] == "500.0"
    assert found["plain", "verify_cost_ms.8"]["value"] == "5.5"
    assert not any(row["measure"].startswith("ratio") for row in rows)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--arms", "plain,fast"), 2, "there is no arm 'fast'"),
        (("--arms", ""), 2, "--arms wants"),
        (("--arms", "plain,plain"), 2, "--arms wants"),
        (("--prompts", "/no/such/file.jsonl"), 2, "cannot read /no/such/file.jsonl"),
        (("--plot", "curve.gif"), 2, "ends in .png or .svg"),
        (("--plot", "/no/such/folder/curve.png"), 2, "there is no folder"),
        (("-o", "/no/such/folder/report"), 2, "there is no folder"),
        (("-o", "/"), 2, "that is a folder"),
        (("--startup", "--plot", "curve.png"), 2, "use one of them"),
        (("--arms", "fixed-16"), 2, "fixed-N"),
        (("--arms", "token-v3:0.2"), 2, "--lenient-table"),
        (("--lenient-table", "opt", "--startup"), 2, "use one of them"),
        (("--lenient-table", "opt", "--arms", "plain"), 2, "leave --arms out"),
        (("--reference-verify", "--arms", "plain"), 2, "needs the reference arm"),
        (("--reference-verify", "--temperature", "1"), 2, "--temperature 0"),
        (("--prompts", "proofread=/no/such/file.jsonl"), 2, "cannot read /no/such/file.jsonl"),
        (("--arms", "reference", "--temperature", "1"), 2, "the reference arm is greedy"),
        (("--model", "/no/such/model.gguf"), 3, "there is no file"),
        (("--model", "smolm2-135m"), 3, "did you mean"),
    ],
)
def test_wrong_use_gives_one_line(
    app: typer.Typer, model: str, options: tuple[str, ...], code: int, message: str
) -> None:
    given = options if "--model" in options else ("--model", model, *options)
    result = invoke(app, *given)
    assert result.exit_code == code
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.startswith("mtp: ")
    assert message in line


@pytest.mark.parametrize(
    ("behaviour", "code", "message"),
    [("no-model", 3, "the file is damaged"), ("missing", 2, "not installed")],
)
def test_worker_that_refuses_sets_the_exit_code(
    app: typer.Typer, model: str, monkeypatch: pytest.MonkeyPatch, behaviour: str, code: int, message: str
) -> None:
    monkeypatch.setattr(bench_plan, "COMMANDS", fake_commands(native=behaviour))
    result = invoke(app, "--model", model, *QUICK)
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def test_dying_worker_leaves_what_was_measured(
    app: typer.Typer, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_plan, "COMMANDS", fake_commands(reference="dies"))
    result = invoke(app, "--model", model, *QUICK, "--format", "json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["complete"] is False
    assert result.stderr.startswith("mtp: the worker of arm reference ended with status 9")


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plot_is_a_picture(app: typer.Typer, model: str, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"curve.{suffix}"
    result = invoke(app, "--model", model, *QUICK, "--plot", str(file))
    assert result.exit_code == 0, result.stderr
    start = file.read_bytes()[:400]
    assert start.startswith(b"\x89PNG") if suffix == "png" else b"<svg" in start or b"<?xml" in start


def test_without_matplotlib_plot_fails_before_measuring(
    app: typer.Typer, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = invoke(app, "--model", model, "--plot", str(tmp_path / "curve.png"))
    assert result.exit_code == 2
    assert "pip install 'mtp-cli[plot]'" in result.stderr


def test_wrong_ids_end_with_an_error_after_the_report(
    app: typer.Typer, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_plan, "COMMANDS", fake_commands(native="drafts-wrong"))
    options = ("--runs", "3", "--limit", "1", "--max-tokens", "8", "--task", "free", "--arms", "plain,auto")
    result = invoke(app, "--model", model, *options, "--format", "json")
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert line == "mtp: auto gave other token ids than plain on 1 of 1 prompts, first in library at token 4"
    found = json.loads(result.stdout)
    assert found["complete"] is True
    assert found["arms"][1]["same_as_plain"] == 0


def test_prompt_files_with_tasks_of_their_own(app: typer.Typer, model: str, tmp_path: Path) -> None:
    one, other = tmp_path / "one=1.jsonl", tmp_path / "two.jsonl"
    one.write_text('{"text": "abc. d"}\n' * 3, encoding="utf-8")
    other.write_text('{"turns": ["xyz. u"]}\n', encoding="utf-8")
    files = ("--prompts", str(one), "--prompts", f"proofread={other}")
    options = (*QUICK, "--limit", "2", "--arms", "plain", "--format", "json")
    result = invoke(app, "--model", model, *options, *files)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert [prompt["name"] for prompt in found["prompts"]] == [
        "one=1.jsonl:1",
        "one=1.jsonl:2",
        "two.jsonl:1",
    ]
    assert found["settings"]["task"] == "proofread and free"


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")
def test_lenient_table_and_its_plot(app: typer.Typer, model: str, tmp_path: Path) -> None:
    file = tmp_path / "lenient.png"
    options = ("--lenient-table", "token-v3", "--plot", str(file))
    result = invoke(app, "--model", model, *QUICK, *options)
    assert result.exit_code == 0, result.stderr
    assert "edits per 100 tokens" in result.stdout
    assert file.read_bytes().startswith(b"\x89PNG")


PROGRAM = """
import sys
from mtp_cli.bench import plan
from mtp_cli.commands import bench
import typer
plan.COMMANDS = {commands!r}
app = typer.Typer()
bench.register(app)
app()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_prints_what_was_measured(model: str) -> None:
    # The third call of this reference never answers; by then all arms have run once.
    source = PROGRAM.format(commands=fake_commands(reference="hangs"))
    options = ["--model", model, *QUICK, "--format", "json", "-v"]
    process = subprocess.Popen(
        [sys.executable, "-c", source, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )
    assert process.stderr is not None
    for line in process.stderr:
        if b"run 2 of 2 (5/6)" in line:
            process.send_signal(signal.SIGINT)
            break
    out, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.decode().splitlines()[-1] == "mtp: interrupted"
    assert b"Traceback" not in errors
    found = json.loads(out)
    assert found["complete"] is False
    assert found["arms"][1]["decode_tok_s"] == pytest.approx(500)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_sigterm_ends_the_workers_too(model: str) -> None:
    source = PROGRAM.format(commands=fake_commands(reference="hangs"))
    process = subprocess.Popen(
        [sys.executable, "-c", source, "--model", model, *QUICK, "-v"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )
    assert process.stderr is not None
    for line in process.stderr:
        if b"run 2 of 2 (5/6)" in line:
            break
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    process.terminate()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(30) == 128 + signal.SIGTERM
    assert len(children) == 3
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    assert b"Traceback" not in errors


def test_reader_that_leaves_is_no_error(model: str) -> None:
    source = PROGRAM.format(commands=fake_commands())
    process = subprocess.Popen(
        [sys.executable, "-c", source, "--model", model, *QUICK, "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 0
    assert errors == b""


def test_startup_compares_whole_processes(
    app: typer.Typer, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleeping(seconds: float) -> list[str]:
        return [sys.executable, "-c", f"import sys, time; sys.stdin.read(); time.sleep({seconds})"]

    monkeypatch.setattr(bench_startup, "product_command", lambda plan, threads: sleeping(0.0))
    monkeypatch.setattr(bench_startup, "script_command", lambda plan, threads, count: sleeping(0.4))
    result = invoke(app, "--model", model, "--startup", "--runs", "3", "--format", "json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)["startup"]
    assert found["mtp_ms"]["n"] == found["reference_ms"]["n"] == 3
    assert found["reference_ms"]["min"] > 400
    assert 0 < found["time_ratio"]["ratio"] < 0.9
    text = invoke(app, "--model", model, "--startup", "--runs", "1")
    assert "whole process, ms" in text.stdout
    monkeypatch.setattr(bench_startup, "script_command", lambda plan, threads, count: ["false"])
    broken = invoke(app, "--model", model, "--startup", "--runs", "1")
    assert broken.exit_code == 2
    assert broken.stderr == "mtp: the reference process ended with status 1\n"
