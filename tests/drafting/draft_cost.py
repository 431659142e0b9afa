"""What a draft head costs beside the backbone, and what a small model of its own would cost as a drafter.

python -m tests.drafting.draft_cost --model smollm2-135m --head FILE.head.gguf --prompts FILE.jsonl

One text, summarised, in processes of their own: plain decoding; the same with the head; llama.cpp with the
file of --draft-model (without: the same model) as a drafter would be run, a greedy token at a time. Times
are medians; the machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mtp_cli.meters.memory import resident

TOKENS = 48
CONTEXT = 1024


def _memory() -> int:
    found = resident().value
    return int(found) if found is not None else 0


def ours(model: Path, head: Path | None, ids: list[int]) -> dict[str, Any]:
    """Plain decoding; with a head, its drafts alone."""
    from mtp_cli.engine import Drafting, open_engine
    from mtp_cli.engine_native import NativeEngine
    from mtp_cli.events import EndEvent, PrefillEvent
    from mtp_cli.generate import generate

    engine = open_engine(model, n_ctx=CONTEXT)
    assert isinstance(engine, NativeEngine)
    if head is not None:
        engine.open_head(head)
    found: dict[str, Any] = {"kv_bytes": engine._native.cache_bytes}
    drafting = Drafting("off") if head is None else Drafting("head", fixed=3)
    passes: list[tuple[int, int]] = []
    for event in generate(engine, ids, max_tokens=TOKENS, drafting=drafting):
        if isinstance(event, PrefillEvent):
            found["prefill_s"] = event.seconds
        elif isinstance(event, EndEvent):
            passes.append((event.passes, event.head.steps))
            found["pass_ms"] = 1e3 * event.decode_seconds / max(1, event.passes)
            if event.head.steps:
                found["step_ms"] = 1e3 * event.head.seconds / event.head.steps
    found["kv_bytes_after"] = engine._native.cache_bytes
    found["memory"] = _memory()
    if head is not None and engine.head is not None:
        found["weight_bytes"] = engine.head.weight_bytes
        found["buffer_bytes"] = engine.head.buffer_bytes
    engine.close()
    return found


def separate(model: Path, ids: list[int]) -> dict[str, Any]:
    """A model of its own in llama.cpp: what it adds to a process, its prefill, a token of it."""
    import llama_cpp

    before = _memory()
    llama = llama_cpp.Llama(str(model), n_ctx=CONTEXT, n_threads=2, n_threads_batch=2, verbose=False)
    started = time.perf_counter()
    llama.eval(ids)
    prefill_s = time.perf_counter() - started
    took: list[float] = []
    token = llama.sample(temp=0.0)
    for _ in range(TOKENS):
        started = time.perf_counter()
        llama.eval([token])
        token = llama.sample(temp=0.0)
        took.append(time.perf_counter() - started)
    meta = llama.metadata
    name = meta["general.architecture"]
    layers, kv_heads = int(meta[f"{name}.block_count"]), int(meta[f"{name}.attention.head_count_kv"])
    heads, width = int(meta[f"{name}.attention.head_count"]), int(meta[f"{name}.embedding_length"])
    head_dim = int(meta.get(f"{name}.attention.key_length", width // heads))
    return {
        "memory_added": _memory() - before,
        "file_bytes": model.stat().st_size,
        "kv_bytes": 2 * 2 * layers * kv_heads * head_dim * CONTEXT,
        "prefill_s": prefill_s,
        "step_ms": 1e3 * statistics.median(took),
    }


def _in_a_process(ids: list[int], *arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.drafting.draft_cost", *map(str, arguments)]
    done = subprocess.run(command, check=True, input=json.dumps(ids), stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def table(plain: dict[str, Any], headed: dict[str, Any], other: dict[str, Any], tokens: int) -> list[str]:
    """Markdown."""
    assert plain["kv_bytes"] == headed["kv_bytes"] == headed["kv_bytes_after"], (
        "a head must not add to the cache"
    )
    added = headed["weight_bytes"] + headed["buffer_bytes"]
    rows = [
        ("memory beside the backbone's, MB", f"{added / 1e6:.1f}", f"{other['memory_added'] / 1e6:.0f}"),
        (f"KV cache of its own, {CONTEXT} positions, MB", "0", f"{other['kv_bytes'] / 1e6:.1f}"),
        (f"prefill of its own, {tokens} tokens, s", "0", f"{other['prefill_s']:.2f}"),
        ("a drafted token, ms", f"{headed['step_ms']:.2f}", f"{other['step_ms']:.1f}"),
        (
            "a drafted token, share of a plain pass",
            f"{headed['step_ms'] / plain['pass_ms']:.1%}",
            f"{other['step_ms'] / plain['pass_ms']:.0%}",
        ),
    ]
    lines = ["| | head | a small model as drafter (llama.cpp) |", "|---|---|---|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or one measurement as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="known model or path of a GGUF file")
    parser.add_argument("--head", type=Path, required=True)
    parser.add_argument("--draft-model", type=Path)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--only", choices=("plain", "head", "separate"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    from mtp_cli import catalog
    from mtp_cli.bench.prompts import asked, read_texts
    from mtp_cli.engine import open_engine

    path = catalog.resolve(options.model).path
    if options.only:
        ids = json.load(sys.stdin)
        if options.only == "separate":
            found = separate(options.draft_model or path, ids)
        else:
            found = ours(path, options.head if options.only == "head" else None, ids)
        print(json.dumps(found))
        return 0
    engine = open_engine(path, n_ctx=CONTEXT)
    ids = asked(engine, read_texts(options.prompts, 1)[0].text, "summarize", path).tokens
    engine.close()
    same = ["--model", path, "--head", options.head, "--prompts", options.prompts]
    if options.draft_model:
        same += ["--draft-model", options.draft_model]
    plain, headed, other = (
        _in_a_process(ids, *same, "--only", only) for only in ("plain", "head", "separate")
    )
    print("\n".join(table(plain, headed, other, len(ids))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
