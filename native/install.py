#!/usr/bin/env python3
"""Set mtp up from a clone: make .venv, build llama-cpp-python once, build and install mtp, run something.

    python3 native/install.py                                 only set up
    python3 native/install.py run summarize FILE              set up, then `mtp summarize FILE`
    python3 native/install.py --run-tests [-- PYTEST OPTIONS] set up with the test tools, then run the tests

Needs Python >= 3.10 with venv, a C and C++ compiler, and the package index. Standard library only.
Running it again does only what has changed. Everything it makes lies in the virtual environment's folder.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from install_view import StepFailed, run_step  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
LEAST_PYTHON = (3, 10)
LEAST_CMAKE = (3, 21)
LEAST_PIP = (23, 1)
LLAMA = "llama-cpp-python"
LLAMA_LEFT_OUT = ROOT / "native" / "cmake" / "llama_core_only.cmake"
SOURCES = ("pyproject.toml", "mtp_cli", "models", "native")


class Refused(Exception):
    """Something that a person has to mend first; the message is for them."""


def main(arguments: list[str]) -> int:
    """Returns the exit code: 0, 1 when a step failed, 2 usage, 130 interrupted, or that of what was run."""
    own, rest = split_arguments(arguments)
    options = parse(own)
    extras = sorted(
        {name for name in options.extras.split(",") if name} | ({"test"} if options.run_tests else set())
    )
    venv = Path(options.venv).expanduser().absolute()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite end stops the compilers too
    try:
        set_up(venv, extras)
    except Refused as error:
        print(f"install: {error}", file=sys.stderr)
        return 1
    except StepFailed as error:
        print(f"install: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninstall: interrupted; the same command goes on where it can", file=sys.stderr)
        return 130
    if options.run_tests:
        return run([str(program(venv, "pytest")), *(rest or [])], ROOT)
    if rest is not None:
        return run([str(program(venv, "mtp")), *rest], None)
    say(f"ready: {program(venv, 'mtp')}")
    return 0


def split_arguments(arguments: list[str]) -> tuple[list[str], list[str] | None]:
    """(own options, what follows the first `run` or `--`); None when there is neither."""
    for place, word in enumerate(arguments):
        if word in ("run", "--"):
            return arguments[:place], arguments[place + 1 :]
    return arguments, None


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="install.py",
        description="Set mtp up in a virtual environment. What follows `run` or `--` goes to the new mtp.",
        usage="python3 native/install.py [--venv DIR] [--extras A,B] [--run-tests] [run MTP ARGUMENTS...]",
    )
    parser.add_argument(
        "--venv", default=str(ROOT / ".venv"), metavar="DIR", help="default: .venv in the clone"
    )
    parser.add_argument("--extras", default="", metavar="A,B", help="optional parts: hub, plot, test")
    parser.add_argument("--run-tests", action="store_true", help="set up, then run the tests")
    return parser.parse_args(arguments)


def say(text: str) -> None:
    print(f"install: {text}", file=sys.stderr, flush=True)


def program(venv: Path, name: str) -> Path:
    """Path of a program in the virtual environment."""
    return venv / ("Scripts" if os.name == "nt" else "bin") / (name + (".exe" if os.name == "nt" else ""))


def clean_env(venv: Path, more: dict[str, str] | None = None) -> dict[str, str]:
    """The environment for everything that runs in `venv`: its programs first, nobody else's modules."""
    env = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET")
    }
    env["VIRTUAL_ENV"] = str(venv)
    env["PATH"] = str(program(venv, "x").parent) + os.pathsep + env.get("PATH", os.defpath)
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    env.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    return env | (more or {})


def run(command: list[str], folder: Path | None) -> int:
    """Run what the person asked for, in place of this program where the system can do that."""
    os.environ.pop("PYTHONPATH", None)
    if folder is not None:
        os.chdir(folder)
    sys.stderr.flush()
    if os.name == "nt":
        return subprocess.call(command)
    os.execv(command[0], command)
    raise AssertionError("unreachable")


def set_up(venv: Path, extras: list[str]) -> None:
    """Bring `venv` up to date with the clone. Raises Refused or StepFailed."""
    state_file = venv / "mtp-install.json"
    state = read_state(state_file)
    wanted = {"sources": fingerprint(ROOT), "llama": llama_version(ROOT), "python": sys.version.split()[0]}
    have = set(state.get("extras", []))
    current = all(state.get(key) == value for key, value in wanted.items()) and have >= set(extras)
    if current and program(venv, "mtp").exists():
        return
    check_machine()
    build_llama = installed_version(venv, LLAMA) != wanted["llama"]
    say(f"setting up {venv}" + (f"; building {LLAMA} takes some minutes, once" if build_llama else ""))
    python, log = make_venv(venv), venv / "mtp-install.log"
    log.write_text("", encoding="utf-8")
    env = clean_env(venv)
    pip = [str(python), "-m", "pip", "install", "--no-input"]
    tools = missing_tools(venv, env)
    if tools:
        run_step("build tools", [*pip, "-v", *tools], env, log)
    if build_llama:
        arguments = [os.environ.get("CMAKE_ARGS", ""), "-DLLAVA_BUILD=OFF"]
        arguments.append(f"-DCMAKE_PROJECT_llama.cpp_INCLUDE={LLAMA_LEFT_OUT}")
        llama_env = env | {"CMAKE_ARGS": " ".join(arguments).strip()}
        run_step("llama.cpp", [*pip, "-v", f"{LLAMA}=={wanted['llama']}"], llama_env, log)
    extras = sorted(have | set(extras))
    target = str(ROOT) + (f"[{','.join(extras)}]" if extras else "")
    mtp_env = env | {"SKBUILD_BUILD_DIR": str(venv / "mtp-build")}
    run_step("mtp", [*pip, "-v", "--no-build-isolation", target], mtp_env, log)
    state_file.write_text(json.dumps(wanted | {"extras": extras}), encoding="utf-8")


def read_state(path: Path) -> dict[str, Any]:
    """What the last finished run noted; empty when there is none."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def fingerprint(root: Path) -> str:
    """A checksum over every file that the installed package is made from."""
    digest = hashlib.sha256()
    for name in SOURCES:
        top = root / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".so", ".pyc"):
                digest.update(f"{path.relative_to(root).as_posix()}\0{path.stat().st_size}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def llama_version(root: Path) -> str:
    """The version of llama-cpp-python that pyproject.toml pins."""
    match = re.search(rf'"{LLAMA}==([^"]+)"', (root / "pyproject.toml").read_text(encoding="utf-8"))
    if match is None:
        raise Refused(f"pyproject.toml does not pin {LLAMA}")
    return match[1]


def check_machine() -> None:
    """Raise Refused that lists everything the machine lacks."""
    if sys.version_info < LEAST_PYTHON:
        raise Refused(
            f"Python {'.'.join(map(str, LEAST_PYTHON))} or newer is needed, this is {sys.version.split()[0]}"
        )
    lacking = []
    if is_termux():
        lacking += [
            f"python-{name}" for name in ("numpy", "psutil") if importlib.util.find_spec(name) is None
        ]
    if not find_compiler("CXX", ("c++", "g++", "clang++")):
        lacking.append("a C++ compiler")
    if not find_compiler("CC", ("cc", "gcc", "clang")):
        lacking.append("a C compiler")
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        lacking.append("Python's venv module")
    if os.name != "nt" and not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        lacking.append("Python's header files")
    if lacking:
        raise Refused(f"this machine lacks {', '.join(lacking)}; install with: {package_hint()}")


def find_compiler(variable: str, names: tuple[str, ...]) -> bool:
    """True when the environment names a compiler that is there, or one is on the path."""
    named = os.environ.get(variable, "").split()
    if named:
        return shutil.which(named[0]) is not None
    return os.name == "nt" or any(shutil.which(name) for name in names)


def package_hint() -> str:
    """The command that installs a compiler and Python's headers on this kind of system."""
    if sys.platform == "darwin":
        return "xcode-select --install"
    if is_termux():
        return "pkg install python clang cmake ninja python-numpy python-psutil"
    hints = {
        "apt-get": "sudo apt-get install build-essential python3-dev python3-venv",
        "dnf": "sudo dnf install gcc gcc-c++ python3-devel",
        "pacman": "sudo pacman -S base-devel python",
        "zypper": "sudo zypper install gcc gcc-c++ python3-devel",
        "apk": "sudo apk add build-base python3-dev linux-headers",
    }
    return next((hint for tool, hint in hints.items() if shutil.which(tool)), "your system's package manager")


def is_termux() -> bool:
    """True on Android under Termux, where NumPy and psutil come from its own packages."""
    return "TERMUX_VERSION" in os.environ or "com.termux" in os.environ.get("PREFIX", "")


def make_venv(venv: Path) -> Path:
    """Create the virtual environment unless it is there; returns its Python. Raises Refused."""
    python = program(venv, "python")
    if not python.exists():
        if venv.exists() and any(venv.iterdir()) and not (venv / "pyvenv.cfg").exists():
            raise Refused(
                f"{venv} is in the way: it is not a virtual environment; choose another with --venv"
            )
        # pip cannot build NumPy and psutil on Android: the system's are seen from inside
        system = ["--system-site-packages"] if is_termux() else []
        made = subprocess.run(
            [sys.executable, "-m", "venv", "--clear", *system, str(venv)], capture_output=True, text=True
        )
        if made.returncode != 0:
            lines = (made.stdout + made.stderr).strip().splitlines() or ["no message"]
            raise Refused(f"cannot make the virtual environment {venv}: {lines[-1]}")
    works = subprocess.run([str(python), "-m", "pip", "--version"], capture_output=True)
    if works.returncode != 0:
        raise Refused(f"the virtual environment {venv} does not work or has no pip; delete it and try again")
    return python


def missing_tools(venv: Path, env: dict[str, str]) -> list[str]:
    """Requirements of the build that are neither in `venv` nor on the system."""
    tools = ["scikit-build-core>=0.10", "nanobind>=2.4"]
    missing = [tool for tool in tools if not installed_version(venv, tool.partition(">")[0])]
    if version_of(["cmake", "--version"], env) < LEAST_CMAKE:
        missing.append("cmake>=3.21")
    if not any(shutil.which(name, path=env["PATH"]) for name in ("ninja", "ninja-build", "make")):
        missing.append("ninja")
    if version_of([str(program(venv, "python")), "-m", "pip", "--version"], env) < LEAST_PIP:
        missing.insert(0, f"pip>={'.'.join(map(str, LEAST_PIP))}")
    return missing


def version_of(command: list[str], env: dict[str, str]) -> tuple[int, ...]:
    """The first version number that a program prints, (0,) when it cannot be run."""
    try:
        found = subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return (0,)
    match = re.search(r"(\d+)\.(\d+)", found)
    return (int(match[1]), int(match[2])) if match else (0,)


def installed_version(venv: Path, name: str) -> str:
    """Version of a package in `venv`, "" when it is not there; read from its files, no process started."""
    pattern = re.sub(r"[-_.]+", "_", name) + "-*.dist-info"
    for place in venv.glob(f"[Ll]ib*/**/site-packages/{pattern}"):
        return place.name.removesuffix(".dist-info").rpartition("-")[2]
    return ""


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
