#!/usr/bin/env python3
"""Test the 64-bit Arm kernels on an x86 machine: cross-compiled, run by qemu's user emulation.

    python3 native/arm/run_tests.py                    kernels and whole passes, for four kinds of CPU
    python3 native/arm/run_tests.py --kernels          the kernels alone
    python3 native/arm/run_tests.py --python tests/numerics -k bitwise
                                                       those, then pytest in an Arm Python

For Debian and Ubuntu. Everything it makes lies in build/arm (--work chooses another folder); missing tools
are installed by apt-get where this runs as root. The first run builds llama.cpp's libraries for Arm, which
takes minutes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from arm_python import ArmPython  # noqa: E402
from install import LLAMA, Refused, llama_version  # noqa: E402
from install_view import StepFailed, run_step  # noqa: E402

TOOLS = {
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
    "cmake": "cmake",
    "ninja": "ninja-build",
}
"""Programs, and the packages that hold them."""

CPUS = (
    ("max",),  # i8mm and everything else that qemu knows
    ("cortex-a710", "neoverse-v1", "max,sve=off"),  # i8mm in a real CPU, else without SVE
    ("neoverse-n1", "cortex-a76"),  # dotprod, no i8mm
    ("cortex-a72", "cortex-a53"),  # NEON only
)
"""CPU models; of each row the first that this qemu knows."""

ARM_LIBRARIES = Path("/usr/aarch64-linux-gnu")


def main(arguments: list[str]) -> int:
    """The exit code: 0, 1 when a test failed, 2 when something is missing."""
    options, rest = parse(arguments)
    work = Path(options.work).expanduser().absolute()
    try:
        find_tools()
        work.mkdir(parents=True, exist_ok=True)
        cpus = options.cpu or usable_cpus()
        ok = run_programs(work, cpus, kernels_only=options.kernels)
        if options.model:
            ok = compare_model(work, cpus, options.model) and ok
        if options.python:
            ok = run_python(work, cpus, rest) and ok
    except (Refused, StepFailed) as error:
        print(f"arm: {'skipped: ' if options.skip else ''}{error}", file=sys.stderr)
        return 0 if options.skip and isinstance(error, Refused) else 2
    print("arm: " + ("all passed" if ok else "FAILED"))
    return 0 if ok else 1


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog="run_tests.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kernels", action="store_true", help="the kernels alone")
    parser.add_argument(
        "--python", action="store_true", help="then pytest in an Arm Python; what follows goes to it"
    )
    parser.add_argument("--cpu", action="append", metavar="MODEL", help="instead of the four; may come again")
    parser.add_argument(
        "--model", metavar="FILE", help="compare a few greedy tokens of this model with this machine's, too"
    )
    parser.add_argument("--skip", action="store_true", help="exit with 0 where the tools cannot be had")
    parser.add_argument("--work", default=str(ROOT / "build" / "arm"), metavar="DIR")
    options, rest = parser.parse_known_args(arguments)
    if rest and not options.python:
        parser.error(f"unknown argument {rest[0]}")
    return options, rest


def say(text: str) -> None:
    print(f"arm: {text}", file=sys.stderr, flush=True)


def find_tools() -> None:
    """Install what is missing. Raises Refused."""
    missing = [package for program, package in TOOLS.items() if not shutil.which(program)]
    if not missing:
        return
    command = f"apt-get install -y {' '.join(missing)}"
    apt = shutil.which("apt-get")
    if not apt or os.geteuid() != 0:
        raise Refused(f"this machine lacks {', '.join(missing)}" + (f"; as root: {command}" if apt else ""))
    say(command)
    for step in ([apt, "update", "-q"], [apt, "install", "-y", "-q", "--no-install-recommends", *missing]):
        done = subprocess.run(
            step, capture_output=True, text=True, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        )
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
            raise Refused(f"{' '.join(step[:2])} failed: {lines[-1]}")


def usable_cpus() -> list[str]:
    """One CPU model of each row of CPUS."""
    known = subprocess.run(["qemu-aarch64", "-cpu", "help"], capture_output=True, text=True).stdout.split()
    return [next(name for name in row if name.partition(",")[0] in known) for row in CPUS]


def build(work: Path, what: str, source: Path, targets: list[str], *settings: str) -> Path:
    """Configure and build for Arm in work/WHAT; returns that folder."""
    folder, log = work / what, work / "build.log"
    configure = ["cmake", "-S", str(source), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-DCMAKE_TOOLCHAIN_FILE={HERE / 'toolchain.cmake'}", *settings]
    run_step(f"{what}: configure", configure, dict(os.environ), log)
    run_step(what, ["cmake", "--build", str(folder), "--target", *targets], dict(os.environ), log)
    return folder


def llama_source(work: Path) -> Path:
    """llama-cpp-python's unpacked source package, of the version that pyproject.toml pins."""
    name = f"{LLAMA.replace('-', '_')}-{llama_version(ROOT)}"
    folder = work / name
    if not (folder / "vendor" / "llama.cpp" / "CMakeLists.txt").is_file():
        log = work / "build.log"
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", LLAMA]
        run_step(
            "fetch llama.cpp",
            [*fetch, "-d", str(work), f"{LLAMA}=={llama_version(ROOT)}"],
            dict(os.environ),
            log,
        )
        with tarfile.open(work / f"{name}.tar.gz") as archive:
            archive.extractall(work, filter="data")
    return folder


def build_llama(work: Path, libraries: list[str]) -> Path:
    """Cross-compiled libraries of llama.cpp and its headers: a folder with lib and include."""
    source = llama_source(work) / "vendor" / "llama.cpp"
    off = (
        "GGML_NATIVE",
        "GGML_OPENMP",
        "GGML_LLAMAFILE",
        "LLAMA_CURL",
        "LLAMA_BUILD_COMMON",
        "LLAMA_BUILD_TESTS",
    )
    off += ("LLAMA_BUILD_TOOLS", "LLAMA_BUILD_EXAMPLES", "LLAMA_BUILD_SERVER")
    built = build(
        work, "llama.cpp", source, libraries, "-DBUILD_SHARED_LIBS=ON", *(f"-D{name}=OFF" for name in off)
    )
    prefix = work / "prefix"
    for folder in ("lib", "include"):
        (prefix / folder).mkdir(parents=True, exist_ok=True)
    for library in (built / "bin").glob("*.so*"):
        shutil.copy2(library, prefix / "lib", follow_symlinks=True)
    for header in [*(source / "include").glob("*.h"), *(source / "ggml" / "include").glob("*.h")]:
        shutil.copy2(header, prefix / "include")
    return prefix


def run_programs(work: Path, cpus: list[str], *, kernels_only: bool) -> bool:
    """Build and run the C++ test programs for each CPU model; true when all passed."""
    prefix = build_llama(work, ["ggml-base"] if kernels_only else ["llama", "ggml-cpu"])
    tests = ["kernels"] if kernels_only else ["kernels", "engine"]
    settings = ("-DMTP_MODULE=OFF", f"-DMTP_LLAMA_CPP={prefix}", f"-DMTP_TESTS={';'.join(tests)}")
    what = "kernel-tests" if kernels_only else "tests"
    built = build(work, what, ROOT / "native", [f"test_{test}" for test in tests], *settings)
    ok = True
    for cpu in cpus:
        for test in tests:
            arguments = []
            if test == "engine":
                folder = work / "models" / cpu
                folder.mkdir(parents=True, exist_ok=True)
                # the sets are the same code on every CPU that has them
                arguments = [str(folder)] + (["--best"] if cpu != cpus[0] else [])
            ok = run_emulated(prefix, cpu, built / f"test_{test}", arguments) and ok
    if not kernels_only:
        ok = (
            subprocess.run(
                [sys.executable, str(HERE / "compare.py"), *(str(work / "models" / cpu) for cpu in cpus)]
            ).returncode
            == 0
            and ok
        )
    return ok


TEXT = "The capital of France is Paris, and the capital of"


def compare_model(work: Path, cpus: list[str], model: str) -> bool:
    """12 greedy tokens of a real model on each CPU model and here; true when they are the same."""
    greedy = ["--greedy", model, "12", TEXT]
    host = subprocess.run([sys.executable, str(HERE / "compare.py"), *greedy], capture_output=True, text=True)
    print(f"here: {host.stdout.strip() or host.stderr.strip()}", flush=True)
    ok = host.returncode == 0
    for cpu in cpus:
        command = [*emulator(work / "prefix", cpu), str(work / "tests" / "test_engine"), *greedy]
        ids = subprocess.run(command, capture_output=True, text=True).stdout.strip()
        print(f"{cpu}: {ids}", flush=True)
        ok = ok and (ids == host.stdout.strip() or host.stdout.startswith("not compared"))
    return ok


def emulator(prefix: Path, cpu: str) -> list[str]:
    """The command in front of an Arm program."""
    return ["qemu-aarch64", "-cpu", cpu, "-L", str(ARM_LIBRARIES), "-E", f"LD_LIBRARY_PATH={prefix / 'lib'}"]


def run_emulated(prefix: Path, cpu: str, program: Path, arguments: list[str]) -> bool:
    """Run an Arm program by qemu; its lines go to stdout after the CPU's name."""
    command = emulator(prefix, cpu)
    with subprocess.Popen([*command, str(program), *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(f"{cpu}: {program.name}: {line}", end="", flush=True)
    if process.returncode not in (0, 1):
        print(f"{cpu}: {program.name}: ended with {process.returncode}")
    return process.returncode == 0


def run_python(work: Path, cpus: list[str], arguments: list[str]) -> bool:
    """pytest in an Arm Python with the Arm module, for each CPU model; true when all passed."""
    prefix = work / "prefix"
    python = ArmPython(work / "python", ROOT, llama_source(work), prefix)
    python.set_up(work / "build.log")
    build(work, "module", ROOT / "native", ["_native"], *python.module_settings())
    python.install_module(work / "module")
    ok = True
    for cpu in cpus:
        say(f"pytest on {cpu}")
        ok = python.run(cpu, ["-m", "pytest", *(arguments or ["tests/numerics"])]) == 0 and ok
    return ok


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
