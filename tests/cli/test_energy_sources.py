"""Sensors: the right joules from trees that a test builds, and what becomes of sensors that lie or go."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.sensors import Clock, battery, board, rapl, write
from mtp_cli.meters.energy import EnergyMeter
from mtp_cli.meters.estimate import constants_for, estimate
from mtp_cli.meters.sources import Refusal, SourceLost, apple, hwmon, perf, powercap, termux
from mtp_cli.meters.sources import battery as batteries
from mtp_cli.meters.sources.find import find_source
from mtp_cli.work import Work


def test_rapl_counts_packages_alone(tmp_path: Path) -> None:
    clock = Clock()
    one, two = rapl(tmp_path, 0), rapl(tmp_path, 1, energy=5)
    source = powercap.find(tmp_path, clock)
    assert isinstance(source, powercap.Powercap)
    source.begin()
    clock.now += 10
    write(one, energy_uj=1_000_000 + 42_500_000)
    write(two, energy_uj=5 + 7_500_000)
    assert source.joules() == pytest.approx(50.0)
    clock.now += 10
    write(two, energy_uj=5 + 8_500_000)
    assert source.joules() == pytest.approx(51.0)
    source.begin()
    assert source.joules() == 0


def test_rapl_wraps_around(tmp_path: Path) -> None:
    clock = Clock()
    zone = rapl(tmp_path, energy=65_000_000, highest=65_532_610)
    source = powercap.find(tmp_path, clock)
    assert isinstance(source, powercap.Powercap)
    source.begin()
    clock.now += 1
    write(zone, energy_uj=467_390)
    assert source.joules() == pytest.approx(1.0)
    for raw in (60_000_000, 467_390):  # another round
        clock.now += 10
        write(zone, energy_uj=raw)
        source.tick()
    assert source.joules() == pytest.approx(1.0 + 65.532610)


@pytest.mark.parametrize("raw", ["", "nonsense", "-5", "9" * 18, None])
def test_a_counter_that_makes_no_sense_ends_the_measurement(tmp_path: Path, raw: str | None) -> None:
    clock = Clock()
    zone = rapl(tmp_path)
    source = powercap.find(tmp_path, clock)
    assert isinstance(source, powercap.Powercap)
    source.begin()
    clock.now += 5
    if raw is None:
        (zone / "energy_uj").unlink()
    else:
        write(zone, energy_uj=raw)
    with pytest.raises(SourceLost):
        source.joules()


def test_rapl_that_only_root_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rapl(tmp_path)
    real = Path.read_text

    def read_text(path: Path, *args: object, **options: object) -> str:
        if path.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "read_text", read_text)
    found = powercap.find(tmp_path)
    assert isinstance(found, Refusal)
    assert "root" in found.why
    assert "chmod" in found.fix


@pytest.mark.parametrize("raw", ["", "x"])
def test_rapl_hidden_or_broken_from_the_start(tmp_path: Path, raw: str) -> None:
    rapl(tmp_path, energy=raw)
    assert isinstance(powercap.find(tmp_path), Refusal)
    (tmp_path / "sys/class/powercap/intel-rapl:0/energy_uj").unlink()
    assert isinstance(powercap.find(tmp_path), Refusal)


def perf_tree(root: Path) -> None:
    folder = write(root / "sys/bus/event_source/devices/power", type=23, cpumask="0,18")
    write(folder / "events", **{"energy-pkg": "event=0x02", "energy-pkg.scale": str(2.0**-32)})


def test_perf_events(tmp_path: Path) -> None:
    perf_tree(tmp_path)
    asked: list[tuple[int, int, int]] = []
    pipes: list[tuple[int, int]] = []

    def opener(kind: int, event: int, cpu: int) -> int:
        asked.append((kind, event, cpu))
        pipes.append(os.pipe())
        return pipes[-1][0]

    def put(*counts: int) -> None:
        for count, (_, end) in zip(counts, pipes, strict=True):
            os.write(end, struct.pack("=Q", count))

    clock = Clock()
    source = perf.find(tmp_path, clock, opener)
    assert isinstance(source, perf.Perf)
    assert asked == [(23, 2, 0), (23, 2, 18)]
    put(1 << 32, 0)
    source.begin()
    clock.now += 1
    put(4 << 32, 2 << 32)
    assert source.joules() == pytest.approx(5.0)
    for _, end in pipes:
        os.close(end)
    with pytest.raises(SourceLost):  # nothing more to read
        source.joules()


def test_perf_events_that_are_forbidden_or_missing(tmp_path: Path) -> None:
    def forbidden(kind: int, event: int, cpu: int) -> int:
        raise PermissionError(13, "no")

    assert perf.find(tmp_path, opener=forbidden) is None
    perf_tree(tmp_path)
    found = perf.find(tmp_path, opener=forbidden)
    assert isinstance(found, Refusal)
    assert "perf_event_paranoid" in found.fix


def test_a_board_sensor_is_summed_over_time(tmp_path: Path) -> None:
    clock = Clock()
    chip = board(tmp_path, power1_input=4_000_000)
    source = hwmon.find(tmp_path, clock)
    assert isinstance(source, hwmon.PowerSensor)
    source.begin()
    clock.now += 2
    write(chip, power1_input=6_000_000)
    source.tick()
    clock.now += 1
    assert source.joules() == pytest.approx(2 * 5 + 6)
    write(chip, power1_input=-1)
    with pytest.raises(SourceLost):
        source.joules()


def test_the_whole_board_goes_before_a_part_of_it(tmp_path: Path) -> None:
    rails: dict[str, object] = {
        "in1_label": "VDD_GPU",
        "in1_input": 19_000,
        "curr1_input": 9_000,
        "in2_label": "VDD_IN",
        "in2_input": 19_000,
        "curr2_input": -500,
        "in3_label": "VDD_CPU",
        "in3_input": 5_000,
        "curr3_input": 100,
    }
    board(tmp_path, "ina3221", 1, **rails)
    source = hwmon.find(tmp_path, Clock())
    assert source is not None
    assert (source.name, source.scope) == ("hwmon ina3221 VDD_IN", "whole board")
    source.begin()
    assert isinstance(source, hwmon.PowerSensor)
    assert source._read() == pytest.approx(9.5)


@pytest.mark.parametrize("chip", ["amdgpu", "nvme", "nouveau", "BAT0", ""])
def test_powers_of_other_things_are_no_source(tmp_path: Path, chip: str) -> None:
    board(tmp_path, chip, power1_input=4_000_000)
    assert hwmon.find(tmp_path) is None


def test_sockets_of_amd_energy(tmp_path: Path) -> None:
    clock = Clock()
    chip = board(
        tmp_path,
        "amd_energy",
        energy1_label="Ecore000",
        energy1_input=7,
        energy2_label="Esocket0",
        energy2_input=1_000_000,
    )
    source = hwmon.find(tmp_path, clock)
    assert isinstance(source, hwmon.EnergySensor)
    source.begin()
    clock.now += 1
    write(chip, energy1_input=9_000_000, energy2_input=4_000_000)
    assert source.joules() == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("current", "voltage"),
    [(-400_000, 3_900_000), (400_000, 3_900_000), (-400, 3_900), (400, 3_900_000), (400_000, 3_900)],
)
def test_battery_units_and_signs(tmp_path: Path, current: int, voltage: int) -> None:
    clock = Clock()
    battery(tmp_path, current_now=current, voltage_now=voltage)
    source = batteries.find(tmp_path, clock)
    assert isinstance(source, batteries.Battery)
    source.begin()
    clock.now += 10
    assert source.joules() == pytest.approx(15.6)


def test_a_laptop_tells_its_power(tmp_path: Path) -> None:
    battery(tmp_path, power_now=7_200_000, current_now="x")
    assert batteries.watts(tmp_path / "sys/class/power_supply") == pytest.approx(7.2)


def test_the_battery_of_a_mouse_is_no_source(tmp_path: Path) -> None:
    battery(tmp_path, scope="Device")
    assert batteries.find(tmp_path) is None


@pytest.mark.parametrize("status", ["Charging", "Full", "Not charging"])
def test_a_charging_battery_is_refused(tmp_path: Path, status: str) -> None:
    battery(tmp_path, status=status)
    found = batteries.find(tmp_path)
    assert isinstance(found, Refusal)
    assert status.lower() in found.why
    assert "unplug" in found.fix


def test_a_connected_charger_is_refused_whatever_the_battery_says(tmp_path: Path) -> None:
    battery(tmp_path)
    write(tmp_path / "sys/class/power_supply/usb", type="USB", online=1)
    assert isinstance(batteries.find(tmp_path), Refusal)


@pytest.mark.parametrize("files", [{"voltage_now": 17}, {"voltage_now": ""}, {"current_now": 0}])
def test_a_battery_that_makes_no_sense(tmp_path: Path, files: dict[str, object]) -> None:
    battery(tmp_path, **files)
    assert isinstance(batteries.find(tmp_path), Refusal)


def test_the_battery_is_read_between_answers_alone(tmp_path: Path) -> None:
    clock = Clock()
    supply = battery(tmp_path)
    meter = EnergyMeter(batteries.find(tmp_path, clock), lambda: None, clock=clock)  # type: ignore[arg-type]
    meter.begin()
    clock.now += 30
    write(supply, current_now=-1_000_000)
    meter.tick()
    assert meter.so_far().joules is None
    meter.pause()
    clock.now += 30
    write(supply, current_now=-2_000_000)
    found = meter.read()
    assert found.joules == pytest.approx(60 * 1.5 * 3.9)
    assert found.origin == "measured"


def answer(**fields: object) -> str:
    known: dict[str, object] = {"plugged": "UNPLUGGED", "status": "DISCHARGING", "current": -500_000}
    return json.dumps({**known, **fields})


def test_termux() -> None:
    assert termux.watts(answer(voltage=4000)) == pytest.approx(2.0)
    assert termux.watts(answer()) == pytest.approx(0.5 * 3.85)
    source = termux.find(Clock(), lambda: answer(voltage=4000))
    assert isinstance(source, batteries.Battery)
    charging = termux.find(ask=lambda: answer(plugged="PLUGGED_AC"))
    assert isinstance(charging, Refusal)
    assert "charger" in charging.why
    for nonsense in ("", "{}", "[]", "null", answer(current=None), answer(current=0), answer(voltage=1)):
        assert isinstance(termux.find(ask=lambda said=nonsense: said), Refusal), nonsense  # type: ignore[misc]


def test_apple(monkeypatch: pytest.MonkeyPatch) -> None:
    totals = iter([(1000, 500), (1000, 500), (4000, None), (1, 1)])

    class Monitor:
        def get_cumulative_energy(self) -> SimpleNamespace:
            cpu, memory = next(totals)
            return SimpleNamespace(cpu_total_mj=cpu, dram_mj=memory)

    assert apple.find("linux", "aarch64") is None
    monkeypatch.setitem(__import__("sys").modules, "zeus_apple_silicon", None)
    assert isinstance(apple.find("darwin", "arm64"), Refusal)
    package = SimpleNamespace(AppleEnergyMonitor=Monitor)
    monkeypatch.setitem(__import__("sys").modules, "zeus_apple_silicon", package)
    source = apple.find("darwin", "arm64")
    assert isinstance(source, apple.Apple)
    source.begin()
    assert source.joules() == pytest.approx(2.5)
    with pytest.raises(SourceLost):
        source.joules()


def test_order_of_trust(tmp_path: Path) -> None:
    battery(tmp_path)
    assert find_source(tmp_path, live_only=True).source is None
    found = find_source(tmp_path).source
    assert found is not None
    assert found.name == "battery"
    board(tmp_path, power1_input=4_000_000)
    found = find_source(tmp_path).source
    assert found is not None
    assert found.name == "hwmon ina226"
    rapl(tmp_path)
    found = find_source(tmp_path).source
    assert found is not None
    assert found.name == "RAPL (powercap)"


def test_a_sensor_that_goes_away_leaves_an_estimate_and_says_so(tmp_path: Path) -> None:
    clock = Clock()
    zone = rapl(tmp_path)
    done = [Work()]
    meter = EnergyMeter(find_source(tmp_path, clock=clock).source, lambda: done[0], clock=clock)
    meter.begin()
    clock.now += 1
    write(zone, energy_uj=4_000_000)
    found = meter.read()
    assert (found.origin, found.joules, found.scope) == ("measured", pytest.approx(3.0), "CPU package")
    assert found.record(6)["joules_per_token"] == 0.5
    (zone / "energy_uj").unlink()
    done[0] = Work(3, 9, 3e9, 9e9, 2.0)
    clock.now += 1
    meter.tick()
    found = meter.read()
    assert found.origin == "estimated"
    assert found.joules == pytest.approx(estimate(done[0], constants_for()).joules)
    assert "RAPL (powercap) gave up" in found.note
    assert "gave up" in found.record(0)["note"]
    assert found.record(0)["joules_per_token"] == "unavailable"


def test_without_anything_it_is_unavailable() -> None:
    meter = EnergyMeter(None, lambda: None)
    meter.begin()
    assert meter.read().record(5) == {"origin": "unavailable"}
