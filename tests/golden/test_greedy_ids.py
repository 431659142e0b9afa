"""Greedy continuations on real models: the ids depend on the file and the prompt, on nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mtp_cli.engine import Engine, open_engine
from mtp_cli.events import StepEvent
from mtp_cli.generate import generate

pytestmark = [pytest.mark.native, pytest.mark.model, pytest.mark.slow]

NEW_TOKENS = 48
PROMPTS = (
    "The harbour was quiet that morning. A single boat",
    "Q: Name three things that float on water.\nA:",
    "Correct the text: He go to school yesterday and forget his book.\nCorrected:",
)


def _continue(engine: Engine, prompt: Sequence[int]) -> list[int]:
    """Plain decoding, through the product's own loop."""
    events = generate(engine, prompt, max_tokens=NEW_TOKENS)
    return [event.token for event in events if isinstance(event, StepEvent)]


def _checked(engine: Engine, prompt: Sequence[int], ids: Sequence[int], width: int) -> list[int]:
    """The ids that passes of `width` right tokens predict, as verification of perfect drafts would."""
    engine.rollback(0)
    predicted = [engine.prefill(prompt)]
    for start in range(0, len(ids) - 1, width):
        predicted += engine.decode(ids[start : min(start + width, len(ids) - 1)])
    return predicted


@pytest.mark.parametrize("name", ["smollm2", "gemma3"])
def test_ids_do_not_depend_on_threads_or_chunks(name: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(name)
    engines = [open_engine(path, n_ctx=512, n_threads=threads) for threads in (1, 2)]
    try:
        for text in PROMPTS:
            prompt = engines[0].tokenize(text, bos=True)
            want = _continue(engines[0], prompt)
            assert len(want) > 4
            assert _continue(engines[1], prompt) == want
            for engine, width in zip(engines * 3, (2, 3, 5, 8, 13, 16), strict=True):
                assert _checked(engine, prompt, want, width) == want, f"{width} tokens a pass"
    finally:
        for engine in engines:
            engine.close()
