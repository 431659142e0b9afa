"""How warm the CPU is, from trees that a test builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.sensors import cooler, throttles, write, zone
from mtp_cli.meters.thermal import Thermal, celsius_of, of_pmset, read_thermal, slowed_between


def test_the_hottest_sensor_of_the_cpu_and_its_limit(tmp_path: Path) -> None:
    zone(tmp_path)
    zone(tmp_path, 1, type="cpu-1-0-usr", temp=70_000, trip_point_1_temp=85_000)
    zone(tmp_path, 2, type="battery", temp=99_000)
    found = read_thermal(tmp_path, "linux")
    assert (found.celsius, found.limit, found.slowed) == (70.0, 85.0, False)
    assert found.words() == "70 °C, slowed down from 85 °C on"
    assert found.record()["state"] == "fine"
    zone(tmp_path, 1, temp=85_000, type="cpu-1-0-usr", trip_point_1_temp=85_000)
    assert read_thermal(tmp_path, "linux").slowed


def test_cooling_devices_at_work(tmp_path: Path) -> None:
    device = cooler(tmp_path, 0)
    assert not read_thermal(tmp_path, "linux").slowed
    write(device, cur_state=3)
    found = read_thermal(tmp_path, "linux")
    assert found.cooling == ("Processor",)
    assert found.record()["state"] == "slowed down"
    write(device, cur_state=300)  # more than there is
    assert not read_thermal(tmp_path, "linux").slowed
    write(device, type="Fan", cur_state=3)
    assert not read_thermal(tmp_path, "linux").slowed


def test_throttle_counts_before_and_after(tmp_path: Path) -> None:
    throttles(tmp_path, 4)
    throttles(tmp_path, 7, cpu=3)
    before = read_thermal(tmp_path, "linux")
    assert before.throttled == 7
    assert slowed_between(before, before) == ""
    throttles(tmp_path, 9, cpu=3)
    assert "throttled 2 time(s)" in slowed_between(before, read_thermal(tmp_path, "linux"))
    assert "throttled 9 time(s) since" in read_thermal(tmp_path, "linux").words()
    cooler(tmp_path, 1)
    assert "Processor" in slowed_between(read_thermal(tmp_path, "linux"), read_thermal(tmp_path, "linux"))


@pytest.mark.parametrize("temp", ["", "hot", 999_999, -274_000, "9" * 40])
def test_nonsense_is_not_known(tmp_path: Path, temp: object) -> None:
    zone(tmp_path, temp=temp)
    write(throttles(tmp_path, "x"), core_throttle_count=-1)
    cooler(tmp_path, "-1")
    found = read_thermal(tmp_path, "linux")
    assert not found.known
    assert found.record() == {"state": "unavailable"}
    assert found.words() == "unavailable"


def test_nothing_there(tmp_path: Path) -> None:
    assert read_thermal(tmp_path, "linux") == Thermal()


@pytest.mark.parametrize(
    ("raw", "celsius"), [(45_000, 45.0), (45, 45.0), (452, 45.2), (-5_000, -5.0), (None, None)]
)
def test_units_of_temperatures(raw: int | None, celsius: float | None) -> None:
    assert celsius_of(raw) == celsius


def test_macs() -> None:
    assert of_pmset(lambda: "CPU_Speed_Limit \t= 100").words() == "not slowed down"
    assert of_pmset(lambda: "").words() == "unavailable"
    slow = of_pmset(lambda: "CPU_Speed_Limit \t= 62")
    assert slow.slowed
    assert "62 %" in slow.words()
    assert of_pmset(lambda: "Note: No thermal warning level has been recorded").record()["state"] == "fine"
    assert of_pmset(lambda: "thermal warning level set to 2").slowed
