"""Own texts -> documents -> passages and sentences -> prompt texts."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from mtp_cli.train import prompt_texts
from mtp_cli.train.documents import Document
from mtp_cli.train.errors import TrainError
from mtp_cli.train.passages import is_clean, passages, proofread_texts
from mtp_cli.train.prompt_texts import Limits, PromptText, collect, held_out_documents, main, shares
from mtp_cli.train.texts import read_texts

NOUNS = [
    "teacher",
    "farmer",
    "doctor",
    "sailor",
    "painter",
    "baker",
    "singer",
    "writer",
    "gardener",
    "tailor",
]
VERBS = ["visited", "admired", "followed", "remembered", "described", "expected", "welcomed", "avoided"]
PLACES = ["village", "harbour", "market", "garden", "library", "station", "theatre", "bridge"]


def sentence(rng: random.Random) -> str:
    """A sentence of 10 words."""
    a, b = rng.choice(NOUNS), rng.choice(NOUNS)
    return f"The old {a} {rng.choice(VERBS)} the young {b} near the {rng.choice(PLACES)}."


def document(source: str, number: int, paragraphs: int = 12) -> Document:
    """A document with paragraphs of 2 to 7 sentences."""
    rng = random.Random(f"{source}{number}")
    text = tuple(" ".join(sentence(rng) for _ in range(rng.randint(2, 7))) for _ in range(paragraphs))
    return Document(source, f"d{number}", text)


DOCUMENTS = [document("a", number) for number in range(40)] + [
    document("b", number, 6) for number in range(6)
]
LIMITS = Limits({"summarize": 60, "proofread": 120}, {"a": 1.0, "b": 2.0})


def test_passages_are_whole_sentences_of_the_wanted_lengths() -> None:
    whole = " ".join(DOCUMENTS[0].paragraphs)
    found = [text for number in range(20) for text in passages(DOCUMENTS[0], random.Random(number))]
    lengths = [len(text.split()) for text in found]
    assert 60 <= min(lengths) < 120
    assert 250 < max(lengths) <= 800
    assert all(" ".join(text.split()) in whole for text in found)
    assert all(text.startswith("The old") and text.endswith(".") for text in found)
    assert any("\n\n" in text for text in found)


def test_passages_do_not_overlap_and_skip_what_is_not_prose() -> None:
    paragraphs = (
        *document("a", 1, 10).paragraphs,
        "see http://example.org/",
        *document("a", 2, 10).paragraphs,
    )
    found = passages(Document("a", "d", paragraphs), random.Random(1))
    assert sum(len(text.split()) for text in found) <= sum(len(paragraph.split()) for paragraph in paragraphs)
    assert not any("http" in text for text in found)
    assert len(set(found)) == len(found)


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    rng = random.Random(1)
    paragraph = " ".join(sentence(rng) for _ in range(100))
    found = passages(Document("a", "d", (paragraph,)), random.Random(1))
    assert len(found) >= 2
    assert all(60 <= len(text.split()) <= 800 for text in found)


def test_sentences_to_proofread() -> None:
    found = proofread_texts(DOCUMENTS[0], random.Random(1))
    assert {len(text.split()) for text in found} == {10, 20}
    short = Document("a", "d", tuple(f"Thanks a lot, {name}." for name in ["Anna"] * 100))
    assert 10 < len(proofread_texts(short, random.Random(1))) < 60


@pytest.mark.parametrize(
    "text",
    [
        "He came home.",
        '"Is it so?" she asked (twice).',
        "“It’s 5 % more,” he said – at last.",
        "Élodie came.",
    ],
)
def test_clean_text(text: str) -> None:
    assert is_clean(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "came home.",
        "Contents",
        "See http://example.org.",
        "Edit /etc/passwd now.",
        "Run $(make) first.",
        "A | B.",
        "THE WHOLE LINE IS LOUD.",
        'He said "so.',
        "One (two.",
        "Call 12345 67890 123 now.",
        "Use a_name here.",
        "See [1] there.",
        "Дом.",
        "The word " * 81 + "ends.",
    ],
)
def test_text_that_is_not_prose(text: str) -> None:
    assert not is_clean(text)


def test_whole_documents_are_held_out() -> None:
    held = held_out_documents(DOCUMENTS)
    assert Counter(source for source, _ in held) == {"a": 2, "b": 1}
    assert held == held_out_documents(reversed(DOCUMENTS))
    assert held_out_documents(DOCUMENTS[:1]) == set()
    prompts = collect(DOCUMENTS, ["summarize", "proofread"], 1, LIMITS)
    assert {(p.source, p.doc) for p in prompts if p.split == "heldout"} <= held
    assert not {(p.source, p.doc) for p in prompts if p.split == "train"} & held


def test_collect_is_deterministic_and_mixes_tasks() -> None:
    prompts = collect(DOCUMENTS, ["summarize", "proofread"], 1, LIMITS)
    assert prompts == collect(DOCUMENTS, ["summarize", "proofread"], 1, LIMITS)
    assert prompts != collect(DOCUMENTS, ["summarize", "proofread"], 2, LIMITS)
    assert Counter(p.task for p in prompts) == {"summarize": 60, "proofread": 120}
    for start in range(0, 180, 30):
        assert Counter(p.task for p in prompts[start : start + 30]) == {"summarize": 10, "proofread": 20}
    assert [p for p in prompts if p.task == "proofread"] == collect(DOCUMENTS, ["proofread"], 1, LIMITS)


def test_no_text_comes_twice() -> None:
    twins = [*DOCUMENTS, *(Document("c", d.doc_id, d.paragraphs) for d in DOCUMENTS)]
    prompts = collect(twins, ["summarize"], 1, Limits({"summarize": 10_000}))
    assert len({p.text for p in prompts}) == len(prompts)


def test_shares_follow_weights_and_fill_up() -> None:
    assert shares({"a": 100, "b": 100}, 40, {"a": 3.0}) == {"a": 30, "b": 10}
    assert shares({"a": 100, "b": 5}, 40, {}) == {"a": 35, "b": 5}
    assert shares({"a": 3, "b": 4}, 40, {}) == {"a": 3, "b": 4}
    assert shares({}, 40, {}) == {}
    assert sum(shares({"a": 50, "b": 50, "c": 50}, 100, {}).values()) == 100


def test_own_texts_of_all_formats(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "a.txt").write_text("Plain text.\n\nMore.")
    (tmp_path / "deep" / "b.md").write_text("# Head\n\nMarked *text*.")
    (tmp_path / "deep" / "c.rst").write_text("Head\n====\n\nOther text.")
    (tmp_path / "deep" / "d.html").write_text("<h1>Head</h1><p>A page.</p>")
    (tmp_path / "deep" / "e.png").write_bytes(b"\0")
    (tmp_path / "deep" / "empty.txt").write_text("")
    (tmp_path / ".hidden" / "f.txt").write_text("Hidden.")
    documents = read_texts([tmp_path])
    assert {d.doc_id: d.paragraphs for d in documents} == {
        "a.txt": ("Plain text.", "More."),
        "deep/b.md": ("Marked text.",),
        "deep/c.rst": ("Other text.",),
        "deep/d.html": ("A page.",),
    }
    assert {d.source for d in documents} == {str(tmp_path)}
    assert read_texts([tmp_path / "a.txt"])[0].doc_id == "a.txt"


def test_own_texts_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TrainError, match="no such file"):
        read_texts([tmp_path / "none.txt"])
    with pytest.raises(TrainError, match="no text was found"):
        read_texts([tmp_path])
    (tmp_path / "a.bin").write_bytes(b"\0\1")
    with pytest.raises(TrainError, match="binary"):
        read_texts([tmp_path / "a.bin"])


def test_the_entry_point_writes_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for d in DOCUMENTS[:3]:
        (tmp_path / f"{d.doc_id}.txt").write_text("\n\n".join(d.paragraphs))
    out = tmp_path / "prompts.jsonl"
    assert main(["--out", str(out), "--summarize", "4", "--proofread", "8", str(tmp_path)]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert Counter(row["task"] for row in rows) == {"summarize": 4, "proofread": 8}
    assert set(rows[0]) == set(PromptText.__dataclass_fields__)
    assert capsys.readouterr() == ("", "")


def test_the_entry_point_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "prompts.jsonl"
    monkeypatch.setattr(
        prompt_texts, "gather", lambda corpora, cache: (DOCUMENTS, ["x left out: npm is not installed"])
    )
    assert main(["--out", str(out), "--summarize", "1", "--proofread", "1"]) == 0
    assert capsys.readouterr().err == "mtp: x left out: npm is not installed\n"
    monkeypatch.setattr(
        prompt_texts, "gather", lambda corpora, cache: ([], ["x left out: npm is not installed"])
    )
    assert main(["--out", str(out)]) == 2
    assert "no corpus could be fetched" in capsys.readouterr().err
