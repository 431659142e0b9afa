"""Packages from the registries -> an unpacked folder in a cache, by the registries' own clients."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from mtp_cli.train.errors import TrainError

_TIMEOUT_SECONDS = 600.0

Run = Callable[[Sequence[str], Path], str]
"""Runs a command in a folder and returns its standard output; raises TrainError."""


def run_command(command: Sequence[str], folder: Path) -> str:
    """Run `command` in `folder`; its standard output. Raises TrainError of one line."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except FileNotFoundError:
        raise TrainError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise TrainError(f"{command[0]} did not finish in {_TIMEOUT_SECONDS:.0f} seconds") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise TrainError(f"{command[0]} failed: {lines[-1].strip()}")
    return done.stdout


def unpacked(registry: str, package: str, version: str, cache_dir: Path, run: Run = run_command) -> Path:
    """The folder with the unpacked package; what is there already is used as it is. Raises TrainError."""
    target = cache_dir / f"{registry}-{package}-{version}"
    if target.is_dir():
        return target
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache_dir) as name:
            work, out = Path(name), Path(name) / "out"
            out.mkdir()
            archive = _DOWNLOADS[registry](package, version, work, run)
            _unpack(archive, out, run)
            os.rename(out, target)
    except OSError as error:
        if target.is_dir():  # another process was faster
            return target
        raise TrainError(f"cannot store {package}: {(error.strerror or str(error)).lower()}") from None
    return target


def _from_pypi(package: str, version: str, work: Path, run: Run) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", ".", f"{package}=={version}"]
    run(command, work)
    return _only_file(work, package)


def _from_npm(package: str, version: str, work: Path, run: Run) -> Path:
    run(["npm", "pack", "--silent", f"{package}@{version}"], work)
    return _only_file(work, package)


def _from_debian(package: str, version: str, work: Path, run: Run) -> Path:
    """This version, or where the archive has moved on, the one it has now."""
    try:
        run(["apt-get", "download", f"{package}={version}"], work)
    except TrainError:
        run(["apt-get", "download", package], work)
    return _only_file(work, package)


_DOWNLOADS = {"pypi": _from_pypi, "npm": _from_npm, "debian": _from_debian}


def _only_file(work: Path, package: str) -> Path:
    files = [path for path in work.iterdir() if path.is_file()]
    if len(files) != 1:
        raise TrainError(f"the download of {package} brought {len(files)} files instead of one")
    return files[0]


def _unpack(archive: Path, out: Path, run: Run) -> None:
    if archive.suffix == ".deb":
        run(["dpkg-deb", "-x", str(archive), str(out)], archive.parent)
        return
    try:
        if archive.suffix in (".whl", ".zip"):
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(out)
        else:
            with tarfile.open(archive) as tar:
                tar.extractall(out, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile) as error:
        shutil.rmtree(out, ignore_errors=True)
        raise TrainError(f"{archive.name} cannot be unpacked: {error}") from None
