"""Energy in the benchmark's report: measured or estimated, never mixed, and ratios that claim no more."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cli.sensors import Clock, rapl, write
from mtp_cli.bench.energy import Watch, counted, described, of_arm
from mtp_cli.bench.report import report
from mtp_cli.bench.results import Prompt, Results, Sample
from mtp_cli.meters.estimate import constants_for, estimate
from mtp_cli.meters.sources import SourceLost, powercap
from mtp_cli.view.bench_report import render
from mtp_cli.work import PassShape, Work

WORK = {"plain": Work(30, 30, 9e9, 3e9, 3.0), "auto": Work(10, 40, 3e9, 4e9, 2.0)}
JOULES = {"plain": 16.0, "auto": 9.0}
SHAPE = {
    "layer_bytes": 1000,
    "layer_products": 2000,
    "output_bytes": 400,
    "screened_bytes": 400,
    "output_products": 800,
    "vocabulary": 100,
    "query_width": 0,
    "key_width": 0,
    "full_layers": 1,
    "sliding_layers": 0,
    "window": 0,
}


def results(*, measured: bool, prompts: int = 2, runs: int = 2) -> Results:
    """Two arms; a watt of idle power where there is a sensor, and answers of two seconds."""
    found = Results(["plain", "auto"], [Prompt(f"p{i}", [1, 2]) for i in range(prompts)])
    found.settings = {"threads": 2, "runs": runs, "max_tokens": 10}
    for run in range(runs):
        for prompt in range(prompts):
            for arm in found.arms:
                size = 1.0 + prompt
                work = WORK[arm]
                scaled = {
                    "passes": work.passes,
                    "columns": work.columns,
                    "bytes": work.bytes * size,
                    "multiply_adds": work.multiply_adds * size,
                    "core_seconds": work.core_seconds * size,
                }
                found.samples.append(Sample(arm, prompt, run, 2, 10, 9, 0.1, 0.2, 0.1, 3.0, 2.0, work=scaled))
                if measured:
                    found.samples[-1] = replace(found.samples[-1], joules=JOULES[arm] * size)
                found.ids.setdefault((arm, prompt), []).append([7] * 10)
    if measured:
        found.sensor = {"source": "RAPL (powercap)", "scope": "CPU package", "idle_watts": 1.0}
    return found


def test_measured_joules_are_without_the_idle_power() -> None:
    found = of_arm(results(measured=True), "auto")
    assert found is not None
    assert found["joules_per_answer"] == pytest.approx((9 - 2 + 18 - 2) / 2)
    assert found["joules_per_token"] == pytest.approx((9 - 2 + 18 - 2) / 20)
    ratio = found["ratio_to_plain"]
    assert ratio["ratio"] == pytest.approx((16 - 2 + 32 - 2) / (9 - 2 + 18 - 2), abs=1e-3)
    assert ratio["ci95"][0] < ratio["ratio"] < ratio["ci95"][1]
    assert ratio["of"] == "measured joules"
    assert "range" not in ratio
    assert found["ratio_to_reference"] is None
    assert "joules_per_token_range" not in found


def test_an_estimate_says_that_its_ratio_is_one_of_counted_work() -> None:
    whole = results(measured=False)
    known = constants_for()
    found = of_arm(whole, "auto")
    assert found is not None
    one = estimate(WORK["auto"], known)
    assert found["joules_per_token"] == pytest.approx(3 * one.joules / 20, rel=1e-3)
    assert found["joules_per_token_range"] == [
        pytest.approx(3 * one.low / 20, rel=1e-3),
        pytest.approx(3 * one.high / 20, rel=1e-3),
    ]
    ratio = found["ratio_to_plain"]
    assert ratio["of"] == "counted work"
    assert ratio["ratio"] == pytest.approx(estimate(WORK["plain"], known).joules / one.joules, abs=1e-3)
    assert ratio["range"][0] < ratio["ratio"] < ratio["range"][1]
    assert described(whole)["origin"] == "estimated"
    assert "Horowitz" in described(whole)["constants"]["joules_a_byte"]["source"]


def test_one_missing_measurement_makes_everything_an_estimate() -> None:
    whole = results(measured=True)
    whole.samples[3] = replace(whole.samples[3], joules=None)
    assert described(whole)["origin"] == "estimated"
    assert of_arm(whole, "plain") == of_arm(results(measured=False), "plain")


def test_a_battery_is_not_believed_on_short_answers() -> None:
    whole = results(measured=True)
    whole.sensor["slow"] = True
    assert described(whole)["origin"] == "estimated"
    assert of_arm(whole, "auto") == of_arm(results(measured=False), "auto")
    assert "gauge needs answers of 10 s" in render(report(whole), "text")
    whole.samples = [replace(s, wall_s=12.0, joules=6 + 6 * (s.joules or 0)) for s in whole.samples]
    assert described(whole)["origin"] == "measured"
    found = of_arm(whole, "auto")
    assert found is not None
    assert found["joules_per_answer"] == pytest.approx((6 + 54 - 12 + 6 + 108 - 12) / 2)


def test_answers_of_other_lengths_are_no_pair() -> None:
    whole = results(measured=True)
    whole.samples = [
        replace(s, generated_tokens=11) if s.arm == "auto" and s.prompt == 1 else s for s in whole.samples
    ]
    found = of_arm(whole, "auto")
    assert found is not None
    assert found["ratio_to_plain"]["ratio"] == pytest.approx(14 / 7)
    assert found["ratio_to_plain"]["prompts"] == 1


@pytest.mark.parametrize("measured", [True, False])
def test_the_report_in_every_form(measured: bool) -> None:
    whole = report(results(measured=measured))
    assert json.loads(render(whole, "json"))["arms"][1]["energy"]["joules_per_token"] > 0
    text = render(whole, "text")
    assert ("energy, measured" in text) == measured
    assert ("energy, estimated" in text) != measured
    assert ("by constants" in text) != measured
    assert ("without the 1.00 W of the idle machine" in text) == measured
    kind = "measured" if measured else "estimated"
    assert f"auto,energy.{kind}.joules_per_token," in render(whole, "csv")
    assert f"energy, {kind}" in render(whole, "markdown")


def test_without_sensor_and_counts_nothing_is_claimed() -> None:
    whole = results(measured=False)
    whole.samples = [replace(sample, work={}) for sample in whole.samples]
    made = report(whole)
    assert made["energy"] == {"origin": "unavailable"}
    assert made["arms"][0]["energy"] is None
    assert "energy" not in render(made, "text")


def test_the_watch_reads_around_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zone, clock = rapl(tmp_path, energy=0), Clock()
    whole = results(measured=False)
    source = powercap.find(tmp_path, clock)
    assert isinstance(source, powercap.Powercap)
    watch = Watch(whole, source)

    def rest(seconds: float) -> None:
        clock.now += seconds
        write(zone, energy_uj=int(3e6 * seconds))

    monkeypatch.setattr("mtp_cli.bench.energy.time.sleep", rest)
    monkeypatch.setattr("mtp_cli.bench.energy.time.monotonic", clock)
    watch.idle()
    assert whole.sensor["idle_watts"] == pytest.approx(3.0)
    with watch:
        clock.now += 1
        write(zone, energy_uj=11_000_000)
    assert watch.joules == pytest.approx(5.0)
    with watch:
        (zone / "energy_uj").unlink()
    assert watch.joules is None
    assert not watch.there
    assert whole.sensor == {}
    assert "gave up" in whole.notes[-1]
    with watch:
        pass
    assert watch.joules is None


def test_a_sensor_that_fails_at_once(tmp_path: Path) -> None:
    class Dead:
        name, scope, live = "dead", "nothing", True

        def begin(self) -> None:
            raise SourceLost("it is dead")

        def tick(self) -> None:
            raise AssertionError

        def joules(self) -> float:
            raise AssertionError

    whole = results(measured=False)
    watch = Watch(whole, Dead())
    watch.idle()
    assert not watch.there


def test_the_reference_is_counted_by_the_same_shapes() -> None:
    sample = Sample("reference", 0, 0, 600, 4, 3, 1.0, 1.0, 1.0, 2.5, 2.0)
    work = Work(**counted(sample, {}, {"shape": SHAPE}))
    assert (work.passes, work.columns) == (2 + 3, 600 + 3)
    assert work.bytes == 2 * 1000 + 400 + 3 * 1400
    assert work.multiply_adds == 600 * 2000 + 800 + 3 * 2800
    assert work.core_seconds == 2.5
    assert PassShape(**SHAPE).layer_bytes == 1000
    assert counted(sample, {}, {}) == {}
    native = replace(sample, arm="plain")
    told = {"passes": 1, "columns": 1, "bytes": 5.0, "multiply_adds": 6.0, "core_seconds": 9.0}
    assert counted(native, {"work": told}, {}) == {**told, "core_seconds": 2.5}
