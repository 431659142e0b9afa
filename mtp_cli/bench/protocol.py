"""How the parent and a worker talk: one JSON object a line on the worker's stdin and stdout.

A request is {"op": name, ...}; the answer is {"ok": true, ...} or {"ok": false, "kind": ..., "error":
one line}. The worker answers one request at a time and otherwise sleeps in a read. End of input ends it.
This module is what a worker imports: it stays small, since its memory is measured.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any, Protocol

from mtp_cli.meters import memory

KIND_MODEL = "model"
"""The model file is missing, damaged or not supported."""
KIND_ERROR = "error"
KIND_MISSING = "missing"
"""A part that this arm needs is not installed."""


REQUESTS = (
    "open",
    "prompts",
    "answer",
    "generate",
    "prefill",
    "cost_begin",
    "cost",
    "oracle",
    "priced",
    "verify",
)


class ArmError(Exception):
    """What an arm cannot do. The message is one line for a person; `kind` is one of KIND_*."""

    def __init__(self, message: str, kind: str = KIND_ERROR) -> None:
        super().__init__(message)
        self.kind = kind


class Arm(Protocol):
    """One way of running a model. Every method returns what is sent back, without "ok".

    Times are wall seconds, except those of `cost`, which are milliseconds.
    """

    def open(self, model: str, n_ctx: int, threads: int, head: str | None = None) -> dict[str, Any]:
        """Load; `head`: also the draft head in this file, or the model's own ("auto"). Returns {"threads",
        "n_ctx", "info": {...}, "head": {...} or None}."""
        ...

    def prompts(self, texts: list[str], tasks: list[str], model: str) -> dict[str, Any]:
        """{"tokens", "sources": [[id, ...], ...], "stops": [[text, ...], ...]}: each text in the prompt of
        its task, what the answer is expected to repeat, and texts that end it.
        `model` is the name of the model's catalogue entry or its path."""
        ...

    def answer(self, text: str, task: str, model: str) -> dict[str, Any]:
        """{"tokens": [...], "generated_tokens"}: what the product makes of one short text, in full."""
        ...

    def generate(
        self,
        tokens: list[int],
        max_tokens: int,
        stops: Sequence[str] = (),
        source: Sequence[int] = (),
        sampling: Mapping[str, Any] | None = None,
        drafting: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """{"ids", "text", "passes", "prefill_s", "decode_s", "first_token_s"}, from an empty cache.

        Native arms add {"tokens_by_source": {source: n}, "drafts": {source: {"drafted", "accepted",
        "lenient", "positions": [[drafted, accepted], ...]}}, "head": {"steps", "seconds", "spans"}, "work":
        fields of `mtp_cli.work.Work`}.
        `sampling` and `drafting` are fields of
        the classes in `mtp_cli.engine`; the reference takes neither."""
        ...

    def prefill(self, tokens: list[int]) -> dict[str, Any]:
        """{"seconds"} for feeding `tokens` to an empty cache, up to the arg-max after the last one."""
        ...

    def cost_begin(self, tokens: list[int]) -> dict[str, Any]:
        """Fill the cache with `tokens`: the context of the `cost` calls that follow."""
        ...

    def cost(self, width: int, repeats: int) -> dict[str, Any]:
        """{"ms": [...]}: passes over `width` tokens with the logits of all, each rolled back. One more
        pass goes before them untimed, since the other arm has just filled the processor's caches."""
        ...

    def oracle(self, tokens: list[int], source: list[int], ids: list[int]) -> dict[str, Any]:
        """{"passes", "seconds", "pass_s"} for the answer `ids`: what a gate that knew it would need by the
        measured cost of passes, and the cost of a pass over one token. Native only."""
        ...

    def priced(
        self,
        tokens: list[int],
        source: list[int],
        stops: Sequence[str],
        max_tokens: int,
        drafting: Mapping[str, Any],
        extra_column: float,
    ) -> dict[str, Any]:
        """{"seconds", "passes", "tokens", "pass_s"}: one answer with the gate deciding as on a CPU where a
        further
        column of a pass costs `extra_column` of a pass over one token, and what its passes would take there;
        draft steps as they are here. A price, not a time that was taken. Native only."""
        ...

    def verify(self, tokens: list[int], ids: list[int], width: int) -> dict[str, Any]:
        """{"differing": [position, ...]}: `ids` is this arm's own greedy answer, found one token a pass.
        Fed again `width` tokens a pass, where does the arg-max say something else? Reference only."""
        ...

    def close(self) -> None: ...


def peak_rss_bytes() -> int | None:
    """Highest resident set of this process so far, or None where the system does not tell."""
    value = memory.peak().value
    return None if value is None else int(value)


def _answer(arm: Arm, request: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in request.items() if name != "op"}
    op = request.get("op")
    if op not in REQUESTS:
        raise ArmError(f"unknown request {op!r}")
    before = peak_rss_bytes() if op == "open" else None
    wall, cpu = time.perf_counter(), time.process_time()
    reply: dict[str, Any] = getattr(arm, op)(**fields)
    reply["cpu_s"] = time.process_time() - cpu
    reply["wall_s"] = time.perf_counter() - wall
    reply["peak_rss"] = peak_rss_bytes()
    if op == "open":
        reply["rss_before_load"] = before
    return reply


def serve(arm: Arm, requests: IO[str], replies: IO[str]) -> None:
    """Answer requests until the input ends. What an arm refuses is an answer, never a traceback."""
    try:
        for line in requests:
            try:
                reply = {"ok": True, **_answer(arm, json.loads(line))}
            except ArmError as error:
                reply = {"ok": False, "kind": error.kind, "error": str(error)}
            except Exception as error:
                reply = {"ok": False, "kind": KIND_ERROR, "error": f"{type(error).__name__}: {error}"}
            replies.write(json.dumps(reply) + "\n")
            replies.flush()
    finally:
        arm.close()


def main(arm: Arm) -> None:
    """Serve on the real stdin and stdout. Whatever a library prints on stdout goes to stderr instead."""
    private = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(private, "w", encoding="utf-8") as replies:
        try:
            serve(arm, sys.stdin, replies)
        except (BrokenPipeError, KeyboardInterrupt):
            os._exit(1)
