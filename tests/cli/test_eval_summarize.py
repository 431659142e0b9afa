"""`mtp eval summarize`, with a fake engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Outcome
from cli.fake_engine import FakeEngine
from mtp_cli.evaluate.proofreading import read_items as read_sentences
from mtp_cli.evaluate.summaries import Item, Rouge, lead, lexrank, read_items
from mtp_cli.exits import UserError
from mtp_cli.readers import Kind

Mtp = Callable[..., Outcome]
ROWS = [
    {"text": "The roof leaks. It is old. It is wet. It is late.", "summary": "The roof leaks."},
    {
        "dialogue": "Anna: Hi.\nBen: Hello.\nAnna: Rain?\nBen: Yes.",
        "summary": "Anna and Ben talk about rain.",
    },
    {"turns": ["Summarize: The bill rises to 5."], "references": ["The bill rises.", "It costs 5."]},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)) + "\n")
    return path


def answer(prompt: str) -> str:
    if "Anna" in prompt:
        return " rain."
    return " The roof leaks." if "roof" in prompt else " The bill rises in Paris to 7."


def test_texts_and_references_are_found(data: Path) -> None:
    one, two, three = read_items(data, 0, None)
    assert (one.kind, two.kind, three.kind) == (Kind.article, Kind.chat, Kind.article)
    assert three == Item("The bill rises to 5.", ("The bill rises.", "It costs 5."), Kind.article)
    assert lead(one) == "The roof leaks. It is old. It is wet."
    assert lead(two) == "Anna: Hi. Ben: Hello. Anna: Rain?"
    assert len(read_items(data, 2, None)) == 2


@pytest.mark.parametrize(
    ("text", "says"), [("{}", "needs one of"), ("x", "not JSON"), ("", "no lines"), ("[1]", "needs")]
)
def test_wrong_data_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(UserError, match=says):
        read_items(tmp_path / "x.jsonl", 0, None)
    (tmp_path / "bin").write_bytes(b"\xff{}")
    for name, wrong in (("none", "no such file"), ("bin", "not valid UTF-8"), ("", "is a folder")):
        for read in (lambda path: read_items(path, 0, None), lambda path: read_sentences(path, 0)):
            with pytest.raises(UserError, match=wrong):
                read(tmp_path / name)


def test_report(mtp: Mtp, data: Path) -> None:
    done = mtp(FakeEngine(answer), "eval", "summarize", "--data", str(data), "--format", "json")
    assert done.code == 0, done.err
    found = json.loads(done.text)
    assert (found["texts"], found["with_unsupported_names"], found["with_unsupported_numbers"]) == (3, 1, 1)
    assert (found["unfinished"], found["preambles"], found["loops"], found["length_kept"]) == (0, 0, 0, None)
    assert [row["summary"] for row in found["summaries"]] == [
        "The roof leaks.",
        "Anna and Ben talk about rain.",
        "The bill rises in Paris to 7.",
    ]
    done = mtp(FakeEngine(answer), "eval", "summarize", "--data", str(data), "--length", "10", "-q")
    assert "asked length kept" in done.text
    assert "ROUGE-1" in done.text
    assert done.err == ""


def test_rouge(mtp: Mtp, data: Path) -> None:
    pytest.importorskip("rouge_score")
    found = json.loads(
        mtp(FakeEngine(answer), "eval", "summarize", "--data", str(data), "--format", "json").text
    )
    assert found["rouge_available"] is True
    assert found["rouge"]["mtp"]["rouge1"] > found["rouge"]["lead-3"]["rouge1"]
    item = Item("x", ("The roof leaks.",), Kind.article)
    assert Rouge().mean([("The roof leaks.", item)]) == {"rouge1": 1.0, "rouge2": 1.0, "rougeL": 1.0}
    assert Rouge().mean([("x", Item("x", (), Kind.article))]) is None


def test_short_is_a_number_of_sentences(mtp: Mtp, data: Path) -> None:
    arguments = ("eval", "summarize", "--data", str(data), "--format", "json", "--length")
    engine = FakeEngine(lambda prompt: " It is. The roof leaks. They met on the hill.")
    assert json.loads(mtp(engine, *arguments, "short").text)["length_kept"] == 3
    assert json.loads(mtp(engine, *arguments, "90").text)["length_kept"] == 0
    assert json.loads(mtp(engine, *arguments, "medium").text)["length_kept"] is None


def test_lexrank_takes_lines_of_the_text_itself(data: Path) -> None:
    pytest.importorskip("sumy")
    one, two, _ = read_items(data, 0, None)
    assert lexrank(one, 4) == "The roof leaks. It is old. It is wet. It is late."
    assert lexrank(two, 4) == "Anna: Hi. Ben: Hello. Anna: Rain? Ben: Yes."
    rows = ("Cats sleep all day long.", "Rain fell.", "Old cats sleep all day long.", "Cats sleep long.")
    item = Item(" ".join(rows), ("x",), Kind.article)
    assert (lexrank(item, 1) or "").startswith("Cats")


def test_without_sumy_there_is_no_lexrank(mtp: Mtp, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rouge_score")
    arguments = ("eval", "summarize", "--data", str(data))
    with monkeypatch.context() as patch:
        patch.setitem(__import__("sys").modules, "sumy.models.dom", None)
        assert "LexRank" not in mtp(FakeEngine(answer), *arguments).text
    pytest.importorskip("sumy")
    assert "LexRank-3" in mtp(FakeEngine(answer), *arguments).text


def test_a_full_stop_does_not_finish_a_sentence(mtp: Mtp, data: Path) -> None:
    done = mtp(
        FakeEngine(lambda prompt: " It meets the. It leaks."),
        *("eval", "summarize", "--data", str(data), "--format", "json"),
    )
    assert json.loads(done.text)["unfinished"] == 3


def test_without_rouge_score_the_rest_is_counted(
    mtp: Mtp, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rouge_score.rouge_scorer", None)
    done = mtp(FakeEngine(answer), "eval", "summarize", "--data", str(data))
    assert done.code == 0
    assert "unavailable" in done.text
    assert "pip install 'mtp-cli[eval]'" in done.text
    assert "name not in the text        1 of 3" in done.text
