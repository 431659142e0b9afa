"""What the engine says that it read and multiplied, against the shapes of the models that a test writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtp_cli.engine import Drafting, open_engine
from mtp_cli.engine_native import NativeEngine
from mtp_cli.generate import generate
from mtp_cli.work import Work, a_pass, in_chunks

from .tiny_gguf import TinySpec, gemma_spec

pytestmark = pytest.mark.native
Tiny = Callable[[TinySpec], Path]


@pytest.mark.parametrize("spec", [TinySpec(), gemma_spec()], ids=lambda spec: spec.arch)
def test_shape_of_a_pass(tiny: Tiny, spec: TinySpec) -> None:
    engine = open_engine(tiny(spec), n_threads=1)
    info, shape = engine.info, engine.info.shape
    assert shape is not None
    norms = info.parameters - shape.layer_products - shape.output_products
    untied = info.parameters - shape.layer_products - 2 * shape.output_products
    assert 0 < (untied if untied > 0 else norms) < 0.1 * shape.layer_products
    assert shape.output_products == info.n_vocab * info.n_embd
    assert shape.vocabulary == info.n_vocab
    assert shape.full_layers + shape.sliding_layers == info.n_layer
    assert (shape.window > 0) == (shape.sliding_layers > 0)
    assert 0 < shape.screened_bytes <= shape.output_bytes
    weights = shape.layer_bytes + shape.output_bytes
    assert weights <= 1.05 * sum(info.weight_types.values())
    engine.close()


def test_counts_are_those_of_the_passes(tiny: Tiny) -> None:
    engine = open_engine(tiny(TinySpec()), n_threads=1)
    shape = engine.info.shape
    assert shape is not None
    assert engine.work == Work()
    prompt = [5, 6, 7, 8] * 60
    events = list(generate(engine, prompt, max_tokens=9, drafting=Drafting("off")))
    end = events[-1]
    work = engine.work
    assert work is not None
    expected = in_chunks(shape, 0, len(prompt), 192, all_rows=False)
    for i in range(end.passes):  # type: ignore[union-attr]
        expected += a_pass(shape, len(prompt) + i, 1, 1)
    assert (work.passes, work.columns) == (expected.passes, expected.columns)
    assert work.bytes == expected.bytes
    assert work.multiply_adds == expected.multiply_adds
    assert work.core_seconds > 0
    engine.logits([1] * 20)
    after = engine.work
    assert after is not None
    assert ((after - work).passes, (after - work).columns) == (2, 20)
    engine.close()


def test_drafted_tokens_are_counted_whether_kept_or_not(tiny: Tiny) -> None:
    engine = open_engine(tiny(TinySpec()), n_threads=1)
    assert isinstance(engine, NativeEngine)
    engine.set_drafter(lambda tokens: [1, 2, 3])
    prompt = [5, 6, 7, 8] * 30
    engine.prefill(prompt)
    before = engine.work
    engine.start(prompt, max_tokens=8, drafting=Drafting("copy", fixed=3))
    step = engine.step()
    after = engine.work
    assert before is not None
    assert after is not None
    assert step.asked == 3
    assert ((after - before).passes, (after - before).columns) == (1, 4)
    engine.close()
