"""`mtp summarize` of texts that do not fit the context: parts, what is left out, interrupts, time left."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Outcome
from cli.fake_engine import FakeEngine
from cli.summary_texts import about, long_text, three

Mtp = Callable[..., Outcome]


def test_text_that_does_not_fit_can_be_an_error(mtp: Mtp) -> None:
    done = mtp(FakeEngine(three), "summarize", "--on-overflow", "error", stdin=long_text())
    assert (done.code, done.out) == (4, b"")
    assert re.fullmatch(r"mtp: standard input: the text has [\d,]+ tokens and [\d,]+ fit; .*\n", done.err)
    assert mtp(FakeEngine(three), "summarize", "--on-overflow", "error", stdin="It fits.").code == 0


def test_text_that_does_not_fit_can_be_cut_and_that_is_told(mtp: Mtp) -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return three(prompt)

    arguments = ("summarize", "--on-overflow", "truncate", "--format", "json", "--max-tokens", "60")
    done = mtp(FakeEngine(answer), *arguments, stdin=long_text())
    record = json.loads(done.text)
    assert len(prompts) == record["chunks"] == 1
    assert 350 < record["used_tokens"] < 512 < record["input_tokens"]
    assert record["truncated"] is True
    assert f"{record['used_tokens']:,} of {record['input_tokens']:,} tokens" in done.err
    assert prompts[0].removesuffix("<|end|><|assistant|>").endswith("a mat.")


def test_beginning_middle_and_end_have_their_place(mtp: Mtp) -> None:
    """The model only ever repeats the first number it sees: still the end of the text is in the summary."""

    def answer(prompt: str) -> str:
        number = re.search(r"(?:number|case) (\d+)", prompt)
        assert number
        return f" It tells of case {number[1]} and its cat."

    done = mtp(
        FakeEngine(answer), "summarize", "--format", "json", "--max-tokens", "100", stdin=long_text(900)
    )
    record = json.loads(done.text)
    numbers = [int(number) for number in re.findall(r"\d+", record["summary"])]
    assert len(numbers) == 3
    assert numbers == sorted(numbers)
    assert numbers[0] < 300 <= numbers[1] < 600 <= numbers[2]


def test_a_fact_in_the_last_line_reaches_the_last_question(mtp: Mtp) -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return " It is about cats."

    text = long_text(700) + "\n\nThe password for the demo is swordfish-19."
    done = mtp(FakeEngine(answer), "summarize", "--length", "short", "--max-tokens", "100", stdin=text)
    assert done.code == 0
    assert "swordfish-19" in prompts[-1]
    assert len(prompts[-1]) < len(text) / 4


def parts_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_interrupted_work_goes_on_where_it_stopped(mtp: Mtp, tmp_path: Path) -> None:
    held = tmp_path / "parts.jsonl"
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return about(prompt)

    arguments = ("summarize", "--resume", str(held), "--max-tokens", "60", "--format", "json")
    whole = mtp(FakeEngine(answer), "summarize", *arguments[3:], stdin=long_text())
    calls = len(asked)
    done = mtp(FakeEngine(answer, fail=KeyboardInterrupt(), fail_at=150), *arguments, stdin=long_text())
    assert (done.code, done.out) == (130, b"")
    kept = len(parts_of(held))
    assert 0 < kept < json.loads(whole.text)["chunks"]
    assert f"{kept} finished parts kept in {held}" in done.err
    held.write_bytes(held.read_bytes() + b'{"type": "part", "torn')
    asked.clear()
    done = mtp(FakeEngine(answer), *arguments, stdin=long_text())
    assert done.code == 0, done.err
    assert len(asked) == calls - kept
    assert json.loads(done.text)["summary"] == json.loads(whole.text)["summary"]
    asked.clear()
    again = mtp(FakeEngine(answer), *arguments, stdin=long_text())
    assert json.loads(again.text)["summary"] == json.loads(whole.text)["summary"]
    assert len(asked) == calls - json.loads(whole.text)["chunks"]


def test_parts_of_other_texts_and_settings_are_not_taken(mtp: Mtp, tmp_path: Path) -> None:
    held = tmp_path / "parts.jsonl"
    arguments = ("summarize", "--resume", str(held), "--max-tokens", "60")
    mtp(FakeEngine(about), *arguments, stdin=long_text(200))
    first = len(parts_of(held))
    mtp(FakeEngine(about), *arguments, "--temperature", "1", stdin=long_text(200))
    assert len(parts_of(held)) == 2 * first
    mtp(FakeEngine(about), *arguments, stdin="An end.\n\n" + long_text(200))
    assert len(parts_of(held)) > 2 * first
    held.write_text("My diary.\nToday it rained.")
    done = mtp(None, *arguments, stdin=long_text(200))
    assert done.code == 2
    assert "line 1 is not JSON" in done.err
    assert held.read_text() == "My diary.\nToday it rained."


def test_json_lines_come_part_by_part(mtp: Mtp, tmp_path: Path) -> None:
    arguments = ("summarize", "--format", "jsonl", "--max-tokens", "60")
    done = mtp(FakeEngine(about), *arguments, stdin=long_text(200))
    *parts, summary = map(json.loads, done.text.splitlines())
    assert [part["part"] for part in parts] == list(range(1, summary["chunks"] + 1))
    assert {part["type"] for part in parts} == {"part"}
    assert summary["type"] == "summary"
    assert summary["summary"]
    interrupted = mtp(
        FakeEngine(about, fail=KeyboardInterrupt(), fail_at=100), *arguments, stdin=long_text(200)
    )
    assert interrupted.code == 130
    rows = [json.loads(line) for line in interrupted.text.splitlines()]
    assert rows
    assert rows == parts[: len(rows)]
    (tmp_path / "out.jsonl").write_bytes(interrupted.out)
    engine = FakeEngine(about)
    done = mtp(engine, *arguments, "--resume", str(tmp_path / "out.jsonl"), stdin=long_text(200))
    assert json.loads(done.text.splitlines()[-1])["summary"] == summary["summary"]
    assert len(engine.starts) < summary["chunks"] + 1


def test_parts_that_are_lost_are_told(mtp: Mtp) -> None:
    engine = FakeEngine(about, fail=KeyboardInterrupt(), fail_at=100)
    done = mtp(engine, "summarize", "--max-tokens", "60", stdin=long_text(200))
    assert done.code == 130
    assert re.search(r"^mtp: \d+ finished parts? lost; with --resume FILE", done.err, re.MULTILINE)
    done = mtp(FakeEngine(three, fail=KeyboardInterrupt(), fail_at=2), "summarize", stdin="The roof leaks.")
    assert "lost" not in done.err


def pages(number: int) -> str:
    """A text of that many pages of 400 words."""
    sentence = (
        "In case {} the council of the town met for hours and found no way to mend the old roof of the hall."
    )
    return "\n\n".join(
        " ".join(sentence.format(10 * page + at) for at in range(19)) for page in range(number)
    )


@pytest.mark.slow
def test_200_pages(mtp: Mtp, tmp_path: Path) -> None:
    """Memory stays bounded, an interrupted run goes on, and the end of the text is asked about."""
    held, text = tmp_path / "parts.jsonl", pages(200) + "\n\nThe password of the demo is swordfish-19.\n"
    assert len(text.split()) > 76_000
    engine = FakeEngine(about, n_ctx=4096, fail=KeyboardInterrupt(), fail_at=700)
    arguments = ("summarize", "--resume", str(held), "--format", "json")
    assert mtp(engine, *arguments, stdin=text).code == 130
    kept = len(parts_of(held))
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return about(prompt)

    tracemalloc.start()
    try:
        done = mtp(FakeEngine(answer, n_ctx=4096), *arguments, stdin=text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    record = json.loads(done.text)
    assert (done.code, record["truncated"]) == (0, False)
    assert re.search(r"^mtp: \d{2,3},\d{3} tokens, \d\d parts$", done.err, re.MULTILINE)
    found = len(parts_of(held))  # their summaries take a few parts of their own
    assert 0 < kept < record["chunks"] <= found < record["chunks"] + 20
    assert found - kept <= len(asked) < found - kept + 20
    assert "swordfish-19" in asked[-1]
    assert peak < 40 * len(text)


def test_instruction_is_computed_once_for_all_parts(mtp: Mtp) -> None:
    engine = FakeEngine(about)
    mtp(engine, "summarize", "--max-tokens", "60", stdin=long_text(200))
    begins = [at for at, _ in engine.calls]
    assert begins[0] == 0
    assert all(at > 5 for at in begins[1:])


def test_time_left_is_told_where_there_is_no_live_line(mtp: Mtp, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 0.5
        return now[0]

    monkeypatch.setattr("mtp_cli.meters.remaining.clock", clock)
    monkeypatch.setattr("mtp_cli.view.progress._TELL_SECONDS", 0.0)
    done = mtp(FakeEngine(about), "summarize", "--max-tokens", "60", stdin=long_text(200))
    assert re.search(r"^mtp: part \d+ of \d+, about \d+ (?:s|min) left$", done.err, re.MULTILINE)
    assert mtp(FakeEngine(about), "summarize", "-q", "--max-tokens", "60", stdin=long_text(200)).err == ""
