"""The product's prompts on real models: the same text whatever drafts it. A short form of identity.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mtp_cli import catalog

from .identity import Identity, questions, texts_of

pytestmark = [pytest.mark.model, pytest.mark.native, pytest.mark.slow]

DATA = Path(__file__).parents[3] / "shared" / "data"
TEXTS = {
    "proofread": [
        "There is many reason why peoples likes to travel abroad, and money are not one of it.",
        "The weather is nice today, I think.",
    ],
    "summarize": [
        "The town library will close for eleven weeks from the third of March. The roof of the reading "
        "hall, which dates from 1926, lets in water at four places. The council had planned to repair only "
        "the roof, but an inspection found that the wiring no longer meets the rules."
    ],
}
"""Where the evaluation data is not at hand."""
FILES = {"proofread": "proofread.jsonl", "summarize": "spec_bench_sum.jsonl"}


@pytest.fixture(scope="module", params=["smollm2", "gemma3"])
def identity(request: pytest.FixtureRequest) -> Iterator[tuple[Identity, object]]:
    path: Path = request.getfixturevalue(request.param)
    name = {"smollm2": "smollm2-135m", "gemma3": "gemma3-270m"}[request.param]
    opened = Identity(path, seeds=(1, 2), lengths=(1, 2, 4, 8), max_tokens=24, n_ctx=2048)
    yield opened, catalog.load_catalog()[name].prompts
    opened.close()


@pytest.mark.parametrize("task", ["proofread", "summarize"])
def test_same_text(task: str, identity: tuple[Identity, object]) -> None:
    """Off, copy, auto, fixed lengths, perfect drafts; greedy and two seeds; 1 and 2 threads."""
    opened, prompts = identity
    file = DATA / FILES[task]
    texts = texts_of(file, 2 if task == "proofread" else 1) if file.exists() else TEXTS[task]
    for number, question in enumerate(questions(opened.engines[0], prompts, task, texts), 1):
        opened.check(question, f"{task} {number}")
    assert opened.tally.exact, "\n".join(opened.tally.lines())
    assert sum(opened.tally.accepted.values()) > 0
