"""Faults of other summarisers that must not come back: characters, pipes, lost parts, full contexts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Outcome
from cli.fake_engine import FakeEngine
from cli.summary_texts import three

Mtp = Callable[..., Outcome]

MANY_SCRIPTS = "🏋️‍♂️ 거북이를 묘사하십시오. 你好，世界。 🦙 ends here."
FORMS = ("text", "markdown", "json", "jsonl")
STYLES = ("paragraph", "bullets", "headline", "notification")


@pytest.mark.parametrize("drafts", [0, 1, 3])
@pytest.mark.parametrize("style", STYLES)
def test_characters_of_many_bytes_stay_whole(mtp: Mtp, style: str, drafts: int) -> None:
    """The fake engine's tokens are bytes: every character is split, with drafts in between."""
    arguments = ("summarize", "--style", style)
    streamed = mtp(
        FakeEngine(lambda prompt: " " + MANY_SCRIPTS, drafts=drafts), *arguments, stdin=MANY_SCRIPTS
    )
    engine = FakeEngine(lambda prompt: " " + MANY_SCRIPTS, drafts=drafts)
    record = json.loads(mtp(engine, *arguments, "--format", "json", stdin=MANY_SCRIPTS).text)
    assert "\ufffd" not in streamed.text
    assert "🏋️‍♂️ 거북이를 묘사하십시오" in streamed.text
    assert streamed.text.rstrip("\n") == record["summary"]


@pytest.mark.parametrize("limit", range(1, 40))
def test_characters_cut_off_at_the_limit_are_not_shown(mtp: Mtp, limit: int) -> None:
    engine = FakeEngine(lambda prompt: " " + MANY_SCRIPTS)
    done = mtp(
        engine,
        "summarize",
        "--max-tokens",
        str(limit),
        stdin="The roof of the library leaks. " + MANY_SCRIPTS,
    )
    assert done.code == 0
    assert "\ufffd" not in done.text
    assert done.text.rstrip("\n").endswith((".", "。"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "said",
    [three, lambda prompt: " Ends in lines.\n\n\n", lambda prompt: " \x1b[31mRed\x1b[0m text.\r\nMore."],
)
def test_pipes_get_text_alone(mtp: Mtp, style: str, form: str, said: Callable[[str], str]) -> None:
    done = mtp(FakeEngine(said), "summarize", "--style", style, "--format", form, "-v", stdin="We use it.")
    assert done.code == 0
    assert not re.search(rb"[\x1b\r]", done.out)
    assert done.out.endswith(b"\n")
    assert not done.out.endswith(b"\n\n")


@pytest.mark.parametrize("where", ["first", "middle", "last"])
@pytest.mark.parametrize("shape", ["paragraphs", "one line", "lines"])
def test_no_part_of_a_long_text_is_dropped(mtp: Mtp, tmp_path: Path, shape: str, where: str) -> None:
    fact = "The password for the demo is swordfish-19."
    row = "Nothing much happens on this day in the long diary of a cat."
    rows = [row] * (33000 // len(row))
    rows.insert({"first": 0, "middle": len(rows) // 2, "last": len(rows)}[where], fact)
    text = {"paragraphs": "\n\n", "one line": " ", "lines": "\n"}[shape].join(rows)
    assert len(text) > 32900
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return " A cat keeps a diary."

    (tmp_path / "long.txt").write_text(text)
    done = mtp(
        FakeEngine(answer), "summarize", "--format", "json", "--max-tokens", "60", str(tmp_path / "long.txt")
    )
    record = json.loads(done.text)
    assert re.match(r"mtp: [\d,]+ tokens, \d+ parts\n", done.err)
    assert record["chunks"] > 10
    assert record["input_tokens"] == record["used_tokens"] > 5000
    assert record["truncated"] is False
    parts = prompts[: record["chunks"]]
    assert sum(fact in prompt for prompt in parts) == 1
    assert sum(prompt.count(row) for prompt in parts) == rows.count(row)


@pytest.mark.parametrize("spare", range(-8, 12))
def test_a_text_that_fills_the_context(mtp: Mtp, spare: int) -> None:
    """Up to and beyond the last token that fits."""
    engine = FakeEngine(three, n_ctx=300)
    words = 300 - 30 - 20 - spare
    done = mtp(engine, "summarize", "--format", "json", "--max-tokens", "30", stdin="cat " * words)
    assert done.code == 0, done.err
    record = json.loads(done.text)
    assert record["finish_reason"] in ("end_token", "token_limit", "stop_text", "context_full")
    assert record["used_tokens"] == record["input_tokens"]
    assert len(engine.cache) <= 300
