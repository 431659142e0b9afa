"""Energy as a person and a program see it: -v, JSON and the live line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cli.fake_engine import FakeEngine
from cli.sensors import Clock, rapl, write
from mtp_cli.events import EndEvent, FinishReason, StepEvent
from mtp_cli.meters.energy import Energy, EnergyMeter
from mtp_cli.meters.estimate import constants_for, estimate
from mtp_cli.meters.time import RunMeter
from mtp_cli.view.timing import joules, short
from mtp_cli.work import Work

Mtp = Callable[..., Any]


class Heater(FakeEngine):
    """Takes a joule for each pass, as a counter of RAPL tells; it may break on the way."""

    def __init__(self, zone: Path, *, breaks: bool = False) -> None:
        super().__init__(lambda prompt: " Cats sleep all day.")
        self._zone, self._breaks = zone, breaks

    def decode(self, tokens: Sequence[int]) -> list[int]:
        found = super().decode(tokens)
        write(self._zone, energy_uj=5_000_000 + 1_000_000 * self.passes)
        if self._breaks and self.passes == 3:
            (self._zone / "energy_uj").unlink()
            self._zone = self._zone / "gone"
        return found


@pytest.fixture
def zone(tmp_path: Path) -> Path:
    return rapl(tmp_path / "no-sensors", energy=5_000_000)


@pytest.mark.parametrize("command", ["summarize", "proofread"])
def test_measured_joules_in_json_and_with_v(mtp: Mtp, zone: Path, command: str) -> None:
    engine = Heater(zone)
    done = mtp(engine, command, "-v", "--format", "json", stdin="Cats sleep all day.")
    found = json.loads(done.text)["timing"]
    tokens = found["generated_tokens"]
    assert found["energy"] == {
        "origin": "measured",
        "source": "RAPL (powercap)",
        "scope": "CPU package",
        "joules": engine.passes,
        "joules_per_token": pytest.approx(engine.passes / tokens, rel=1e-3),
        "idle": "included",
    }
    label = "(measured: RAPL (powercap), CPU package, idle power included)"
    assert f"energy:               {engine.passes:.2f} J {label}\n" in done.err
    assert re.search(r"^energy per token: +[\d.]+ J \(measured, prompts included\)$", done.err, re.MULTILINE)


def test_a_sensor_that_vanishes_midway(mtp: Mtp, zone: Path) -> None:
    engine = Heater(zone, breaks=True)
    done = mtp(engine, "summarize", "-v", "--format", "json", stdin="Cats sleep all day.")
    found = json.loads(done.text)["timing"]["energy"]
    assert engine.work is not None
    one = estimate(engine.work, constants_for())
    assert found["origin"] == "estimated"
    assert found["source"] == "counted work"
    assert found["joules"] == pytest.approx(one.joules, rel=1e-3)
    assert found["range"] == [pytest.approx(one.low, rel=1e-3), pytest.approx(one.high, rel=1e-3)]
    assert found["note"] == "RAPL (powercap) gave up: its counter cannot be read any more"
    assert "gave up" in done.err


def test_nobody_asked_nobody_looks(mtp: Mtp, zone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def look(*args: object, **options: object) -> None:
        raise AssertionError("looked for sensors")

    monkeypatch.setattr("mtp_cli.meters.sources.find.find_source", look)
    done = mtp(Heater(zone), "summarize", stdin="Cats sleep all day.")
    assert (done.code, done.err) == (0, "")


def test_jsonl_has_it_too(mtp: Mtp, zone: Path) -> None:
    done = mtp(Heater(zone), "summarize", "--format", "jsonl", stdin="Cats sleep all day.")
    assert json.loads(done.text.splitlines()[-1])["timing"]["energy"]["origin"] == "measured"


def test_the_live_line_says_whether_it_is_an_estimate() -> None:
    work = [Work()]
    meter = RunMeter(energy=EnergyMeter(None, lambda: work[0]))
    meter.prompt_begins()
    assert meter.joules_per_token is None
    work[0] = Work(core_seconds=2.0)
    for _ in range(4):
        meter.feed(StepEvent(5, "a", "backbone", 1, 0.1))
    each = 2.0 * constants_for().watts.usual / 4
    assert meter.joules_per_token == (pytest.approx(each), True)


def test_readings_are_few() -> None:
    class Counting:
        name, scope, live = "s", "x", True

        def __init__(self) -> None:
            self.ticks = 0

        def begin(self) -> None:
            pass

        def tick(self) -> None:
            self.ticks += 1

        def joules(self) -> float:
            return 1.0

    clock, source = Clock(), Counting()
    meter = RunMeter(energy=EnergyMeter(source, lambda: None, clock=clock))
    meter.prompt_begins()
    for _ in range(1000):
        clock.now += 0.01
        meter.feed(StepEvent(5, "a", "backbone", 1, 0.1))
    assert 30 <= source.ticks <= 41
    source.live, source.ticks = False, 0
    for _ in range(100):
        clock.now += 1
        meter.feed(EndEvent(FinishReason.END_TOKEN, "", 1, 1, 0, 0, 0.1))
    assert 4 <= source.ticks <= 6


def test_words() -> None:
    assert [short(value) for value in (1234.5, 12.345, 0.012345, 0.0)] == ["1234", "12.3", "0.0123", "0"]
    assert joules(None) == "unavailable"
    assert joules(Energy(None, "unavailable", note="it broke")) == "unavailable; it broke"
    told = Energy(4.0, "estimated", "counted work", "x", 1.0, 16.0)
    assert joules(told) == "4.00 J, 1.00 to 16.0 (estimated from counted work)"
