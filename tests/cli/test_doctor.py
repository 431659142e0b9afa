"""`mtp doctor`: it answers whatever is missing, and its exit code says whether mtp can work."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from cli.catalog_fakes import Shop
from cli.sensors import battery, rapl, write, zone
from mtp_cli import catalog
from mtp_cli.commands import doctor, termux

runner = CliRunner()


def invoke(*arguments: str) -> tuple[int, str]:
    """(exit code, stdout) of `mtp doctor ARGUMENTS`."""
    app = typer.Typer()
    doctor.register(app)
    app.callback()(lambda: None)
    result = runner.invoke(app, ["doctor", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the native module says of this machine."""
    said: dict[str, Any] = {
        "compiled": ["avx512_vnni", "avx2", "emulated_vnni", "scalar"],
        "usable": ["avx2", "emulated_vnni", "scalar"],
        "features": ["avx2", "fma", "f16c"],
    }
    monkeypatch.setattr("mtp_cli.engine.kernel_sets", lambda: said)
    real = doctor.importlib.util.find_spec
    monkeypatch.setattr(
        doctor.importlib.util, "find_spec", lambda name: real("json") if name == "llama_cpp" else real(name)
    )
    return said


def test_ready(shop: Shop, native: dict[str, Any]) -> None:
    catalog.resolve("tiny")
    code, out = invoke()
    assert code == 0
    lines = {line.split("  ")[0]: line for line in out.splitlines()}
    assert lines["kernel"].split() == ["kernel", "avx2"]
    assert "avx2 fma f16c" in lines["cpu features"]
    assert "tiny: ready (default)" in lines["model"]
    assert lines["energy"].endswith("estimated: counted work, cores at work and memory")
    assert str(catalog.cache_dir()) in lines["cache folder"]
    assert out.endswith("mtp is ready to use\n")
    assert "usable: avx2, emulated_vnni, scalar" in invoke("-v")[1]


def test_json(shop: Shop, native: dict[str, Any]) -> None:
    catalog.resolve("tiny")
    code, out = invoke("--format", "json")
    report = json.loads(out)
    assert (code, report["usable"]) == (0, True)
    assert report["engine"]["kernel"] == "avx2"
    assert report["memory"]["total_bytes"] > report["memory"]["available_bytes"] > 0
    assert report["cpu"]["threads_chosen"] >= 1
    assert report["models"][0]["state"] == "ready"
    assert report["energy"] == {
        "origin": "estimated",
        "source": "counted work",
        "scope": "cores at work and memory",
        "refused": [],
    }


def test_missing_default_model(shop: Shop, native: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out = invoke()
    assert code == 0  # it is fetched at first use
    assert "fetched at first use\n  -> mtp models pull tiny" in out
    monkeypatch.setenv("MTP_OFFLINE", "1")
    code, out = invoke()
    assert code == 3
    assert "problem: the default model tiny is not fetched" in out


def test_damaged_model_is_named(shop: Shop, native: dict[str, Any]) -> None:
    shop.target.parent.mkdir(parents=True)
    shop.target.write_bytes(b"?")
    assert "tiny: damaged" in invoke()[1]


def test_native_module_missing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mtp_cli._native", None)
    monkeypatch.delattr("mtp_cli._native", raising=False)
    code, out = invoke()
    assert code == 2
    assert "problem: the native module does not load" in out
    assert out.endswith("mtp cannot be used yet\n")
    report = json.loads(invoke("--format", "json")[1])
    assert report["engine"] == {"native_module": False, "kernel": "unavailable", "kernels_usable": []}


def test_native_module_broken(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtp_cli.engine.kernel_sets", lambda: {})
    code, out = invoke()
    assert code == 2
    assert "not usable" in out


def test_scalar_only_is_a_note(shop: Shop, native: dict[str, Any]) -> None:
    native["usable"] = ["scalar"]
    code, out = invoke()
    assert code == 0
    assert "note: no fast kernel" in out


def test_little_memory(
    shop: Shop, native: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By /proc, and by psutil where there is none."""
    monkeypatch.setattr("mtp_cli.meters.memory.ROOT", tmp_path)
    (tmp_path / "proc").mkdir()
    meminfo = tmp_path / "proc" / "meminfo"
    meminfo.write_text("MemTotal:  2000000 kB\nMemFree:  5 kB\nMemAvailable:  200000 kB\n")
    assert "only 204.8 MB of memory is free" in invoke()[1]
    meminfo.write_text("MemTotal: some kB\n")
    fake = ModuleType("psutil")
    fake.virtual_memory = lambda: type("M", (), {"total": 10**9, "available": 10**8})  # type: ignore[attr-defined]
    fake.cpu_count = lambda logical: 4  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "psutil", fake)
    assert "only 100.0 MB of memory is free" in invoke()[1]


def test_energy_that_only_root_may_read(
    shop: Shop, native: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.resolve("tiny")
    root = tmp_path / "no-sensors"
    rapl(root)
    real = Path.read_text

    def read_text(path: Path, *args: Any, **options: Any) -> str:
        if path.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **options)

    monkeypatch.setattr(Path, "read_text", read_text)
    code, out = invoke()
    assert code == 0
    assert out.count("RAPL") == 1
    assert "note: energy is not measured by RAPL (powercap): only root may read the energy counters" in out
    assert "sudo chmod o+r /sys/class/powercap/intel-rapl:*/energy_uj" in out
    monkeypatch.setattr(Path, "read_text", real)
    report = json.loads(invoke("--format", "json")[1])
    assert report["energy"]["origin"] == "measured"
    assert report["energy"]["source"] == "RAPL (powercap)"


def test_charging_and_heat(shop: Shop, native: dict[str, Any], tmp_path: Path) -> None:
    catalog.resolve("tiny")
    root = tmp_path / "no-sensors"
    battery(root, status="Charging")
    zone(root, temp=97_000)
    out = invoke()[1]
    assert "-> unplug the charger to measure" in out
    assert "heat" in out
    assert "97 °C, slowed down from 95 °C on" in out
    assert "-> let it cool down" in out
    report = json.loads(invoke("--format", "json")[1])
    assert report["thermal"]["state"] == "slowed down"
    assert report["energy"]["refused"][0]["name"] == "battery"


def test_why_there_are_so_few_threads(
    shop: Shop, native: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.resolve("tiny")
    root = tmp_path / "cores"
    monkeypatch.setattr("mtp_cli.threads.ROOT", root)
    monkeypatch.setattr("mtp_cli.threads.allowed_cpus", lambda: list(range(8)))
    for cpu in range(8):
        folder = write(root / f"sys/devices/system/cpu/cpu{cpu}", cpu_capacity=1024 if cpu > 3 else 400)
        write(folder / "topology", core_id=cpu, physical_package_id=0)
    write(root / "sys/fs/cgroup", **{"cpu.max": "350000 100000"})
    out = invoke()[1]
    assert "3 (4 fast cores, 4 slow ones left alone; this container may use 3.5 CPUs)" in out
    report = json.loads(invoke("--format", "json")[1])
    assert (report["cpu"]["fast_cores"], report["cpu"]["slow_cores"]) == (4, 4)


@pytest.mark.parametrize("meminfo", [True, False])
def test_without_psutil_and_numpy(
    shop: Shop, native: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meminfo: bool
) -> None:
    """Both missing: memory by /proc or unavailable; notes, and mtp is ready."""
    catalog.resolve("tiny")
    monkeypatch.setitem(sys.modules, "psutil", None)
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.setattr("mtp_cli.meters.memory.ROOT", tmp_path)
    if meminfo:
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc" / "meminfo").write_text("MemTotal: 4000000 kB\nMemAvailable: 3000000 kB\n")
    code, out = invoke()
    assert code == 0
    assert "note: numpy does not load" in out
    assert "-> pip install numpy" in out
    assert "note: psutil does not load" in out
    assert out.endswith("mtp is ready to use\n")
    memory = json.loads(invoke("--format", "json")[1])["memory"]
    want: dict[str, Any] = {"total_bytes": 4_096_000_000, "available_bytes": 3_072_000_000}
    assert memory == (want if meminfo else dict.fromkeys(want, "unavailable"))


def test_broken_psutil(
    shop: Shop, native: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that loads and then fails, as where /proc may not be read."""
    fake = ModuleType("psutil")

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", "/proc/stat")

    fake.virtual_memory = fake.cpu_count = refuse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "psutil", fake)
    monkeypatch.setattr("mtp_cli.meters.memory.ROOT", tmp_path)
    monkeypatch.setattr("mtp_cli.threads.ROOT", tmp_path)
    catalog.resolve("tiny")
    code, out = invoke()
    assert code == 0
    assert "unavailable total, unavailable free" in out


def test_termux(shop: Shop, native: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog.resolve("tiny")
    monkeypatch.setenv("TERMUX_VERSION", "0.119")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("mtp_cli.commands.termux._android_level", lambda: 33)
    monkeypatch.setitem(sys.modules, "psutil", None)
    code, out = invoke()
    assert code == 0
    assert "-> pkg install python-psutil" in out
    assert "termux-setup-storage" in out
    assert "termux-wake-lock" in out
    assert "settings_enable_monitor_phantom_procs false" in out
    (tmp_path / "storage" / "shared").mkdir(parents=True)
    out = invoke("--format", "json")[1]
    assert json.loads(out)["termux"] == {"version": "0.119", "android": 33, "storage": True}
    assert "termux-setup-storage" not in out


def test_no_word_of_termux_elsewhere(
    shop: Shop, native: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TERMUX_VERSION", raising=False)
    monkeypatch.setenv("PREFIX", "/usr")
    out = invoke("--format", "json")[1]
    assert "termux-wake-lock" not in out
    assert "termux" not in json.loads(out)
    monkeypatch.setenv("PREFIX", "/data/data/com.termux/files/usr")
    assert "termux-wake-lock" in invoke("--format", "json")[1]


@pytest.mark.parametrize(
    ("level", "word"),
    [
        (0, ""),
        (30, ""),
        (31, "max_phantom_processes"),
        (32, "settings_enable_monitor_phantom_procs"),
        (33, "settings_enable_monitor_phantom_procs"),
        (34, "Disable child process restrictions"),
        (36, "Disable child process restrictions"),
    ],
)
def test_who_ends_programs_in_the_background(level: int, word: str) -> None:
    fixes = " ".join(fix for _, fix in termux.look({"HOME": "/nowhere"}, lambda: level).hints)
    words = ("max_phantom_processes", "settings_enable_monitor_phantom_procs", "Disable child process")
    assert [one for one in words if one in fixes] == [one for one in words if one in word]
