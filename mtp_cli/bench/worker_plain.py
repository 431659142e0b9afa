"""The plain arm: the product's own engine and its own decode loop, no drafting."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from mtp_cli.bench.protocol import KIND_MISSING, KIND_MODEL, ArmError, main
from mtp_cli.engine import Engine, EngineError, ModelFileError, open_engine
from mtp_cli.events import EndEvent, PrefillEvent, StepEvent
from mtp_cli.generate import generate

clock = time.perf_counter


class PlainArm:
    """See `protocol.Arm`."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._context: list[int] = []

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            raise ArmError("no model is open")
        return self._engine

    def open(self, model: str, n_ctx: int, threads: int) -> dict[str, Any]:
        try:
            engine = open_engine(Path(model), n_ctx=n_ctx, n_threads=threads)
        except ModelFileError as error:
            raise ArmError(str(error), KIND_MODEL) from error
        except EngineError as error:
            raise ArmError(str(error)) from error
        except ImportError as error:
            raise ArmError(f"the native engine is not built: {error}", KIND_MISSING) from error
        self._engine = engine
        info = engine.info
        described = {
            "architecture": info.architecture,
            "name": info.name,
            "file_bytes": info.file_bytes,
            "parameters": info.parameters,
            "n_layer": info.n_layer,
            "n_vocab": info.n_vocab,
            "n_ctx_train": info.n_ctx_train,
            "weight_types": dict(info.weight_types),
            "kernel": info.kernel,
        }
        return {"threads": engine.n_threads, "n_ctx": engine.n_ctx, "info": described}

    def prompts(self, texts: list[str], task: str, model: str) -> dict[str, Any]:
        engine = self.engine
        if task == "free":
            return {"tokens": [engine.tokenize(text, special=False, bos=True) for text in texts]}
        from mtp_cli.bench.prompts import job

        try:
            asked = job(engine, task, Path(model), lambda event: None)
            return {"tokens": [asked.prompt_tokens(text) for text in texts]}
        except EngineError as error:
            raise ArmError(str(error)) from error

    def answer(self, text: str, task: str, model: str) -> dict[str, Any]:
        from mtp_cli.bench.prompts import job

        count = 0

        def listen(event: object) -> None:
            nonlocal count
            count += isinstance(event, StepEvent)

        try:
            asked = job(self.engine, task, Path(model), listen)
            asked.run(text)
        except EngineError as error:
            raise ArmError(str(error)) from error
        return {"tokens": asked.prompt_tokens(text), "generated_tokens": count}

    def generate(self, tokens: list[int], max_tokens: int) -> dict[str, Any]:
        ids: list[int] = []
        parts: list[str] = []
        prefill_s = 0.0
        first_s: float | None = None
        started = clock()
        try:
            for event in generate(self.engine, tokens, max_tokens=max_tokens):
                if isinstance(event, StepEvent):
                    if first_s is None:
                        first_s = clock() - started
                    ids.append(event.token)
                    parts.append(event.text)
                elif isinstance(event, PrefillEvent):
                    prefill_s = event.seconds
                elif isinstance(event, EndEvent):
                    parts.append(event.tail)
                    passes, decode_s = event.passes, event.decode_seconds
        except EngineError as error:
            raise ArmError(str(error)) from error
        return {
            "ids": ids,
            "text": "".join(parts),
            "passes": passes,
            "prefill_s": prefill_s,
            "decode_s": decode_s,
            "first_token_s": first_s,
        }

    def prefill(self, tokens: list[int]) -> dict[str, Any]:
        engine = self.engine
        engine.rollback(0)
        started = clock()
        engine.prefill(tokens)
        return {"seconds": clock() - started}

    def cost_begin(self, tokens: list[int]) -> dict[str, Any]:
        self._context = list(tokens)
        self.engine.rollback(0)
        self.engine.prefill(tokens)
        return {}

    def cost(self, width: int, repeats: int) -> dict[str, Any]:
        engine, keep = self.engine, len(self._context)
        tokens = [self._context[i % keep] for i in range(width)]
        found: list[float] = []
        for turn in range(repeats + 1):
            started = clock()
            engine.decode(tokens)
            engine.rollback(keep)
            if turn:
                found.append(1e3 * (clock() - started))
        return {"ms": found}

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None


if __name__ == "__main__":
    main(PlainArm())
