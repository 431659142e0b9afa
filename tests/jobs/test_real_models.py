"""The two jobs on real models, through the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.model, pytest.mark.native, pytest.mark.slow]

ARTICLE = (
    "The town library will close for eleven weeks from the third of March. The roof of the reading hall, "
    "which dates from 1926, lets in water at four places. The council had planned to repair only the roof, "
    "but an inspection found that the wiring no longer meets the rules. Both jobs will now be done at once, "
    "which raises the bill to 415,000. Readers may keep what they have borrowed until the end of May."
)


@pytest.fixture(params=["smollm2", "gemma3"])
def model(request: pytest.FixtureRequest) -> Path:
    path = request.getfixturevalue(request.param)
    assert isinstance(path, Path)
    return path


def mtp(model: Path, *arguments: str, source: str | bytes) -> bytes:
    data = source.encode() if isinstance(source, str) else source
    command = [sys.executable, "-m", "mtp_cli", arguments[0], "--model", str(model), *arguments[1:]]
    # elsewhere, so that the installed package is run and not the checkout beside the tests
    done = subprocess.run(command, input=data, capture_output=True, check=False, cwd=model.parent)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_summary_is_about_the_text_and_shorter(model: Path) -> None:
    summary = mtp(model, "summarize", source=ARTICLE).decode()
    assert any(word in summary for word in ("library", "roof", "reading hall"))
    assert 20 < len(summary) < len(ARTICLE)
    assert "<|" not in summary
    assert "\ufffd" not in summary


def test_streamed_summary_equals_the_json_and_itself_again(model: Path) -> None:
    source = "🏋️‍♂️ 거북이를 묘사하십시오. 你好，世界。 🦙 ends here."
    text = mtp(model, "summarize", source=source)
    record = json.loads(mtp(model, "summarize", "--format", "json", source=source))
    assert text.decode().rstrip("\n") == record["summary"]
    assert mtp(model, "summarize", source=source) == text
    assert not re.search(rb"[\x1b\r]", text)


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("We shipped it on Monday, and everyone was happy with the result.\n", None),
        ("Das ist ein gutes Beispiel, aber ich habe ein Fehler gemacht.\n", r"Das ist ein gutes Beispiel"),
        (
            "Run `pip instal foo` and see https://exmaple.com/teh-page?x=1 for mroe.\n",
            r"`pip instal foo` .*teh-page\?x=1",
        ),
        ("Hello {name}, you have %d new mesages in $INBOX.\n", r"\{name\}.*%d.*\$INBOX"),
        ("The patient must not take 10 mg; he take 5 mg.\n", r"must not take 10 mg; he takes? 5 mg\."),
        ("# Titel\r\n\r\nIts a nice day.\r\n", r"(?s)\A# Titel\r\n\r\nIt'?s a nice day\.\r\n\Z"),
        (
            "Hi Sam,\n\nthanks for it.\n\n- first point is ok\n- second point dont work\n\nBest,\nKim\n",
            r"(?s)\n\n- .*\n- .*\n\nBest,\nKim",
        ),
    ],
)
def test_proofreading_keeps_what_it_must(model: Path, source: str, kept: str | None) -> None:
    result = mtp(model, "proofread", source=source).decode()
    assert result.count("\n") == source.count("\n")
    if kept is None:
        assert result == source
    else:
        assert re.search(kept, result), result


def test_proofreading_corrects(smollm2: Path) -> None:
    result = mtp(
        smollm2, "proofread", source="Please fix teh login page. It is broken since friday."
    ).decode()
    assert result == "Please fix the login page. It is broken since Friday.\n"


def test_text_longer_than_the_context_is_read_to_the_end(smollm2: Path) -> None:
    source = (ARTICLE + "\n\n") * 12 + "The password for the demo is swordfish-19."
    record = json.loads(
        mtp(smollm2, "summarize", "--ctx", "768", "--max-tokens", "64", "--format", "json", source=source)
    )
    assert record["chunks"] > 1
    assert record["used_tokens"] == record["input_tokens"]
    assert record["truncated"] is False


def test_text_that_fills_the_context(smollm2: Path) -> None:
    for words in (150, 153, 156):
        arguments = ("--ctx", "256", "--max-tokens", "60", "--format", "json")
        record = json.loads(mtp(smollm2, "summarize", *arguments, source="word " * words))
        assert record["finish_reason"] in ("end_token", "token_limit", "stop_text", "context_full")


CHAT = (
    "Anna: Are you coming to the concert on Friday?\nBen: Which one?\n"
    "Anna: The choir of the school, in the town hall. My sister sings.\n"
    "Ben: I have to work until seven.\nAnna: It begins at eight.\nBen: Then I will come.\n"
)


def test_styles_keep_their_form(model: Path) -> None:
    bullets = mtp(model, "summarize", "--style", "bullets", source=ARTICLE).decode().splitlines()
    assert bullets
    assert all(re.fullmatch(r"- \S.*[.!?]", line) for line in bullets)
    [headline] = mtp(model, "summarize", "--style", "headline", source=ARTICLE).decode().splitlines()
    assert 2 < len(headline.split()) <= 20
    assert not headline.endswith(".")
    [line] = mtp(model, "summarize", "--style", "notification", source=ARTICLE).decode().splitlines()
    assert len(line) < len(ARTICLE) / 2


@pytest.mark.parametrize("words", [20, 40])
def test_asked_words_are_met(model: Path, words: int) -> None:
    source = ARTICLE + "\n\n" + ARTICLE.replace("library", "museum").replace("1926", "1931")
    record = json.loads(mtp(model, "summarize", "--length", str(words), "--format", "json", source=source))
    # whole sentences only: the shorter the summary, the coarser its steps
    slack = 0.3 if words < 30 else 0.25
    found = len(record["summary"].split())
    assert (1 - slack) * words <= found <= (1 + slack) * words, record["summary"]


def test_chat_is_told_by_who_talks(model: Path) -> None:
    record = json.loads(mtp(model, "summarize", "--format", "json", source=CHAT))
    assert record["input"] == "chat"
    assert record["summary"].startswith("Anna and Ben talk about ")
    assert record["summary"].endswith((".", "!", "?"))


def test_a_fact_in_the_last_line_can_reach_the_summary(smollm2: Path) -> None:
    source = "\n\n".join(f"On day {day} the cat sat on the mat and slept." for day in range(1, 160))
    source += "\n\nThe password for the demo is swordfish-19.\n"
    arguments = ("--ctx", "1024", "--max-tokens", "120", "--format", "json")
    record = json.loads(mtp(smollm2, "summarize", *arguments, source=source))
    assert record["chunks"] > 1
    assert "swordfish" in record["summary"]
