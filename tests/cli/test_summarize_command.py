"""`mtp summarize` from the command line, with a fake engine: inputs, styles, lengths, what is said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Outcome
from cli.fake_engine import FakeEngine
from cli.summary_texts import about, long_text, three

Mtp = Callable[..., Outcome]

BULLETS = "- The roof leaks badly.\n- The bill rises to 415,000.\n- The council met on Monday.\n"


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (
            "--style paragraph",
            "The roof leaks badly. The bill rises to 415,000. The council met on Monday.\n",
        ),
        (
            "--style bullets",
            BULLETS,
        ),
        ("--style headline", "The roof leaks badly\n"),
        ("--style notification", "The roof leaks badly.\n"),
        ("--length short", "The roof leaks badly. The bill rises to 415,000.\n"),
        ("--style headline --format markdown", "# The roof leaks badly\n"),
        (
            "--style bullets --format markdown",
            BULLETS,
        ),
        ("--length 8", "The roof leaks badly. The bill rises to 415,000.\n"),
    ],
)
def test_styles_and_lengths(mtp: Mtp, options: str, wanted: str) -> None:
    done = mtp(
        FakeEngine(three), "summarize", *options.split(), stdin="The roof leaks, 415,000, on Monday: council."
    )
    assert (done.code, done.text, done.err) == (0, wanted, "")
    assert (
        wanted.rstrip("\n").lstrip("# ")
        == json.loads(
            mtp(
                FakeEngine(three),
                "summarize",
                *options.replace("markdown", "json").split(),
                *([] if "--format" in options else ["--format", "json"]),
                stdin="The roof leaks, 415,000, on Monday: council.",
            ).text
        )["summary"]
    )


@pytest.mark.parametrize("words", [10, 25, 40, 60, 100, 160])
def test_asked_words_are_met(mtp: Mtp, words: int) -> None:
    """A model that always says two sentences is asked about parts of the text until the length is met."""
    record = json.loads(
        mtp(
            FakeEngine(about, n_ctx=4096),
            "summarize",
            "--length",
            str(words),
            "--format",
            "json",
            stdin=long_text(60),
        ).text
    )
    assert 0.75 * words <= len(record["summary"].split()) <= 1.25 * words
    assert record["words"] == len(record["summary"].split())
    assert record["asked_words"] == words


def test_words_that_cannot_be_met_are_said(mtp: Mtp) -> None:
    done = mtp(FakeEngine(three), "summarize", "--length", "90", stdin="The roof leaks.")
    assert done.code == 0
    assert re.search(r"mtp: the summary has \d+ words instead of 90", done.err)


def test_short_answers_are_filled_from_the_text_and_that_is_told(mtp: Mtp) -> None:
    done = mtp(
        FakeEngine(lambda prompt: " Cats sat."),
        "summarize",
        "--length",
        "40",
        "--format",
        "json",
        stdin=long_text(9),
    )
    record = json.loads(done.text)
    assert 30 <= record["words"] <= 50
    assert record["extracted_sentences"] > 0
    assert "the text's own" in done.err


def test_filling_takes_what_fits_where_the_weightiest_line_does_not(mtp: Mtp) -> None:
    said = " what they have seen and heard of late, and of what may come of it for them."
    heavy = (
        "Ben: The roof of the old town library leaks at four places, and the council of the town knows of it."
    )
    lines = [heavy, "Anna: The roof leaks in three rooms.", "Ben: It rains on the books.", heavy]
    done = mtp(
        FakeEngine(lambda prompt: said),
        *("summarize", "--length", "30", "--format", "json"),
        stdin="\n".join(lines),
    )
    record = json.loads(done.text)
    assert record["summary"].startswith("Anna and Ben") or record["summary"].startswith("Ben and Anna")
    assert 23 <= record["words"] <= 37, record["summary"]
    assert record["extracted_sentences"] == 1


@pytest.mark.parametrize(
    "said", ["", "no " * 200, "Here is the summary:", "<think> so what", "The roof is", "word " * 99]
)
def test_a_model_that_says_nothing_usable(mtp: Mtp, said: str) -> None:
    done = mtp(
        FakeEngine(lambda prompt: said),
        "summarize",
        "--max-tokens",
        "40",
        stdin="The roof of the library leaks. It is old.",
    )
    assert done.code == 0
    assert done.text in ("The roof of the library leaks.\n", "The roof is.\n")
    assert ("sentence of the text itself" in done.err) == (done.text != "The roof is.\n")


def test_unfinished_sentence_is_left_out_and_said(mtp: Mtp) -> None:
    done = mtp(FakeEngine(three), "summarize", "--max-tokens", "10", stdin="The roof leaks.")
    assert done.text == "The roof leaks badly.\n"
    assert "unfinished sentence" in done.err
    assert "--max-tokens" in done.err


def test_facts_that_are_not_in_the_text_are_counted_and_shown(mtp: Mtp) -> None:
    said = " The roof leaks in Paris. It costs 99 or 415,000."
    for options in ((), ("-v",), ("-q",)):
        arguments = ("summarize", "--format", "json", *options)
        done = mtp(FakeEngine(lambda prompt: said), *arguments, stdin="The roof leaks; it costs 415,000.")
        assert json.loads(done.text)["unsupported"] == {"numbers": ["99"], "names": ["Paris"]}
        told = "mtp: 2 names or numbers not in the text: Paris, 99\n" in done.err
        assert told == ("-q" not in options)


def test_one_summary_of_all_or_one_for_each_file(mtp: Mtp, tmp_path: Path) -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return " Cats met."

    (tmp_path / "a.txt").write_text("We use it.")
    (tmp_path / "b.md").write_text("# Two\n\nThey use it.\n")
    done = mtp(FakeEngine(answer), "summarize", "-r", str(tmp_path))
    assert done.text == "Cats met.\n"
    assert len(prompts) == 1
    assert "We use it." in prompts[0]
    assert "They use it." in prompts[0]
    done = mtp(FakeEngine(answer), "summarize", "-r", "--per-file", "--format", "markdown", str(tmp_path))
    assert done.text == f"## {tmp_path}/a.txt\n\nCats met.\n\n## {tmp_path}/b.md\n\nCats met.\n"
    done = mtp(FakeEngine(answer), "summarize", "-r", "--per-file", "--format", "jsonl", str(tmp_path))
    assert [json.loads(line)["source"][-4:] for line in done.text.splitlines()] == [
        "/b.md"[-4:] if n else ".txt" for n in (0, 1)
    ]


def test_what_of_a_file_is_left_out_is_said(mtp: Mtp, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Monday\n\nThey use 415,000.\n\n```\ncode\n```\n")
    done = mtp(FakeEngine(three), "summarize", "--format", "json", str(tmp_path / "a.md"))
    assert json.loads(done.text)["left_out"] == ["1 block of code"]
    assert done.err == f"mtp: {tmp_path}/a.md: left out 1 block of code\n"


def test_kind_of_input_is_guessed_or_told(mtp: Mtp) -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return " the roof. It leaks."

    chat = "Anna: Is the roof new?\nBen: No, it leaks.\nAnna: Oh.\nBen: Yes.\n"
    done = mtp(FakeEngine(answer), "summarize", "--format", "json", stdin=chat)
    assert "conversation" in prompts[-1]
    assert json.loads(done.text)["input"] == "chat"
    assert json.loads(done.text)["summary"] == "Anna and Ben talk about the roof. It leaks."
    done = mtp(FakeEngine(answer), "summarize", "--input", "article", stdin=chat)
    assert "following text" in prompts[-1]
    assert done.text == "The roof. It leaks.\n" or done.text == "the roof. It leaks.\n"


def notifications() -> str:
    rows = [
        ("Chat", "Anna", "Are you there?"),
        ("Mail", "Shop", "Your parcel is here."),
        ("Mail", "Shop", "Your parcel is here."),
    ]
    long = (
        "The meeting about the roof of the library is moved from Monday to Friday because the builders can "
        "come only then and not before."
    )
    rows += [("Work", "Kim", long), ("Work", "Kim", "Bring the plans."), ("News", "Daily", "Rain.")]
    return json.dumps(
        [{"app": app, "sender": sender, "text": text, "time": "10:00"} for app, sender, text in rows]
    )


def test_notifications_become_three_lines(mtp: Mtp) -> None:
    done = mtp(
        FakeEngine(lambda prompt: " Kim moves the meeting to Friday."),
        "summarize",
        "--format",
        "json",
        stdin=notifications(),
    )
    record = json.loads(done.text)
    assert record["summary"].splitlines() == [
        "Kim (Work, 2 messages): Kim moves the meeting to Friday.",
        "Anna (Chat): Are you there?",
        "2 more: Shop (1), Daily (1)",
    ]
    assert (record["style"], record["input"], record["chunks"]) == ("notification", "notifications", 1)
    assert record["left_out"] == ["the text of 2 messages, which the last line counts"]
    assert record["truncated"] is True


def test_a_notification_stands_without_the_model_s_quotes(mtp: Mtp) -> None:
    for said in (' Kim: "Kim moves the meeting to Friday."', ' "Kim moves the meeting to Friday."'):
        done = mtp(FakeEngine(lambda prompt, said=said: said), "summarize", stdin=notifications())
        assert done.text.startswith("Kim (Work, 2 messages): Kim moves the meeting to Friday.\n")


def test_invented_facts_do_not_reach_a_notification(mtp: Mtp) -> None:
    done = mtp(FakeEngine(lambda prompt: " Kim moves it to Paris."), "summarize", stdin=notifications())
    assert done.text.startswith("Kim (Work, 2 messages): ")
    assert "Paris" not in done.text


def test_short_notifications_need_no_words_of_the_model(mtp: Mtp) -> None:
    engine = FakeEngine(three)
    done = mtp(
        engine, "summarize", "--input", "notifications", stdin="10:01 Anna: Come!\nMail | Shop | Sale today\n"
    )
    assert done.text == "Anna: Come!\nShop (Mail): Sale today\n"
    assert not engine.starts
    done = mtp(FakeEngine(three), "summarize", "--style", "bullets", stdin=notifications())
    assert done.text.startswith("- The roof")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--length tall", "none of short, medium, long"),
        ("--length 3", "out of range"),
        ("--lang klingon", "unknown language"),
        ("--style song", "song"),
        ("--input tale", "tale"),
        ("--on-overflow burst", "burst"),
        ("--format sarif", "sarif"),
        ("--resume .", "name a file"),
        ("--resume /nowhere/x.jsonl", "name a file"),
    ],
)
def test_wrong_options_are_one_line(mtp: Mtp, line: str, says: str) -> None:
    done = mtp(None, "summarize", *line.split(), stdin="We use it.")
    assert (done.code, done.out, done.err.count("\n")) == (2, b"", 1)
    assert says in done.err


def test_a_language_that_was_missed_is_said(mtp: Mtp) -> None:
    said = " The roof of the library is old and it lets in water when it rains."
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return said

    done = mtp(
        FakeEngine(answer),
        "summarize",
        "--lang",
        "de",
        "--format",
        "json",
        stdin="The roof is old and leaks.",
    )
    record = json.loads(done.text)
    assert (record["language"], record["asked_language"]) == ("en", "de")
    assert "Write in German." in prompts[0]
    assert "asked for German, but the summary is in English" in done.err
