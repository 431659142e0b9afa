"""Some files of a registry's package -> a folder in a cache, by the registry's own client."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from mtp_cli.train.errors import TrainError

_TIMEOUT_SECONDS = 600.0

Run = Callable[[Sequence[str], Path], None]
"""Runs a command in a folder; raises TrainError."""


def run_command(command: Sequence[str], folder: Path) -> None:
    """Run `command` in `folder`. Raises TrainError of one line when it fails."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise TrainError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise TrainError(f"{command[0]} did not finish in {_TIMEOUT_SECONDS:.0f} seconds") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise TrainError(f"{Path(command[0]).name} failed: {lines[-1].strip()}")


def fetch_members(
    registry: str, package: str, version: str, members: Sequence[str], target: Path, run: Run = run_command
) -> Path:
    """`target`, with the files of the package that the globs `members` match, at their paths in it.

    A `target` that is there already is used as it is; it comes whole or not at all. Raises TrainError."""
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as name:
            work, everything, kept = Path(name), Path(name) / "all", Path(name) / "kept"
            everything.mkdir()
            DOWNLOADS[registry](package, version, work, run)
            _unpack(_only_file(work, package), everything, run)
            _keep(everything, kept, members, package)
            kept.rename(target)
    except OSError as error:
        if not target.is_dir():  # else another process was faster
            raise TrainError(f"cannot store {package}: {(error.strerror or str(error)).lower()}") from None
    return target


def _from_pypi(package: str, version: str, work: Path, run: Run) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--no-input"]
    run([*command, "--disable-pip-version-check", "--dest", ".", f"{package}=={version}"], work)


def _from_npm(package: str, version: str, work: Path, run: Run) -> None:
    run(["npm", "pack", "--silent", f"{package}@{version}"], work)


def _from_debian(package: str, version: str, work: Path, run: Run) -> None:
    """This version, or where the archive has only another one, that."""
    try:
        run(["apt-get", "download", f"{package}={version}"], work)
    except TrainError:
        run(["apt-get", "download", package], work)


DOWNLOADS = {"pypi": _from_pypi, "npm": _from_npm, "debian": _from_debian}
"""For each registry, what puts a package's archive into a folder."""


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
                _extract_files(tar, out)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise TrainError(f"{archive.name} cannot be unpacked: {error}") from None


def _extract_files(tar: tarfile.TarFile, out: Path) -> None:
    """Plain files that lie inside the archive's root; links and the like are passed over."""
    for member in tar:
        path = PurePosixPath(member.name)
        source = tar.extractfile(member) if member.isfile() else None
        if source is None or path.is_absolute() or ".." in path.parts:
            continue
        place = out / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with source, place.open("wb") as file:
            shutil.copyfileobj(source, file)


def _keep(everything: Path, kept: Path, members: Sequence[str], package: str) -> None:
    root = everything.resolve()
    found = {path for glob in members for path in root.glob(glob) if path.is_file() and not path.is_symlink()}
    if not found:
        raise TrainError(f"the package {package} has none of the expected files")
    for path in found:
        place = kept / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, place)
