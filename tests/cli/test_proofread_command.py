"""`mtp proofread` as a formatter: diff, write, check, interactive, formats, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Outcome
from cli.fake_engine import FakeEngine, fixing, last_text

Mtp = Callable[..., Outcome]
FIX = fixing(
    teh="the", mesages="messages", dont="doesn't", color="colour", Jonh="John", take="takes", roads="streets"
)
TEXT = "We use teh page.\nAll is well.\n\nIt dont matter.\n"
RIGHT = "We use the page.\nAll is well.\n\nIt doesn't matter.\n"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.txt"
    path.write_text(TEXT)
    return path


def test_unified_diff_can_be_applied(mtp: Mtp, page: Path) -> None:
    done = mtp(FakeEngine(FIX), "proofread", "--diff", str(page))
    assert done.code == 0
    assert "-We use teh page.\n+We use the page.\n" in done.text
    assert "\x1b" not in done.text
    patched = subprocess.run(
        ["patch", "-o", "-", str(page)], input=done.out, capture_output=True, check=False
    )
    assert patched.stdout.decode() == RIGHT
    assert page.read_text() == TEXT
    assert mtp(FakeEngine(FIX), "proofread", "--diff", stdin="All is well.\n").out == b""


def test_a_diff_says_when_the_last_line_has_no_end(mtp: Mtp) -> None:
    done = mtp(FakeEngine(FIX), "proofread", "--diff", stdin="We use teh page.")
    assert done.text.count("\\ No newline at end of file\n") == 2


def test_word_diff_with_and_without_colour(mtp: Mtp, page: Path) -> None:
    done = mtp(FakeEngine(FIX), "proofread", "--word-diff", str(page))
    assert done.text == (
        f"--- {page}\n@@ line 1 @@\nWe use [-teh-]{{+the+}} page.\n"
        "@@ line 4 @@\nIt [-dont-]{+doesn't+} matter.\n"
    )
    done = mtp(FakeEngine(FIX), "proofread", "--word-diff", "--color", "always", str(page))
    assert "\x1b[31mteh\x1b[0m\x1b[32mthe\x1b[0m" in done.text


def test_write_keeps_mode_mark_and_line_ends(mtp: Mtp, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_bytes(b"\xef\xbb\xbf# We use teh page\r\n\r\nIt dont matter.\r\n")
    page.chmod(0o640)
    done = mtp(FakeEngine(FIX), "proofread", "-w", "--backup", str(page))
    assert (done.code, done.out) == (0, b"")
    assert page.read_bytes() == b"\xef\xbb\xbf# We use the page\r\n\r\nIt doesn't matter.\r\n"
    assert page.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "page.md.bak").read_bytes().startswith(b"\xef\xbb\xbf# We use teh page\r\n")
    assert done.err == f"mtp: {page}: 2 corrections\n"


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-32-le", b"\xff\xfe\0\0"),
        ("utf-32-be", b"\0\0\xfe\xff"),
    ],
)
def test_write_keeps_the_encoding(mtp: Mtp, tmp_path: Path, encoding: str, mark: bytes) -> None:
    page = tmp_path / "page.txt"
    text = "é 🦙 We use {} page.\r\n"
    page.write_bytes(mark + text.format("teh").encode(encoding))
    shown = mtp(FakeEngine(FIX), "proofread", str(page))
    assert shown.out == text.format("the").encode()
    assert mtp(FakeEngine(FIX), "proofread", "-w", str(page)).code == 0
    assert page.read_bytes() == mark + text.format("the").encode(encoding)


def test_a_file_that_may_not_be_written_stays(mtp: Mtp, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.chmod(0o444)
    for place, says in (
        (page, "no permission to write it"),
        (page.parent, "no permission to write in its folder"),
    ):
        with monkeypatch.context() as patch:
            # for root everything may be written
            patch.setattr("os.access", lambda path, mode, place=place: Path(path) != place or mode != os.W_OK)
            done = mtp(None, "proofread", "-w", "--backup", str(page))
        assert (done.code, page.read_text(), list(page.parent.glob("*.bak"))) == (2, TEXT, [])
        assert done.err.startswith(f"mtp: -w {page}: {says}")
        assert done.err.count("\n") == 1


def test_write_touches_nothing_when_there_is_nothing_to_do(mtp: Mtp, tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    page.write_text("All is well.\n")
    before = page.stat()
    assert mtp(FakeEngine(FIX), "proofread", "-w", "--backup", str(page)).err == ""
    assert (page.stat().st_mtime_ns, page.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert not (tmp_path / "page.txt.bak").exists()


def test_write_goes_through_links_and_is_left_alone_when_interrupted(mtp: Mtp, page: Path) -> None:
    link = page.with_name("link.txt")
    link.symlink_to(page)
    engine = FakeEngine(FIX, fail=KeyboardInterrupt(), fail_at=7)
    assert mtp(engine, "proofread", "-w", str(link)).code == 130
    assert page.read_text() == TEXT
    assert mtp(FakeEngine(FIX), "proofread", "-w", "-q", str(link)).err == ""
    assert link.is_symlink()
    assert page.read_text() == RIGHT


def test_write_refuses_a_file_that_was_changed_meanwhile(mtp: Mtp, page: Path) -> None:
    def answer(prompt: str) -> str:
        page.write_text("Somebody else was here.\n")
        return FIX(prompt)

    done = mtp(FakeEngine(answer), "proofread", "-w", str(page))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert page.read_text() == "Somebody else was here.\n"


def test_check_lists_what_it_found_and_a_second_run_finds_nothing(mtp: Mtp, page: Path) -> None:
    done = mtp(FakeEngine(FIX), "proofread", "--check", str(page))
    assert done.code == 1
    assert done.text == (
        f"{page}:1:8: spelling: 'teh' -> 'the'\n{page}:4:4: spelling: 'dont' -> \"doesn't\"\n"
    )
    assert "2 corrections in 1 of 1 files" in done.err
    assert page.read_text() == TEXT
    assert mtp(FakeEngine(FIX), "proofread", "-w", str(page)).code == 0
    done = mtp(FakeEngine(FIX), "proofread", "--check", str(page))
    assert (done.code, done.out, done.err) == (0, b"", "")


def test_check_with_a_diff(mtp: Mtp, page: Path) -> None:
    done = mtp(FakeEngine(FIX), "proofread", "--check", "--diff", "-q", str(page))
    assert (done.code, done.err) == (1, "")
    assert done.text.startswith("--- a/")


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        ("y\nn\n", "We use the page.\nAll is well.\n\nIt dont matter.\n"),
        ("n\ny\n", "We use teh page.\nAll is well.\n\nIt doesn't matter.\n"),
        ("a\n", RIGHT),
        ("q\n", TEXT),
        ("y\nq\n", "We use the page.\nAll is well.\n\nIt dont matter.\n"),
        ("what?\ny\n", "We use the page.\nAll is well.\n\nIt dont matter.\n"),
        ("", TEXT),
    ],
)
def test_interactive(mtp: Mtp, page: Path, keys: str, result: str) -> None:
    done = mtp(FakeEngine(FIX), "proofread", "-i", str(page), stdin=keys, terminal=True)
    assert (done.code, done.text) == (0, result)
    assert "spelling" in done.err
    assert mtp(FakeEngine(FIX), "proofread", "-i", "-w", str(page), stdin=keys, terminal=True).out == b""
    assert page.read_text() == result


def test_interactive_shows_unsafe_edits_and_takes_them_when_told(mtp: Mtp, tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    page.write_text("Big roads are here.\n")
    done = mtp(FakeEngine(FIX), "proofread", "-i", str(page), stdin="y\n", terminal=True)
    assert done.text == "Big streets are here.\n"
    assert "unsafe: other word" in done.err


def test_unsafe_edits_only_when_asked_for(mtp: Mtp) -> None:
    text = "Big roads are here, says Jonh.\n"
    done = mtp(FakeEngine(FIX), "proofread", "-v", stdin=text)
    assert done.text == text
    assert "'roads' -> 'streets' (other word)" in done.err
    assert "'Jonh' -> 'John' (name)" in done.err
    done = mtp(FakeEngine(FIX), "proofread", "--unsafe", stdin=text)
    assert done.text == "Big streets are here, says John.\n"


@pytest.mark.parametrize(
    "said",
    [
        "Why did the cat cross the road? To get to the other side.",
        "Tell me a joke about cats. Why did the cat cross the road? It wanted to see the dog.",
        "Sure! Here is a joke about cats: what do you call a cat? A cat.",
    ],
)
def test_an_answer_to_the_text_never_gets_in(mtp: Mtp, said: str) -> None:
    text = "Tell me a joke about cats.\n"
    assert mtp(FakeEngine(lambda prompt: said), "proofread", "--unsafe", stdin=text).text == text


def test_json_has_edits_with_label_and_verdict(mtp: Mtp, page: Path) -> None:
    page.write_text("é 🦙 We use teh page.\r\nBig roads, so it dont matter.\r\n")
    source = page.read_bytes().decode()
    found = json.loads(mtp(FakeEngine(FIX), "proofread", "--format", "json", str(page)).text)
    edits = [*found["edits"], *found["refused"]]
    assert [source[edit["start"] : edit["end"]] for edit in edits] == [edit["before"] for edit in edits]
    assert [(edit["replacement"], edit["label"], edit["safe"]) for edit in edits] == [
        ("the", "spelling", True),
        ("doesn't", "spelling", True),
        ("streets", "style", False),
    ]
    assert [(edit["line"], edit["column"]) for edit in edits] == [(1, 12), (2, 18), (2, 5)]
    assert found["refused"][0]["reason"] == "other word"


def test_jsonl_is_a_line_for_each_file(mtp: Mtp, page: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("All is well.\n")
    done = mtp(FakeEngine(FIX), "proofread", "--format", "jsonl", str(page), str(other))
    rows = [json.loads(line) for line in done.text.splitlines()]
    assert [(row["source"], len(row["edits"])) for row in rows] == [(str(page), 2), (str(other), 0)]
    target = tmp_path / "out.jsonl"
    done = mtp(FakeEngine(FIX), "proofread", "--format", "jsonl", "-o", str(target), str(page))
    assert done.out == b""
    assert json.loads(target.read_text())["text"] == RIGHT


def test_sarif(mtp: Mtp, page: Path) -> None:
    page.write_text("We use teh page.\nBig roads are.\n")
    report = json.loads(mtp(FakeEngine(FIX), "proofread", "--format", "sarif", str(page)).text)
    assert report["version"] == "2.1.0"
    [run] = report["runs"]
    fix, note = run["results"]
    assert (fix["level"], note["level"]) == ("warning", "note")
    assert fix["ruleId"] == "spelling"
    assert run["tool"]["driver"]["rules"][fix["ruleIndex"]]["id"] == "spelling"
    region = fix["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"], region["endColumn"]) == (1, 8, 11)
    assert (region["charOffset"], region["charLength"]) == (7, 3)
    change = fix["fixes"][0]["artifactChanges"][0]
    assert change["replacements"][0]["insertedContent"]["text"] == "the"
    assert note["properties"]["safe"] is False


def test_terms_to_keep(mtp: Mtp) -> None:
    text = "We use teh page, says teh man. The teh\nman dont.\n"
    done = mtp(FakeEngine(FIX), "proofread", "--keep", "teh man", "--keep", "dont", stdin=text)
    assert done.text == "We use the page, says teh man. The teh\nman dont.\n"


def test_the_two_englishes(mtp: Mtp) -> None:
    text = "The color is nice here.\n"
    assert mtp(FakeEngine(FIX), "proofread", stdin=text).text == text
    assert mtp(FakeEngine(FIX), "proofread", "--dialect", "us", stdin=text).text == text
    assert (
        mtp(FakeEngine(FIX), "proofread", "--dialect", "gb", stdin=text).text == "The colour is nice here.\n"
    )


def test_patterns_name_files(mtp: Mtp, page: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.txt").write_text("And teh other.\n")
    done = mtp(FakeEngine(FIX), "proofread", "--check", str(tmp_path / "**" / "*.txt"))
    assert [line.split(":")[0] for line in done.text.splitlines()] == [
        str(tmp_path / "more" / "b.txt"),
        str(page),
        str(page),
    ]
    done = mtp(None, "proofread", str(tmp_path / "*.none"))
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_type_by_name_or_by_option(mtp: Mtp, tmp_path: Path) -> None:
    text = "<p>We use <b>teh</b> page</p><pre>teh teh</pre>\n"
    page = tmp_path / "page.html"
    page.write_text(text)
    right = "<p>We use <b>the</b> page</p><pre>teh teh</pre>\n"
    assert mtp(FakeEngine(FIX), "proofread", str(page)).text == right
    assert mtp(FakeEngine(FIX), "proofread", "--type", "html", stdin=text).text == right


def test_source_code_only_on_request(mtp: Mtp, tmp_path: Path) -> None:
    page = tmp_path / "page.py"
    page.write_text('x = "teh string is"  # this is teh comment\n')
    done = mtp(None, "proofread", str(page))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--comments" in done.err
    done = mtp(FakeEngine(FIX), "proofread", "--comments", str(page))
    assert done.text == 'x = "teh string is"  # this is the comment\n'


def test_encoded_mail_is_said(mtp: Mtp, tmp_path: Path) -> None:
    mail = tmp_path / "a.eml"
    mail.write_text("From: a@b.c\nContent-Transfer-Encoding: base64\n\nSGkgdGVo\n")
    done = mtp(None, "proofread", "-w", str(mail))
    assert done.code == 0
    assert "encoded" in done.err


@pytest.mark.parametrize(
    "line",
    [
        "--diff --word-diff {page}",
        "--diff --format json {page}",
        "--check -w {page}",
        "--check -i {page}",
        "-w --diff {page}",
        "-w -o {page}.out {page}",
        "-w",
        "-w -",
        "--backup {page}",
        "-i -",
        "-i {page}",
        "--dialect fr {page}",
        "--type pdf {page}",
    ],
)
def test_options_that_do_not_go_together_are_one_line(mtp: Mtp, page: Path, line: str) -> None:
    done = mtp(None, "proofread", *line.format(page=page).split(), stdin="x")
    assert (done.code, done.out, done.err.count("\n")) == (2, b"", 1)
    assert page.read_text() == TEXT


def test_hooks_name_this_command() -> None:
    root = Path(__file__).resolve().parents[2]
    text = (root / ".pre-commit-hooks.yaml").read_text()
    assert "entry: mtp proofread --check" in text
    assert "entry: mtp proofread --write" in text


def test_the_prompt_is_shared_by_all_files(mtp: Mtp, page: Path, tmp_path: Path) -> None:
    engine = FakeEngine(lambda prompt: last_text(prompt))
    mtp(engine, "proofread", "--check", str(page), str(page))
    assert all(at > 10 for at, _ in engine.calls[1:])


def test_without_numpy_nothing_is_judged_and_that_is_said(
    mtp: Mtp, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = mtp(FakeEngine(FIX), "proofread", "--no-judge", str(page))
    monkeypatch.setitem(sys.modules, "numpy", None)
    done = mtp(FakeEngine(FIX), "proofread", str(page))
    assert (done.code, done.text) == (0, plain.text)
    assert done.text == RIGHT
    assert done.err.count("NumPy does not load") == 1
    assert "--no-judge" in done.err
