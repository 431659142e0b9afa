"""`mtp bench --startup`: whole-process time of proofreading one sentence, against a minimal script.

The script (`startup_script.py`) is what a person would write with llama-cpp-python: import it, load the
model, complete the same prompt up to the same number of tokens, print. Both processes get the same
threads; the model file is in the page cache, since one process of each goes before the timed ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from mtp_cli.bench import machine
from mtp_cli.bench.arms import NATIVE, PLAIN
from mtp_cli.bench.client import BenchError, Worker, python_command
from mtp_cli.bench.plan import Plan
from mtp_cli.bench.results import Results
from mtp_cli.bench.schedule import turns

SENTENCE = "The meeting have been moved to friday because to many people was ill."
SCRIPT = Path(__file__).with_name("startup_script.py")
MTP, REFERENCE = "mtp", "reference"


def product_command(plan: Plan, threads: int) -> list[str]:
    """`mtp proofread` reading standard input: the installed command, or the same without it."""
    installed = Path(sys.executable).with_name("mtp")
    program = (
        [str(installed)] if installed.is_file() else python_command("from mtp_cli.entry import main; main()")
    )
    options = ("--model", str(plan.model), "--threads", str(threads), "--quiet")
    return [*program, "proofread", "-", *options]


def script_command(plan: Plan, threads: int, max_tokens: int) -> list[str]:
    """The text of the script, not its path: its folder is no place to import from."""
    source = SCRIPT.read_text(encoding="utf-8")
    return [sys.executable, "-c", source, str(plan.model), str(threads), str(max_tokens)]


def timed(name: str, command: Sequence[str], stdin: bytes) -> float:
    """Wall milliseconds of a whole process. Raises BenchError when it fails."""
    started = time.perf_counter()
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    except OSError as error:
        raise BenchError(f"cannot start {command[0]}: {error.strerror or error}") from error
    elapsed = 1e3 * (time.perf_counter() - started)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise BenchError(
            f"the {name} process ended with status {done.returncode}"
            + (f": {lines[-1].removeprefix('mtp: ')}" if lines else "")
        )
    return elapsed


def _same_work(plan: Plan, results: Results) -> tuple[list[int], int, int]:
    """(prompt ids, tokens to generate, threads): what `mtp proofread` does with the sentence, found by a
    worker that does it once. Raises BenchError."""
    with Worker(PLAIN, plan.commands[NATIVE]) as worker:
        opened = worker.ask("open", model=str(plan.model), n_ctx=0, threads=plan.threads)
        answer = worker.ask("answer", text=SENTENCE, task="proofread", model=str(plan.model))
    tokens, count = list(answer["tokens"]), max(int(answer["generated_tokens"]), 1)
    threads = int(opened["threads"])
    results.model = {"file": plan.model.name, **opened["info"]}
    results.settings = {
        "task": "proofread",
        "threads": threads,
        "runs": plan.runs,
        "max_tokens": count,
        "sentence": SENTENCE,
        "prompt_tokens": len(tokens),
        "generated_tokens": count,
    }
    return tokens, count, threads


def measure_startup(plan: Plan, results: Results, notify: Callable[[str], None]) -> None:
    """Fills `results.startup_ms`. Raises BenchError or KeyboardInterrupt."""
    results.arms = []
    notify("reading the prompt")
    tokens, count, threads = _same_work(plan, results)
    results.machine = machine.describe()
    commands = {
        MTP: (product_command(plan, threads), SENTENCE.encode() + b"\n"),
        REFERENCE: (script_command(plan, threads, count), json.dumps(tokens).encode()),
    }
    for turn in turns([REFERENCE, MTP], 1, plan.runs + 1):
        notify(f"{turn.arm}: whole process, run {turn.run} of {plan.runs}")
        elapsed = timed(turn.arm, *commands[turn.arm])
        if turn.run:
            results.startup_ms.setdefault(turn.arm, []).append(elapsed)
    results.complete = True
