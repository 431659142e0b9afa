"""An Arm Python on an x86 machine: Debian packages for arm64, unpacked into a folder and run by qemu."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from install import Refused
from install_view import run_step

PACKAGES = ("python3-minimal", "libpython3-stdlib", "libpython3-dev", "libstdc++6")
WHEELS = ("numpy", "gguf", "pytest", "hypothesis", "psutil", "typer>=0.26,<0.28", "rich>=13")
LLAMA_WHEELS = ("typing-extensions", "diskcache", "jinja2")
PLATFORMS = ("manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64")
CLONED = ("mtp_cli", "models", "tests", "pyproject.toml")


class ArmPython:
    """Lives in `folder`; tests the clone `repository`, with llama.cpp from `llama` (its source) and `prefix`
    (as built)."""

    def __init__(self, folder: Path, repository: Path, llama: Path, prefix: Path) -> None:
        self.folder, self.repository, self.llama, self.prefix = folder, repository, llama, prefix
        self.root = folder / "root"
        self.site = folder / "site"
        self.clone = folder / "clone"
        self.program = folder / "bin" / "python3"

    def set_up(self, log: Path) -> None:
        """Fetch and unpack what is not there. Raises Refused or StepFailed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._interpreters():
            self._unpack_debian(log)
        if not (self.site / "pytest").is_dir():
            pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(self.site)]
            pip += [word for name in PLATFORMS for word in ("--platform", name)]
            pip += ["--only-binary=:all:", "--implementation", "cp", "--python-version", self.version]
            run_step("Arm wheels", [*pip, *WHEELS, *LLAMA_WHEELS], dict(os.environ), log)
        self._copy_clone()
        self._write_program()

    @property
    def version(self) -> str:
        """Like 3.11."""
        return self._interpreters()[0].name.removeprefix("python")

    def _interpreters(self) -> list[Path]:
        return sorted((self.root / "usr" / "bin").glob("python3.[0-9]*"))

    def _unpack_debian(self, log: Path) -> None:
        """arm64 packages by the machine's own apt sources, in a state of their own: nothing else changes."""
        apt = shutil.which("apt-get")
        if apt is None:
            raise Refused("an Arm Python is unpacked from Debian packages, and there is no apt-get here")
        state, cache = self.folder / "apt", self.folder / "apt-cache"
        for place in (state / "lists" / "partial", cache / "archives" / "partial"):
            place.mkdir(parents=True, exist_ok=True)
        (state / "status").touch()
        own = {"Dir::State": state, "Dir::State::status": state / "status", "Dir::Cache": cache}
        own |= {"APT::Architecture": "arm64", "APT::Architectures": "arm64", "Acquire::Languages": "none"}
        settings = [word for name, value in own.items() for word in ("-o", f"{name}={value}")]
        if os.geteuid() == 0:
            settings += ["-o", "APT::Sandbox::User=root"]
        run_step("arm64 package lists", [apt, *settings, "update", "-q"], dict(os.environ), log)
        fetch = [
            apt,
            *settings,
            "install",
            "-y",
            "-q",
            "--download-only",
            "--no-install-recommends",
            *PACKAGES,
        ]
        run_step("arm64 packages", fetch, dict(os.environ), log)
        for package in sorted((cache / "archives").glob("*.deb")):
            subprocess.run(["dpkg", "-x", str(package), str(self.root)], check=True)
        if not self._interpreters():
            raise Refused("the arm64 packages hold no Python")

    def _copy_clone(self) -> None:
        """The tests and the package without its x86 module: the Arm one goes in its place."""
        shutil.rmtree(self.clone, ignore_errors=True)
        skip = shutil.ignore_patterns("*.so", "__pycache__")
        for name in CLONED:
            source, target = self.repository / name, self.clone / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=skip)
            else:
                shutil.copy2(source, target)
        shutil.copytree(self.llama / "llama_cpp", self.clone / "llama_cpp", ignore=skip)
        shutil.copytree(self.prefix / "lib", self.clone / "llama_cpp" / "lib", dirs_exist_ok=True)

    def _write_program(self) -> None:
        """A script that stands for the interpreter, also as sys.executable."""
        self.program.parent.mkdir(exist_ok=True)
        qemu = shutil.which("qemu-aarch64")
        interpreter = self._interpreters()[0]
        self.program.write_text(
            f'#!/bin/sh\nexec {qemu} -cpu "${{MTP_QEMU_CPU:-max}}" -L "{self.root}" -0 "{self.program}" '
            f'-E PYTHONHOME="{self.root}/usr" "{interpreter}" "$@"\n',
            encoding="utf-8",
        )
        self.program.chmod(0o755)

    def module_settings(self) -> list[str]:
        """CMake settings for the module. Raises Refused where this Python, by which nanobind goes, is of
        another version."""
        own = f"{sys.version_info.major}.{sys.version_info.minor}"
        if own != self.version:
            raise Refused(
                f"run this by python{self.version}, the version of the arm64 packages, and not {own}"
            )
        host = self.folder / "host"
        if not (host / "nanobind").is_dir():
            pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(host), "nanobind>=2.4"]
            subprocess.run(pip, check=True)
        os.environ["PYTHONPATH"] = str(host)  # for the Python that CMake asks
        include = self.root / "usr" / "include"
        return [
            f"-DMTP_LLAMA_CPP={self.prefix}",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-DPython_INCLUDE_DIR={include / f'python{self.version}'}",
            f"-DCMAKE_CXX_FLAGS=-idirafter {include}",
        ]

    def install_module(self, built: Path) -> None:
        """Copy the module into the clone."""
        module = next(built.glob("_native*.so"))
        shutil.copy2(module, self.clone / "mtp_cli" / "_native.so")

    def run(self, cpu: str, arguments: list[str]) -> int:
        """The exit code of `python3 ARGUMENTS` in the clone, on that CPU model."""
        # no compiler on the path: a program that a test compiled could not be started
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LD_"))}
        env |= {
            "PATH": str(self.program.parent),
            "PYTHONPATH": f"{self.clone}:{self.site}",
            "MTP_QEMU_CPU": cpu,
        }
        env |= {"PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([str(self.program), *arguments], cwd=self.clone, env=env).returncode
