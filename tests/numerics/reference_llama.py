"""Logits from llama.cpp, computed in a process of its own so that its libraries never mix with the engine's.

Use `LlamaReference` from tests. Run as a script it is the worker: JSON lines in, `.npy` files out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

STEP = 128
"""Positions a pass: their logits over a large vocabulary take memory."""


class LlamaReference:
    """A llama.cpp worker process. Use as a context manager."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mtp-llama-")
        self._count = 0
        self._worker = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> LlamaReference:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._worker.stdin is not None
        self._worker.stdin.close()
        self._worker.wait(timeout=60)
        self._folder.cleanup()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._worker.stdin is not None and self._worker.stdout is not None
        self._worker.stdin.write(json.dumps(request) + "\n")
        self._worker.stdin.flush()
        line = self._worker.stdout.readline()
        if not line:
            raise RuntimeError("the llama.cpp worker died")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"llama.cpp: {answer['error']}")
        return answer

    def logits(
        self,
        path: Path,
        tokens: Sequence[int],
        *,
        threads: int = 1,
        exact_cache: bool = False,
        width: int = STEP,
    ) -> npt.NDArray[np.float32]:
        """[tokens, n_vocab], memory-mapped from a file that lives as long as this object; `width` positions a
        pass.

        exact_cache: f32 keys and values and no flash attention, to check the f32 evaluation closely.
        Otherwise llama.cpp's own defaults (f16 cache)."""
        self._count += 1
        out = Path(self._folder.name) / f"{self._count}.npy"
        request = {"model": str(path), "tokens": list(map(int, tokens)), "out": str(out)}
        self._ask(request | {"threads": threads, "exact_cache": exact_cache, "width": width})
        rows: npt.NDArray[np.float32] = np.load(out, mmap_mode="r")
        out.unlink()  # the mapping keeps the data alive
        return rows

    def tokenize(self, path: Path, text: str, *, bos: bool = True) -> list[int]:
        """Token ids of plain text."""
        return list(map(int, self._ask({"model": str(path), "text": text, "bos": bos})["tokens"]))


class _Model:
    """Worker side: one loaded model file."""

    def __init__(self, path: str, vocab_only: bool) -> None:
        import llama_cpp

        self.api: Any = llama_cpp
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = 0
        params.vocab_only = vocab_only
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), params)
        if not self.model:
            raise ValueError(f"cannot load {path}")
        self.vocab = llama_cpp.llama_model_get_vocab(self.model)

    def close(self) -> None:
        self.api.llama_model_free(self.model)

    def tokenize(self, text: str, bos: bool) -> list[int]:
        data = text.encode()
        room = len(data) + 8
        ids = (self.api.llama_token * room)()
        count = self.api.llama_tokenize(self.vocab, data, len(data), ids, room, bos, False)
        return list(ids[:count])

    def context(self, tokens: int, threads: int, exact_cache: bool) -> Any:
        params = self.api.llama_context_default_params()
        params.n_ctx = max(256, tokens)
        params.n_batch = params.n_ubatch = STEP
        params.n_threads = params.n_threads_batch = threads
        if exact_cache:
            params.type_k = params.type_v = self.api.GGML_TYPE_F32
            params.flash_attn_type = 0
        context = self.api.llama_init_from_model(self.model, params)
        if not context:
            raise ValueError("cannot make a context")
        return context

    def logits(self, tokens: list[int], out: str, threads: int, exact_cache: bool, width: int) -> None:
        """Write [tokens, n_vocab] to `out`, `width` positions a pass."""
        context = self.context(len(tokens), threads, exact_cache)
        n_vocab = self.api.llama_vocab_n_tokens(self.vocab)
        shape = (len(tokens), n_vocab)
        rows = np.lib.format.open_memmap(out, mode="w+", dtype=np.float32, shape=shape)
        batch = self.api.llama_batch_init(width, 0, 1)
        for start in range(0, len(tokens), width):
            chunk = tokens[start : start + width]
            batch.n_tokens = len(chunk)
            for i, token in enumerate(chunk):
                batch.token[i], batch.pos[i], batch.logits[i] = token, start + i, 1
                batch.n_seq_id[i], batch.seq_id[i][0] = 1, 0
            if self.api.llama_decode(context, batch) != 0:
                raise ValueError("llama_decode failed")
            pointer = self.api.llama_get_logits(context)
            rows[start : start + len(chunk)] = np.ctypeslib.as_array(pointer, shape=(len(chunk), n_vocab))
        rows.flush()
        self.api.llama_batch_free(batch)
        self.api.llama_free(context)


def _serve() -> None:
    import ctypes

    import llama_cpp

    silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
    llama_cpp.llama_log_set(silent, ctypes.c_void_p(0))
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {}
        try:
            model = _Model(request["model"], vocab_only="text" in request)
            if "text" in request:
                answer["tokens"] = model.tokenize(request["text"], request["bos"])
            else:
                wanted = (request[name] for name in ("tokens", "out", "threads", "exact_cache", "width"))
                model.logits(*wanted)
            model.close()
        except Exception as error:  # the asker raises it again
            answer["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
