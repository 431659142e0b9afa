"""A run over minutes: its thirds, by hand and by fake workers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import mtp_cli
from cli.sensors import throttles, zone
from mtp_cli.bench.results import Prompt, Results, Sample
from mtp_cli.bench.thirds import sustained_report
from mtp_cli.view.bench_report import render

FAKE = Path(__file__).with_name("bench_fake_arm.py")


def slowing(rate_at: dict[float, float], prompt_of: dict[float, int] | None = None) -> Results:
    """Answers of 10 tokens that begin at a second and come at a rate."""
    found = Results(["auto"], [Prompt("a", [1]), Prompt("b", [1])])
    found.sustained = {"minutes": 1.5, "seconds": 90.0, "hottest_celsius": 71.0}
    for at, rate in rate_at.items():
        prompt = (prompt_of or {}).get(at, 0)
        found.samples.append(Sample("auto", prompt, 0, 1, 10, 9, 0.1, 10 / rate, 0.1, 1.0, 1.0, at=at))
    return found


def test_thirds_counted_by_hand() -> None:
    made = sustained_report(slowing({0: 100, 20: 50, 31: 1, 59: 1, 60: 40, 80: 20}))
    arm = made["arms"]["auto"]
    assert arm["answers"] == 6
    assert arm["first_third"]["decode_tok_s"] == pytest.approx(20 / 0.3, abs=0.01)
    assert (arm["first_third"]["min"], arm["first_third"]["max"], arm["first_third"]["n"]) == (50, 100, 2)
    assert arm["last_third"]["decode_tok_s"] == pytest.approx(20 / 0.75, abs=0.01)
    # medians of 0.1 and 0.2 seconds against those of 0.25 and 0.5
    assert arm["last_to_first"]["ratio"] == pytest.approx(0.15 / 0.375, abs=1e-3)
    low, high = arm["last_to_first"]["ci95"]
    assert low <= 0.4 <= high


def test_other_prompts_in_the_last_third_are_no_slowing_down() -> None:
    made = sustained_report(slowing({0: 100, 10: 10, 70: 10}, {0: 0, 10: 1, 70: 1}))
    assert made["arms"]["auto"]["last_to_first"] == {"ratio": 1.0, "ci95": None, "prompts": 1}


def test_a_run_that_was_cut_short_says_unavailable() -> None:
    made = sustained_report(slowing({0: 100}))
    assert made["arms"]["auto"]["last_third"] is None
    assert made["arms"]["auto"]["last_to_first"] is None


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """bench(*options): the command with workers that need no model."""
    import typer

    from mtp_cli.commands import bench as command

    monkeypatch.setenv("PYTHONPATH", str(Path(mtp_cli.__file__).parent.parent))
    fakes = {arm: [sys.executable, str(FAKE), arm, ""] for arm in ("native", "reference")}
    monkeypatch.setattr("mtp_cli.bench.plan.COMMANDS", fakes)
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    app = typer.Typer()
    command.register(app)
    return lambda *options: CliRunner().invoke(
        app, ["--model", str(model), "--limit", "1", "--max-tokens", "8", *options]
    )


def test_the_command_goes_on_for_its_time_and_reports_thirds(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone(tmp_path / "no-sensors", temp=64_000)
    throttles(tmp_path / "no-sensors", 5)
    heat = iter([5, 5, *[6] * 100_000])
    from mtp_cli.meters import thermal

    monkeypatch.setattr(thermal, "_throttled", lambda root: next(heat))
    done = bench("--sustained", "0.02", "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [arm["name"] for arm in found["arms"]] == ["auto"]
    sustained = found["sustained"]
    assert 1.2 <= sustained["seconds"] < 30
    arm = sustained["arms"]["auto"]
    assert arm["answers"] == len(found["samples"]) > 5
    # the fake arm says how long it took: always the same
    assert arm["last_to_first"]["ratio"] == pytest.approx(1.0)
    assert sustained["hottest_celsius"] == 64.0
    assert any("throttled 1 time(s)" in note for note in found["notes"])
    text = render(found, "text")
    assert "last to first" in text
    assert "1.00x [1.00, 1.00]" in text
    assert "hottest CPU sensor: 64 °C" in text
    assert "\nruns" not in text
    assert "auto,sustained.last_to_first,1.0,1.0,1.0" in render(found, "csv")


@pytest.mark.parametrize(
    "other", [["--startup"], ["--lenient-table", "opt"], ["--plot", "x.png"], ["--price-column", "0.1"]]
)
def test_one_measurement_at_a_time(bench: Any, other: list[str]) -> None:
    done = bench("--sustained", "1", *other)
    assert done.exit_code == 2
    assert "--sustained" in done.stderr
    assert done.stderr.count("\n") == 1


def test_several_arms_take_turns(bench: Any) -> None:
    done = bench("--sustained", "0.01", "--arms", "plain,auto", "--format", "json")
    found = json.loads(done.stdout)
    assert set(found["sustained"]["arms"]) == {"plain", "auto"}
    assert [sample["arm"] for sample in found["samples"][:4]] == ["plain", "auto", "auto", "plain"]
