"""The native arms: the product's own engine and its own decode loop, with any drafting."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mtp_cli.bench.protocol import KIND_MISSING, KIND_MODEL, ArmError, main
from mtp_cli.bench.screening import between
from mtp_cli.bench.stops import Stops
from mtp_cli.engine import Drafting, Engine, EngineError, ModelFileError, Sampling, Step, open_engine
from mtp_cli.events import DraftCounts, EndEvent, PrefillEvent, StepEvent
from mtp_cli.generate import generate

clock = time.perf_counter


class NativeArm:
    """See `protocol.Arm`."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._context: list[int] = []

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            raise ArmError("no model is open")
        return self._engine

    def open(self, model: str, n_ctx: int, threads: int, head: str | None = None) -> dict[str, Any]:
        try:
            engine = open_engine(Path(model), n_ctx=n_ctx, n_threads=threads)
        except ModelFileError as error:
            raise ArmError(str(error), KIND_MODEL) from error
        except EngineError as error:
            raise ArmError(str(error)) from error
        except ImportError as error:
            raise ArmError(f"the native engine is not built: {error}", KIND_MISSING) from error
        self._engine = engine
        opened = _open_head(engine, Path(model), head) if head else None
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
            "shape": asdict(info.shape) if info.shape is not None else None,
        }
        return {"threads": engine.n_threads, "n_ctx": engine.n_ctx, "info": described, "head": opened}

    def prompts(self, texts: list[str], tasks: list[str], model: str) -> dict[str, Any]:
        from mtp_cli.bench.prompts import asked

        try:
            found = [
                asked(self.engine, text, task, Path(model)) for text, task in zip(texts, tasks, strict=True)
            ]
        except EngineError as error:
            raise ArmError(str(error)) from error
        return {
            "tokens": [one.tokens for one in found],
            "sources": [one.source for one in found],
            "stops": [one.stops for one in found],
        }

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

    def generate(
        self,
        tokens: list[int],
        max_tokens: int,
        stops: Sequence[str] = (),
        source: Sequence[int] = (),
        sampling: Mapping[str, Any] | None = None,
        drafting: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        ids: list[int] = []
        parts: list[str] = []
        prefill_s = 0.0
        first_s: float | None = None
        before = prefilled = self.engine.work
        screened = self._screened()
        started = clock()
        events = generate(
            self.engine,
            tokens,
            max_tokens=max_tokens,
            source=source,
            sampling=Sampling(**(sampling or {})),
            drafting=Drafting(**(drafting or {"mode": "off"})),
            gate=Stops(stops),
        )
        try:
            for event in events:
                if isinstance(event, StepEvent):
                    if first_s is None:
                        first_s = clock() - started
                    ids.append(event.token)
                    parts.append(event.text)
                elif isinstance(event, PrefillEvent):
                    prefill_s = event.seconds
                    prefilled = self.engine.work
                elif isinstance(event, EndEvent):
                    parts.append(event.tail)
                    end = event
        except EngineError as error:
            raise ArmError(str(error)) from error
        after = self.engine.work
        return {
            "work": asdict(after - before) if after is not None and before is not None else {},
            "decode_work": asdict(after - prefilled) if after is not None and prefilled is not None else {},
            "screen": between(screened, self._screened()) if screened else {},
            "ids": ids,
            "text": "".join(parts),
            "passes": end.passes,
            "prefill_s": prefill_s,
            "decode_s": end.decode_seconds,
            "first_token_s": first_s,
            "tokens_by_source": end.tokens_by_source,
            "drafts": {name: _counts(counts) for name, counts in end.drafts.items()},
            "head": {"steps": end.head.steps, "seconds": end.head.seconds, "spans": end.head.spans},
        }

    def _screened(self) -> dict[str, Any]:
        """The counters of screening; empty for an engine without any."""
        native = getattr(self.engine, "_native", None)
        return native.screen_stats() if native is not None else {}

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

    def oracle(self, tokens: list[int], source: list[int], ids: list[int]) -> dict[str, Any]:
        from mtp_cli.engine_native import NativeEngine

        engine = self.engine
        if not isinstance(engine, NativeEngine):
            raise ArmError("this engine has no oracle", KIND_MISSING)
        try:
            passes, seconds = engine.oracle(tokens, ids, source)
            return {"passes": passes, "seconds": seconds, "pass_s": engine.costs()[0]}
        except EngineError as error:
            raise ArmError(str(error)) from error

    def priced(
        self,
        tokens: list[int],
        source: list[int],
        stops: Sequence[str],
        max_tokens: int,
        drafting: Mapping[str, Any],
        extra_column: float,
    ) -> dict[str, Any]:
        from mtp_cli.engine_native import NativeEngine

        engine = self.engine
        if not isinstance(engine, NativeEngine):
            raise ArmError("this engine has no costs to change", KIND_MISSING)
        curve = engine.price_as(extra_column)
        seconds, passes, generated = 0.0, 0, 0
        step, gate = engine.step, Stops(stops)

        def counted() -> Step:
            nonlocal seconds, passes
            found = step()
            seconds += curve[found.asked] + found.head_seconds
            passes += 1
            return found

        engine.step = counted  # type: ignore[method-assign]
        try:
            events = generate(
                engine, tokens, max_tokens=max_tokens, source=source, drafting=Drafting(**drafting), gate=gate
            )
            generated = sum(isinstance(event, StepEvent) for event in events)
        finally:
            engine.step = step  # type: ignore[method-assign]
            engine.price_normally()
        return {"seconds": seconds, "passes": passes, "tokens": generated, "pass_s": curve[0]}

    def verify(self, tokens: list[int], ids: list[int], width: int) -> dict[str, Any]:
        raise ArmError("every native arm is compared with plain; only the reference verifies itself")

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def _open_head(engine: Engine, model: Path, head: str) -> dict[str, Any] | None:
    """What was opened: `head` is a file, or "auto" for the model's own if it has one."""
    from mtp_cli.catalog import entry_for_file
    from mtp_cli.heads import attach_head

    try:
        path = None if head == "auto" else Path(head)
        warning = attach_head(engine, model, entry_for_file(model), mode="auto", head=path)
    except EngineError as error:
        raise ArmError(str(error), KIND_MODEL) from error
    if warning:
        raise ArmError(warning, KIND_MODEL)
    return asdict(engine.head) if engine.head else None


def _counts(counts: DraftCounts) -> dict[str, Any]:
    return {
        "drafted": counts.drafted,
        "accepted": counts.accepted,
        "lenient": counts.lenient,
        "positions": counts.positions,
    }


if __name__ == "__main__":
    main(NativeArm())
