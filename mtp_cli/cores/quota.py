"""How much CPU time a container leaves this process, by its control groups."""

from __future__ import annotations

from pathlib import Path

GROUPS = Path("sys/fs/cgroup")


def cpu_quota(root: Path) -> float | None:
    """CPUs' worth of time: the least of all groups around this process; None without a limit."""
    found = []
    for kind, path in _own_groups(root):
        group = Path(path.lstrip("/"))
        for place in (group, *group.parents):
            limit = (
                _limit_v2(root / GROUPS / place) if kind == "" else _limit_v1(root / GROUPS / kind / place)
            )
            if limit is not None:
                found.append(limit)
    return min(found, default=None)


def _own_groups(root: Path) -> list[tuple[str, str]]:
    """(controllers, path) of each hierarchy with a CPU controller; "" is version 2. A container sees its own
    group as the root of a hierarchy, so that is looked at too."""
    try:
        lines = (root / "proc/self/cgroup").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    found = [("", "/"), ("cpu", "/"), ("cpu,cpuacct", "/")]
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if ".." in path.split("/"):
            continue  # a group outside of what this process may see
        if number == "0" and controllers == "":
            found.append(("", path))
        elif "cpu" in controllers.split(","):
            found += [(controllers, path), ("cpu", path)]
    return found


def _limit_v2(group: Path) -> float | None:
    """cpu.max: "50000 100000" is half a CPU, "max 100000" no limit."""
    quota, _, period = _text(group / "cpu.max").partition(" ")
    return _quotient(quota, period)


def _limit_v1(group: Path) -> float | None:
    return _quotient(_text(group / "cpu.cfs_quota_us"), _text(group / "cpu.cfs_period_us"))


def _quotient(quota: str, period: str) -> float | None:
    """None for no limit, and for nonsense."""
    if not quota.isdecimal() or not period.isdecimal() or int(quota) <= 0 or int(period) <= 0:
        return None
    return int(quota) / int(period)


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
