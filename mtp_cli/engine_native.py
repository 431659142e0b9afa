"""The Engine protocol on top of the native module."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

# Threads meet after every step of a pass. They spin for some 20 us, then sleep: spinning on would stop a
# machine that has other work to do. The OpenMP runtime reads this when it is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "2000")

from mtp_cli import _native
from mtp_cli.costs import CostFile, PassCosts
from mtp_cli.engine import (
    AUTO,
    DRAFT_MODES,
    GREEDY,
    LENIENT_RULES,
    MAX_DRAFT,
    MAX_WIDTH,
    ContextFullError,
    Drafting,
    EngineError,
    HeadFileError,
    HeadInfo,
    ModelFileError,
    ModelInfo,
    Progress,
    Sampling,
    Step,
)
from mtp_cli.events import FinishReason, Source
from mtp_cli.threads import default_threads, keep_to_fast_cores
from mtp_cli.work import LOGITS_CHUNK, PREFILL_CHUNK, PassShape, Work, a_pass, head_steps, in_chunks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_ERRORS: dict[str, type[EngineError]] = {
    "bad_file": ModelFileError,
    "unsupported": ModelFileError,
    "context_full": ContextFullError,
}


_SOURCES: tuple[Source, ...] = ("backbone", "copy", "head")
_FINISH = (None, FinishReason.END_TOKEN, FinishReason.TOKEN_LIMIT, FinishReason.CONTEXT_FULL)

MOST_MEASURED = 3
"""Times that one engine measures what passes cost, at about 0.3 seconds each."""
BUSY_PACE = 0.75
"""Passes that take less than this share of what they should: whatever was measured, it was a busy machine."""
DEEP = 256
"""Positions before a pass from which on it shows what looking back costs."""

_cpu_seconds = time.process_time
"""Over all threads: what others on the machine do is not in it."""


def _raise(error: Exception) -> NoReturn:
    """A native error as the exception that `mtp_cli.engine` documents."""
    code, message = error.args
    raise _ERRORS.get(code, EngineError)(message.decode("utf-8", "replace")) from None


class NativeEngine:
    """See `mtp_cli.engine.Engine`."""

    def __init__(
        self, path: Path, *, n_ctx: int, n_threads: int, kernel: str, progress: Progress | None
    ) -> None:
        self._path = path
        threads = n_threads if n_threads != 0 else default_threads()
        keep_to_fast_cores(threads)
        try:
            self._native = _native.Engine(str(path), n_ctx, threads, kernel, progress)
        except _native.Error as error:
            _raise(error)
        found = self._native.info()
        self._info = ModelInfo(
            path=path,
            architecture=found["architecture"].decode("utf-8", "replace"),
            name=found["name"].decode("utf-8", "replace"),
            file_bytes=found["file_bytes"],
            parameters=found["parameters"],
            n_layer=found["n_layer"],
            n_embd=found["n_embd"],
            n_vocab=found["n_vocab"],
            n_ctx_train=found["n_ctx_train"],
            weight_types=found["weight_types"],
            kernel=found["kernel"],
            has_chat_template=found["has_chat_template"],
            shape=PassShape(**found["work"]) if "work" in found else None,
        )
        self._work = Work()
        self._screened = 0
        self._head: HeadInfo | None = None
        self._costs: PassCosts | None = None
        self._measured = 0

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def n_ctx(self) -> int:
        return self._native.n_ctx

    @property
    def n_past(self) -> int:
        return self._native.length

    @property
    def n_threads(self) -> int:
        return self._native.n_threads

    @property
    def work(self) -> Work | None:
        return replace(self._work) if self._info.shape is not None else None

    def _count(self, past: int, tokens: int, chunk: int, *, all_rows: bool, began: float) -> None:
        """Add passes over `tokens` behind `past` positions that took the CPU time since `began`."""
        seconds = Work(core_seconds=_cpu_seconds() - began)
        shape = self._info.shape
        if shape is not None:
            self._work += seconds + in_chunks(shape, past, tokens, chunk, all_rows=all_rows)

    def _count_step(self, past: int, step: Step, began: float) -> None:
        """Add one verify pass with the draft steps before it."""
        shape, head = self._info.shape, self._head
        if shape is None:
            return
        screened = self._native.screen_stats()["passes"]
        width = step.asked + 1
        self._work += a_pass(shape, past, width, width, screened=screened > self._screened)
        self._work += Work(core_seconds=_cpu_seconds() - began)
        self._screened = screened
        if step.head_steps and head is not None:
            self._work += head_steps(shape, head.weight_bytes, head.draft_vocabulary, step.head_steps)

    def tokenize(self, text: str, *, special: bool = False, bos: bool = False) -> list[int]:
        try:
            return self._native.tokenize(text.encode("utf-8", "surrogateescape"), bos, special)
        except _native.Error as error:
            _raise(error)

    def piece(self, token: int) -> bytes:
        return self._native.piece(token)

    def is_end(self, token: int) -> bool:
        return self._native.is_end(token)

    def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        encoded = [(role.encode(), content.encode("utf-8", "surrogateescape")) for role, content in messages]
        try:
            return self._native.chat_prompt(encoded).decode("utf-8", "surrogateescape")
        except _native.Error as error:
            _raise(error)

    def prefill(self, tokens: Sequence[int], progress: Progress | None = None) -> int:
        began = _cpu_seconds()
        try:
            past = self.n_past
            found = self._native.prefill(list(tokens), progress)
        except _native.Error as error:
            _raise(error)
        self._count(past, len(tokens), PREFILL_CHUNK, all_rows=False, began=began)
        return found

    def decode(self, tokens: Sequence[int]) -> list[int]:
        began = _cpu_seconds()
        try:
            past = self.n_past
            found = self._native.decode(list(tokens))
        except _native.Error as error:
            _raise(error)
        self._count(past, len(tokens), LOGITS_CHUNK, all_rows=True, began=began)
        return found

    def logits(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        began = _cpu_seconds()
        try:
            past = self.n_past
            found = self._native.logits(list(tokens))
        except _native.Error as error:
            _raise(error)
        self._count(past, len(tokens), LOGITS_CHUNK, all_rows=True, began=began)
        return found

    def start(
        self,
        prompt: Sequence[int],
        *,
        max_tokens: int,
        source: Sequence[int] = (),
        sampling: Sampling = GREEDY,
        drafting: Drafting = AUTO,
    ) -> Step:
        options = _options(max_tokens, sampling, drafting)
        try:
            if drafting.mode in ("head", "copy+head") and self._native.head_info() is None:
                raise EngineError(f"there is no draft head for this model; --draft {drafting.mode} needs one")
            if drafting.mode != "off" and drafting.fixed is None and self._price(prompt):
                # measuring ran passes of its own: the logits after the prompt are wanted again
                self._native.rollback(len(prompt) - 1)
                self._native.prefill([prompt[-1]], None)
            return _step(self._native.start(list(prompt), list(source), options))
        except _native.Error as error:
            _raise(error)

    def step(self) -> Step:
        began = _cpu_seconds()
        try:
            past = self.n_past
            found = _step(self._native.step())
        except _native.Error as error:
            _raise(error)
        self._count_step(past, found, began)
        return found

    def set_drafter(self, drafter: Callable[[list[int]], list[int]] | None) -> None:
        """Draft with a Python function from the tokens so far to the next ones; None: as before."""
        self._native.set_drafter(drafter)

    def oracle(
        self, prompt: Sequence[int], answer: Sequence[int], source: Sequence[int] = ()
    ) -> tuple[int, float]:
        """(passes, seconds by the cost curve) of a gate that knew the answer, with these drafters."""
        self._price()
        return self._native.oracle(list(prompt), list(source), list(answer))

    def price_as(self, extra_column: float) -> list[float]:
        """Let the gate decide as on a CPU whose further columns cost `extra_column` of a pass over one token
        each: for simulations, until `price_normally`. Returns that curve."""
        one = self.costs()[0]
        curve = [one * (1 + extra_column * i) for i in range(MAX_WIDTH)]
        self._native.set_costs(curve, fixed=True)
        return curve

    def price_normally(self) -> None:
        """Undo `price_as`: the gate goes by this machine again, and has yet to learn."""
        if self._costs is not None:
            self._native.set_costs(self._costs.front, self._costs.per_position)

    def costs(self) -> list[float]:
        """Seconds of a pass over 1..MAX_WIDTH tokens on this machine, as the gate saw them last."""
        self._price()
        return self._native.costs()

    def _price(self, prompt: Sequence[int] = ()) -> bool:
        """Tell the gate what passes cost here: from the cache folder, else measured (True).

        Where the context has no room to measure, it stays untold: few tokens are left to draft."""
        if self._native.costs() and self._costs is None:
            return False  # somebody else has told it
        file = CostFile(self._path, self._info, self.n_threads)
        if self._costs is None and (kept := file.read()) is not None:
            self._take_costs(kept)
        if not self._doubts_costs() or self._native.n_ctx - self._native.length < MAX_WIDTH:
            return False
        self._measured += 1
        found = PassCosts(**self._native.measure_costs(list(prompt[:MAX_WIDTH])))
        if found.sound:
            file.write(found)
        self._take_costs(found)
        return True

    def _take_costs(self, costs: PassCosts) -> None:
        self._costs = costs
        self._native.set_costs(costs.front, costs.per_position)

    def _doubts_costs(self) -> bool:
        """Whether to measure (again): what is known is none, was measured while the machine was busy, or
        without a long enough text before the passes."""
        costs = self._costs
        if costs is None:
            return True
        if self._measured >= MOST_MEASURED:
            return False
        deep = self._native.attended() >= DEEP
        return not costs.sound or self._native.pace() < BUSY_PACE or (deep and costs.depth < DEEP)

    def capture(
        self, tokens: Sequence[int], layers: Sequence[int]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Like prefill, for training: hidden states [n, n_embd] after the final norm, and for each of
        `layers`
        what goes into it [layer, n, n_embd] and its queries after RoPE, scaled [layer, n, heads *
        head_dim]."""
        try:
            return self._native.capture(list(tokens), list(layers))
        except _native.Error as error:
            _raise(error)

    def read_cache(
        self, layer: int, begin: int, end: int
    ) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.float16]]:
        """Cached keys (after RoPE) and values of one layer, [end - begin, n_head_kv, head_dim]."""
        import numpy as np

        try:
            key, value = self._native.read_cache(layer, begin, end)
        except _native.Error as error:
            _raise(error)
        return key.view(np.float16), value.view(np.float16)

    def open_head(self, path: Path) -> None:
        """Draft with this head from now on. Raises HeadFileError; the engine then has no other head than
        before."""
        try:
            self._native.open_head(str(path))
        except _native.Error as error:
            raise HeadFileError(error.args[1].decode("utf-8", "replace")) from None
        self._head = self.head

    @property
    def head(self) -> HeadInfo | None:
        """The open head, if there is one."""
        found = self._native.head_info()
        return None if found is None else HeadInfo(**found)

    @property
    def fingerprint(self) -> str:
        """Of the model file: what a head names as its backbone."""
        return self._native.fingerprint()

    def head_chain(
        self,
        row: int,
        token: int,
        guesses: Sequence[tuple[int, int]],
        vocabulary: Sequence[int],
        forced: Sequence[int] = (),
    ) -> tuple[list[int], list[float], npt.NDArray[np.float32]]:
        """Draft steps by themselves, for tests: from hidden row `row` of the last pass, `token` behind the
        cache,
        a (token, kind) copy guess a step, the tokens `vocabulary` beside the head's own, `forced` tokens
        in place
        of drafted ones. Returns tokens, probabilities, states [n, n_embd]."""
        try:
            return self._native.head_chain(row, token, list(guesses), list(vocabulary), list(forced))
        except _native.Error as error:
            _raise(error)

    def rollback(self, n_past: int) -> None:
        try:
            self._native.rollback(n_past)
        except _native.Error as error:
            _raise(error)

    def abort(self) -> None:
        self._native.abort()

    def close(self) -> None:
        self._native.close()


def copy_guesses(
    prompt: Sequence[int], source: Sequence[int], answer: Sequence[int]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """What copying would have said in the place of each token of prompt and answer (-1: nothing), and the
    kind of that guess (native/src/draft/copy_guess.h)."""
    return _native.copy_guesses(list(prompt), list(source), list(answer))


def _options(max_tokens: int, sampling: Sampling, drafting: Drafting) -> dict[str, Any]:
    """Options as the native module takes them. Raises EngineError for values out of range."""
    if drafting.mode not in DRAFT_MODES:
        raise EngineError(f"unknown draft mode '{drafting.mode}'; there are {', '.join(DRAFT_MODES)}")
    if drafting.lenient and drafting.lenient not in LENIENT_RULES:
        raise EngineError(f"unknown lenient rule '{drafting.lenient}'; there are {', '.join(LENIENT_RULES)}")
    for name, value, low, high in (
        ("temperature", sampling.temperature, 0.0, 100.0),
        ("top-p", sampling.top_p, 0.0, 1.0),
        ("min-p", sampling.min_p, 0.0, 1.0),
        ("repeat penalty", sampling.repeat_penalty, 0.01, 100.0),
        ("alpha", drafting.alpha, 0.0, 1.0),
        ("draft length", drafting.longest if drafting.fixed is None else drafting.fixed, 0, MAX_DRAFT),
    ):
        if not low <= value <= high:
            raise EngineError(f"{name} must be {low:g} to {high:g}, not {value:g}")
    return {
        "temperature": sampling.temperature,
        "top_k": max(0, min(sampling.top_k, 1 << 30)),
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "repeat_penalty": sampling.repeat_penalty,
        "repeat_last": max(0, min(sampling.repeat_last, 1 << 30)),
        "seed": sampling.seed & ((1 << 64) - 1),
        "draft_copy": drafting.mode in ("auto", "copy", "copy+head"),
        "draft_head": drafting.mode in ("auto", "head", "copy+head"),
        "draft_max": drafting.longest,
        "draft_fixed": -1 if drafting.fixed is None else drafting.fixed,
        "lenient_rule": LENIENT_RULES.index(drafting.lenient) + 1 if drafting.lenient else 0,
        "lenient_alpha": drafting.alpha,
        "max_tokens": max_tokens,
    }


def _step(found: dict[str, Any]) -> Step:
    return Step(
        tokens=tuple(found["tokens"]),
        sources=tuple(_SOURCES[i] for i in found["sources"]),
        drafted=found["drafted"],
        accepted=found["accepted"],
        lenient=found["lenient"],
        draft_sources=tuple(_SOURCES[i] for i in found["draft_sources"]),
        head_steps=found["head_steps"],
        head_seconds=found["head_seconds"],
        asked=found["asked"],
        finish=_FINISH[found["finish"]],
        seconds=found["seconds"],
    )
