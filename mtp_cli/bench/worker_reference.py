"""The reference arm: llama-cpp-python's low-level API, so that its Python layers are not counted against it.

Library defaults throughout (memory mapping, n_batch 2048, n_ubatch 512, flash attention as it sees fit);
only the context size and the threads are set, to the values of the other arm.
"""

from __future__ import annotations

import codecs
import ctypes
import importlib.util
import sys
import time
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtp_cli.bench.protocol import KIND_MISSING, KIND_MODEL, ArmError, main
from mtp_cli.bench.stops import Stops
from mtp_cli.threads import keep_to_fast_cores

clock = time.perf_counter


def low_level() -> Any:
    """The module `llama_cpp.llama_cpp` alone.

    Importing it the usual way runs the package's own `__init__`, which loads NumPy, Jinja and more: time
    and about 40 MB that the low-level API has no use for. An empty package in its place avoids that.
    """
    if "llama_cpp" not in sys.modules:
        spec = importlib.util.find_spec("llama_cpp")
        if spec is None or not spec.submodule_search_locations:
            raise ArmError(
                "the reference arm needs llama-cpp-python; install it, or use --arms plain", KIND_MISSING
            )
        package = types.ModuleType("llama_cpp")
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules["llama_cpp"] = package
    try:
        return importlib.import_module("llama_cpp.llama_cpp")
    except (ImportError, OSError, RuntimeError) as error:
        raise ArmError(f"llama-cpp-python does not load: {error}", KIND_MISSING) from error


class ReferenceArm:
    """See `protocol.Arm`. Pointers of the library are plain attributes; 0 or None when nothing is open."""

    def __init__(self) -> None:
        self._lib: Any = None
        self._model: Any = None
        self._ctx: Any = None
        self._sampler: Any = None
        self._context: list[int] = []
        self._piece_buffer = ctypes.create_string_buffer(256)

    def open(self, model: str, n_ctx: int, threads: int, head: str | None = None) -> dict[str, Any]:
        lib = self._lib = low_level()
        if not Path(model).is_file():
            raise ArmError(f"no model file at {model}", KIND_MODEL)
        self._silent = lib.llama_log_callback(lambda level, text, data: None)
        lib.llama_log_set(self._silent, ctypes.c_void_p(0))
        lib.llama_backend_init()
        self._model = lib.llama_model_load_from_file(model.encode(), lib.llama_model_default_params())
        if not self._model:
            raise ArmError(f"llama-cpp-python cannot load {model}", KIND_MODEL)
        params = lib.llama_context_default_params()
        params.n_ctx = n_ctx
        keep_to_fast_cores(threads)  # as the other arms
        if threads:
            params.n_threads = params.n_threads_batch = threads
        self._ctx = lib.llama_init_from_model(self._model, params)
        if not self._ctx:
            raise ArmError(f"llama-cpp-python cannot make a context of {n_ctx} tokens")
        self._vocab = lib.llama_model_get_vocab(self._model)
        self._memory = lib.llama_get_memory(self._ctx)
        self._n_ctx = int(lib.llama_n_ctx(self._ctx))
        self._n_batch = int(lib.llama_n_batch(self._ctx))
        self._sampler = lib.llama_sampler_init_greedy()
        self._wide = lib.llama_batch_init(64, 0, 1)
        used = int(lib.llama_n_threads(self._ctx))
        return {"threads": used, "n_ctx": self._n_ctx, "info": {"kernel": "llama.cpp"}}

    def prompts(self, texts: list[str], tasks: list[str], model: str) -> dict[str, Any]:
        if any(task != "free" for task in tasks):
            raise ArmError("the product's prompts need the native engine; use --task free", KIND_MISSING)
        nothing: list[list[int]] = [[] for _ in texts]
        return {"tokens": [self._tokenize(text) for text in texts], "sources": nothing, "stops": nothing}

    def answer(self, text: str, task: str, model: str) -> dict[str, Any]:
        raise ArmError("the product's answers need the native engine", KIND_MISSING)

    def _tokenize(self, text: str) -> list[int]:
        data = text.encode()
        room = len(data) + 8
        ids = (ctypes.c_int32 * room)()
        count = self._lib.llama_tokenize(self._vocab, data, len(data), ids, room, True, False)
        if count < 0:
            raise ArmError("llama-cpp-python cannot tokenise the text")
        return list(ids[:count])

    def _piece(self, token: int) -> bytes:
        size = self._lib.llama_token_to_piece(
            self._vocab, token, self._piece_buffer, len(self._piece_buffer), 0, False
        )
        return self._piece_buffer.raw[:size] if size > 0 else b""

    def _decode(self, ids: Any, count: int) -> None:
        """One llama_decode of `count` tokens at the end of the cache, logits of the last one only."""
        status = self._lib.llama_decode(self._ctx, self._lib.llama_batch_get_one(ids, count))
        if status:
            raise ArmError(f"llama_decode of {count} tokens gave status {status}")

    def _feed(self, tokens: list[int]) -> int:
        """Prefill an empty cache in batches of at most n_batch; returns the arg-max after the last."""
        for start in range(0, len(tokens), self._n_batch):
            part = tokens[start : start + self._n_batch]
            self._decode((ctypes.c_int32 * len(part))(*part), len(part))
        return int(self._lib.llama_sampler_sample(self._sampler, self._ctx, -1))

    def _check(self, tokens: list[int], more: int) -> None:
        if self._ctx is None:
            raise ArmError("no model is open")
        if not tokens or len(tokens) + more > self._n_ctx:
            raise ArmError(f"{len(tokens)} + {more} tokens do not fit the context of {self._n_ctx}")

    def generate(
        self,
        tokens: list[int],
        max_tokens: int,
        stops: Sequence[str] = (),
        source: Sequence[int] = (),
        sampling: Mapping[str, Any] | None = None,
        drafting: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The same loop as `mtp_cli.generate`, on the library's own functions; greedy, nothing drafted."""
        self._check(tokens, 0)
        if sampling or drafting:
            raise ArmError("the reference arm is greedy and drafts nothing")
        gate = Stops(stops)
        lib, ctx, sampler = self._lib, self._ctx, self._sampler
        lib.llama_memory_clear(self._memory, False)
        ids: list[int] = []
        parts: list[str] = []
        one = (ctypes.c_int32 * 1)()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        passes, first_s = 0, None
        started = clock()
        token = self._feed(tokens)
        prefill_s = clock() - started
        decoding = clock()
        while not lib.llama_vocab_is_eog(self._vocab, token) and len(ids) < max_tokens:
            ids.append(token)
            parts.append(gate.feed(decoder.decode(self._piece(token))))
            if first_s is None:
                first_s = clock() - started
            if gate.stopped or len(tokens) + passes >= self._n_ctx:
                break
            if len(ids) < max_tokens:
                one[0] = token
                self._decode(one, 1)
                token = int(lib.llama_sampler_sample(sampler, ctx, -1))
                passes += 1
        parts.append(decoder.decode(b"", final=True))
        return {
            "ids": ids,
            "text": "".join(parts),
            "passes": passes,
            "prefill_s": prefill_s,
            "decode_s": clock() - decoding,
            "first_token_s": first_s,
        }

    def prefill(self, tokens: list[int]) -> dict[str, Any]:
        self._check(tokens, 0)
        self._lib.llama_memory_clear(self._memory, False)
        started = clock()
        self._feed(tokens)
        return {"seconds": clock() - started}

    def cost_begin(self, tokens: list[int]) -> dict[str, Any]:
        self._check(tokens, 16)
        self._context = list(tokens)
        self._lib.llama_memory_clear(self._memory, False)
        self._feed(tokens)
        return {}

    def cost(self, width: int, repeats: int) -> dict[str, Any]:
        """The arg-max over the rows is left out here, in favour of the reference."""
        lib, batch, keep = self._lib, self._wide, len(self._context)
        self._fill([self._context[i % keep] for i in range(width)], keep)
        found: list[float] = []
        for turn in range(repeats + 1):
            started = clock()
            status = lib.llama_decode(self._ctx, batch)
            lib.llama_synchronize(self._ctx)
            removed = lib.llama_memory_seq_rm(self._memory, 0, keep, -1)
            elapsed = clock() - started
            if status or not removed:
                raise ArmError(f"llama_decode of {width} tokens gave status {status}, rolled back: {removed}")
            if turn:
                found.append(1e3 * elapsed)
        return {"ms": found}

    def _fill(self, tokens: Sequence[int], place: int) -> None:
        """Make the wide batch hold `tokens` from position `place` on, with the logits of all."""
        batch = self._wide
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i] = token
            batch.pos[i] = place + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = 1

    def oracle(self, tokens: list[int], source: list[int], ids: list[int]) -> dict[str, Any]:
        raise ArmError("the reference drafts nothing, so no oracle can do better")

    def priced(
        self,
        tokens: list[int],
        source: list[int],
        stops: Sequence[str],
        max_tokens: int,
        drafting: Mapping[str, Any],
        extra_column: float,
    ) -> dict[str, Any]:
        raise ArmError("the reference drafts nothing")

    def verify(self, tokens: list[int], ids: list[int], width: int) -> dict[str, Any]:
        self._check(tokens, len(ids))
        lib, ctx = self._lib, self._ctx
        lib.llama_memory_clear(self._memory, False)
        self._feed(tokens)
        differing: list[int] = []
        # the last id has no successor to compare with
        for start in range(0, len(ids) - 1, width):
            part = ids[start : min(start + width, len(ids) - 1)]
            self._fill(part, len(tokens) + start)
            status = lib.llama_decode(ctx, self._wide)
            if status:
                raise ArmError(f"llama_decode of {len(part)} tokens gave status {status}")
            for row in range(len(part)):
                said = int(lib.llama_sampler_sample(self._sampler, ctx, row))
                if said != ids[start + row + 1]:
                    differing.append(start + row + 1)
        return {"differing": differing}

    def close(self) -> None:
        """Nothing is freed: the process ends next, and the system takes everything back at once."""


if __name__ == "__main__":
    main(ReferenceArm())
