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
