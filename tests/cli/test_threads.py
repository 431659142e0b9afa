"""Threads by the cores that trees of a test have: fast ones only, and no more than a quota leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.sensors import write
from mtp_cli import threads
from mtp_cli.cores.apple import performance_cores
from mtp_cli.cores.layout import cpu_list, read_layout
from mtp_cli.cores.quota import cpu_quota
from mtp_cli.threads import default_threads, keep_to_fast_cores

CPUS = "sys/devices/system/cpu"


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """CPUs that the process may run on: 0 to 63, unless a test changes the list."""
    cpus = list(range(64))
    monkeypatch.setattr(threads, "allowed_cpus", lambda: cpus)
    monkeypatch.delenv("MTP_PIN", raising=False)
    return cpus


def machine(root: Path, cores: list[dict[str, object]], siblings: bool = True) -> Path:
    """`cores`: for each its `cpus`, and `capacity`, `khz`, `cluster`, `package` where they are told."""
    total = 0
    for number, core in enumerate(cores):
        cpus = core["cpus"]
        assert isinstance(cpus, list)
        for cpu in cpus:
            total = max(total, cpu + 1)
            folder = write(root / CPUS / f"cpu{cpu}")
            files: dict[str, object] = {
                "core_id": core.get("id", number),
                "physical_package_id": core.get("package", 0),
                "cluster_id": core.get("cluster", 0),
            }
            if siblings:
                files["thread_siblings_list"] = ",".join(map(str, cpus))
            write(folder / "topology", **files)
            if "capacity" in core:
                write(folder, cpu_capacity=core["capacity"])
            if "khz" in core:
                write(folder / "cpufreq", cpuinfo_max_freq=core["khz"])
    write(root / CPUS, online=f"0-{total - 1}")
    return root


def plain(count: int, first: int = 0, **files: object) -> list[dict[str, object]]:
    """Cores of one thread each."""
    return [{"cpus": [first + i], **files} for i in range(count)]


def paired(count: int, first: int = 0, **files: object) -> list[dict[str, object]]:
    """Cores of two threads each."""
    return [{"cpus": [first + 2 * i, first + 2 * i + 1], **files} for i in range(count)]


def test_cores_all_alike(tmp_path: Path, allowed: list[int]) -> None:
    del allowed[6:]
    assert default_threads(machine(tmp_path, plain(6))) == 6
    assert keep_to_fast_cores(6, tmp_path) == ()


def test_two_threads_a_core_count_once(tmp_path: Path, allowed: list[int]) -> None:
    del allowed[16:]
    assert default_threads(machine(tmp_path, paired(8, khz=4_700_000))) == 8
    assert keep_to_fast_cores(8, tmp_path) == ()


def test_favoured_cores_are_no_other_kind(tmp_path: Path, allowed: list[int]) -> None:
    del allowed[16:]
    cores = [*paired(2, khz=5_000_000), *paired(6, first=4, khz=4_600_000)]
    assert default_threads(machine(tmp_path, cores)) == 8


@pytest.mark.parametrize("told", ["capacity", "khz"])
def test_big_little(tmp_path: Path, allowed: list[int], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    del allowed[8:]
    monkeypatch.setattr("mtp_cli.cores.layout.platform.machine", lambda: "aarch64")
    little, big = {"capacity": (450, 1024), "khz": (1_900_000, 2_450_000)}[told]
    # clusters that number their cores from 0 each, the slow one first
    cores = [{"cpus": [i], "id": i % 4, "cluster": i // 4, told: big if i > 3 else little} for i in range(8)]
    machine(tmp_path, cores, siblings=False)
    found = read_layout(tmp_path, allowed)
    assert found is not None
    assert found.fast == ((4,), (5,), (6,), (7,))
    assert default_threads(tmp_path) == 4
    assert found.words() == "4 fast cores, 4 slow left alone"


def test_one_prime_three_large_and_four_small(tmp_path: Path, allowed: list[int]) -> None:
    del allowed[8:]
    cores = [*plain(4, capacity=280), *plain(3, first=4, capacity=780), *plain(1, first=7, capacity=1024)]
    assert default_threads(machine(tmp_path, cores)) == 4


def test_never_the_small_ones_however_many(tmp_path: Path, allowed: list[int]) -> None:
    del allowed[8:]
    cores = [*plain(6, capacity=500), *plain(2, first=6, capacity=1024)]
    assert default_threads(machine(tmp_path, cores)) == 2


def test_a_lone_prime_core_is_not_all(tmp_path: Path, allowed: list[int]) -> None:
    """One core of 1024 against five of 614 and more: the five are worth more."""
    del allowed[8:]
    cores = [*plain(3, capacity=300), *plain(4, first=3, capacity=614), *plain(1, first=7, capacity=1024)]
    assert default_threads(machine(tmp_path, cores)) == 5


def hybrid(root: Path) -> Path:
    """6 performance cores of two threads, 8 efficiency cores, 2 low-power ones."""
    cores = [
        *paired(6, khz=5_000_000),
        *plain(8, first=12, khz=3_800_000),
        *plain(2, first=20, khz=2_500_000),
    ]
    machine(root, cores)
    write(root / "sys/devices/cpu_core", cpus="0-11")
    write(root / "sys/devices/cpu_atom", cpus="12-21")
    return root


def test_hybrid_intel(tmp_path: Path, allowed: list[int]) -> None:
    del allowed[22:]
    assert default_threads(hybrid(tmp_path)) == 6
    allowed[:] = [0, 2, 12, 13]
    assert default_threads(tmp_path) == 2
    allowed[:] = [12, 13, 14]  # efficiency cores are all that is allowed: they are used
    assert default_threads(tmp_path) == 3


def test_compact_cores_of_x86_count(tmp_path: Path, allowed: list[int]) -> None:
    del allowed[6:]
    cores = [*plain(2, khz=4_900_000), *plain(4, first=2, khz=3_500_000)]
    machine(tmp_path, cores)
    found = read_layout(tmp_path, allowed, "x86_64")
    assert found is not None
    assert len(found.fast) == 6


def test_only_allowed_cpus_that_are_on_line(tmp_path: Path, allowed: list[int]) -> None:
    machine(tmp_path, plain(8))
    allowed[:] = [1, 2, 3, 6, 7]
    write(tmp_path / CPUS, online="0-5,7")
    (tmp_path / CPUS / "cpu6/topology/core_id").unlink()  # as of a CPU that is off line
    assert default_threads(tmp_path) == 4


@pytest.mark.parametrize("value", ["", "-1", "0", "fast", "9" * 30, "1024\x00"])
def test_nonsense_counts_as_all_alike(tmp_path: Path, allowed: list[int], value: str) -> None:
    del allowed[4:]
    cores = [*plain(2, capacity=value), *plain(2, first=2, capacity=1024)]
    assert default_threads(machine(tmp_path, cores)) == 4


def test_a_tree_that_cannot_be_read(tmp_path: Path, allowed: list[int]) -> None:
    del allowed[6:]
    assert default_threads(tmp_path / "nothing") == 3
    assert keep_to_fast_cores(3, tmp_path / "nothing") == ()
    allowed[:] = [5]
    assert default_threads(tmp_path / "nothing") == 1


@pytest.mark.parametrize(
    ("quota", "count"),
    [("max 100000", 8), ("400000 100000", 4), ("250000 100000", 2), ("50000 100000", 1), ("x y", 8), ("", 8)],
)
def test_quota_of_a_container(tmp_path: Path, allowed: list[int], quota: str, count: int) -> None:
    del allowed[8:]
    machine(tmp_path, plain(8))
    write(tmp_path / "proc/self", cgroup="0::/")
    write(tmp_path / "sys/fs/cgroup", **{"cpu.max": quota})
    assert default_threads(tmp_path) == count


def test_the_least_quota_of_all_groups_around_counts(tmp_path: Path) -> None:
    write(tmp_path / "proc/self", cgroup="0::/a/b")
    write(tmp_path / "sys/fs/cgroup/a", **{"cpu.max": "300000 100000"})
    write(tmp_path / "sys/fs/cgroup/a/b", **{"cpu.max": "max 100000"})
    assert cpu_quota(tmp_path) == 3
    write(tmp_path / "proc/self", cgroup="0::/../elsewhere")
    assert cpu_quota(tmp_path) is None


def test_quota_of_the_older_control_groups(tmp_path: Path) -> None:
    write(tmp_path / "proc/self", cgroup="4:memory:/x\n3:cpu,cpuacct:/x\n0::/")
    group = write(tmp_path / "sys/fs/cgroup/cpu,cpuacct/x", **{"cpu.cfs_quota_us": 150_000})
    assert cpu_quota(tmp_path) is None
    write(group, **{"cpu.cfs_period_us": 100_000})
    assert cpu_quota(tmp_path) == 1.5
    write(group, **{"cpu.cfs_quota_us": -1})
    assert cpu_quota(tmp_path) is None


def test_binding_to_fast_cores(tmp_path: Path, allowed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[tuple[int, ...]] = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cpus: bound.append(tuple(cpus)), raising=False)
    del allowed[22:]
    hybrid(tmp_path)
    assert keep_to_fast_cores(6, tmp_path) == tuple(range(12))
    assert keep_to_fast_cores(7, tmp_path) == ()  # more threads than fast cores were asked for
    monkeypatch.setenv("MTP_PIN", "0")
    assert keep_to_fast_cores(6, tmp_path) == ()
    assert bound == [tuple(range(12))]


def test_binding_that_is_forbidden_is_left(
    tmp_path: Path, allowed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(pid: int, cpus: object) -> None:
        raise PermissionError(1, "no")

    monkeypatch.setattr(os, "sched_setaffinity", forbidden, raising=False)
    assert keep_to_fast_cores(6, hybrid(tmp_path)) == ()


def test_cpu_lists() -> None:
    assert cpu_list("0-3,8,10-11") == {0, 1, 2, 3, 8, 10, 11}
    assert cpu_list("") == set()
    assert cpu_list("x,3-1,-2,5,0-999999999") == {5}


def test_macs() -> None:
    told = {"hw.perflevel0.physicalcpu": "8\n", "hw.physicalcpu": "10\n"}
    assert performance_cores("darwin", lambda name: told[name]) == 8
    assert performance_cores("darwin", {**told, "hw.perflevel0.physicalcpu": ""}.__getitem__) == 10
    assert performance_cores("darwin", lambda name: "many") == 0
    assert performance_cores("linux", told.__getitem__) == 0
