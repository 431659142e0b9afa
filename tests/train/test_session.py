"""A whole training on a tiny model: from text to a head that the engine opens, and going on after a stop."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mtp_cli import app
from mtp_cli.engine import open_engine
from numerics.tiny_gguf import TinySpec, gemma_spec, write_tiny

pytestmark = pytest.mark.native

TEXT = "the old river town sent seven letters about bread and winter roads to a quiet library"


def prose(seed: int, sentences: int) -> str:
    rng = random.Random(seed)
    said = (
        " ".join(rng.choices(TEXT.split(), k=rng.randint(8, 14))).capitalize() + "." for _ in range(sentences)
    )
    return " ".join(said)


@pytest.fixture(
    params=[TinySpec(weight_type="Q8_0"), gemma_spec(weight_type="Q8_0")], ids=("llama", "gemma3")
)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "tiny.gguf", request.param)


def _train(model: Path, tmp_path: Path, *more: str) -> int:
    texts = tmp_path / "texts"
    texts.mkdir(exist_ok=True)
    for number in range(40):
        (texts / f"{number}.txt").write_text("\n\n".join(prose(10 * number + i, 5) for i in range(4)))
    head, work = tmp_path / "tiny.head.gguf", tmp_path / "work"
    where = ["--model", str(model), "--text", str(texts), "--output", str(head), "--work", str(work)]
    small = ["--minutes", "0.5", "--threads", "1", "--width", "64", "--format", "json", "-q"]
    return app.run(["train", *where, *small, *more])


def test_from_text_to_head(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _train(model, tmp_path, "--task", "proofread") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["visits"] > 0 and found["answer_tokens"] > 0
    engine = open_engine(model, n_threads=1)
    engine.open_head(Path(found["head"]))
    assert engine.head is not None
    engine.close()
    # the same command again has nothing left to do but to write the head
    assert _train(model, tmp_path, "--task", "proofread") == 0
    again = json.loads(capsys.readouterr().out)
    assert again["visits"] == found["visits"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--task", "translate"], "--task"),
        (["--width", "33"], "multiple of 32"),
        (["--layers", "0,99"], "layers 0 to"),
        (["--layers", "first"], "--layers"),
        (["--text", "/nowhere"], "there is no /nowhere"),
        (["--layers", "0,0"], "different layers"),
        (["--width", "4096"], "at most the model's own"),
    ],
)
def test_wrong_use(
    model: Path, tmp_path: Path, more: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _train(model, tmp_path, *more) == 2
    out, err = capsys.readouterr()
    assert out == "" and words in err and err.count("\n") == 1
