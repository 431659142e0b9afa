"""Whole documents: what is prose in them, and that everything else comes back whatever the model says."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cli.conftest import Outcome
from cli.documents import MARKUP, STAY, Made, documents, mangler
from cli.fake_engine import FakeEngine, fixing
from mtp_cli.tasks.documents.kinds import read, reader_of
from mtp_cli.tasks.documents.verify import skeleton
from mtp_cli.tasks.prompts import DEFAULTS
from mtp_cli.tasks.proofread import Correction, Proofreader

DOCUMENTS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
KINDS = sorted(MARKUP)


def corrected(text: str, kind: str, seed: int = 0) -> Correction:
    engine = FakeEngine(mangler(seed), n_ctx=4096)
    reader = reader_of(kind, "a.py")
    return Proofreader(engine, DEFAULTS["chat"]["proofread"]).run(reader(text), reader)


class _Tags(HTMLParser):
    """All that is no text, in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[Any] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.found.append(tag)

    def handle_entityref(self, name: str) -> None:
        self.found.append(name)

    def handle_comment(self, data: str) -> None:
        self.found.append(data)


def markdown_shape(text: str) -> list[Any]:
    """The tree of a Markdown text without its words, by a parser that knows nothing of ours."""
    found: list[Any] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type != "inline":
            found.append((token.type, token.tag, token.map, token.info))
            found.append(token.content if token.type in ("fence", "code_block", "html_block") else "")
        for child in token.children or ():
            if child.type != "text":
                found.append((child.type, child.attrs, child.content if "code" in child.type else ""))
    return found


SHAPES = {"markdown": markdown_shape, "html": lambda text: _Tags(text).found}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_prose_survives_any_model(kind: str) -> None:
    @DOCUMENTS
    @given(documents(kind), st.integers(0, 3))
    def check(made: Made, seed: int) -> None:
        result = corrected(made.text, kind, seed).text
        assert [line[: len(line) - len(line.lstrip())] for line in result.split("\n")] == [
            line[: len(line) - len(line.lstrip())] for line in made.text.split("\n")
        ]
        assert result.count("\r\n") == made.text.count("\r\n")
        at = 0
        for text in made.kept:
            at = result.find(text, at)
            assert at >= 0, text
            at += len(text)
        assert [result.count(text) for text in STAY] == [made.text.count(text) for text in STAY]
        if kind in SHAPES:
            assert SHAPES[kind](result) == SHAPES[kind](made.text)
        before, after = (re.sub(r"[^\n|]", "", text) for text in (made.text, result))
        assert before == after

    check()


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md"])
def test_own_pages_keep_their_shape(name: str) -> None:
    text = (Path(__file__).resolve().parents[2] / name).read_text()
    for seed in range(3):
        result = corrected(text, "markdown", seed).text
        assert result != text
        assert markdown_shape(result) == markdown_shape(text)


@pytest.mark.parametrize("kind", KINDS)
def test_reading_takes_every_place_once_and_in_order(kind: str) -> None:
    @DOCUMENTS
    @given(documents(kind))
    def check(made: Made) -> None:
        document = read(made.text, kind, "a.py")
        at = 0
        for sentence in document.sentences():
            for start, end in sentence.stretch.spans:
                assert at <= start < end
                at = end
        assert at <= len(made.text)
        assert document.fixed == tuple(sorted(document.fixed))

    check()


@given(st.text(alphabet="aB .!?\n\r\t-#>*`|1é<>/[]()_:=\\\"'", max_size=80), st.sampled_from(KINDS))
@settings(max_examples=400, deadline=None)
def test_no_text_breaks_a_reader(text: str, kind: str) -> None:
    document = read(text, kind, "a.py")
    assert skeleton(document) == skeleton(read(text, kind, "a.py"))
    result = corrected(text, kind).text
    assert result.count("\n") == text.count("\n")
    assert result.count("\r") == text.count("\r")


def test_long_rows_are_cut_outside_of_what_stays() -> None:
    text = "\n".join(
        f"Kim Lee the {number}th <kim{number} at exmaple.org> goes there" for number in range(60)
    )
    rows = [sentence.stretch.text for sentence in read(text, "text", "a").sentences()]
    assert "".join(rows) == text
    assert len(rows) > 1
    assert all(row.count("<") == row.count(">") for row in rows)
    tags = "".join(f'<a href="http://x.org/{number}"></a>' for number in range(99))
    rows = [sentence.stretch.text for sentence in read(tags, "text", "a").sentences()]
    assert "".join(rows) == tags
    assert all(row.startswith("<") and row.endswith(">") for row in rows)


@pytest.mark.parametrize("mark", ["**", "->", "=>", "--", "* [ ]", "•"])
def test_marks_and_rules_in_plain_text_are_no_prose(mark: str) -> None:
    text = f"  {mark} teh house\n  -----+-----\n  {mark} teh page\n"
    assert [sentence.stretch.text.strip() for sentence in read(text, "text", "a").sentences()] == [
        "teh house",
        "teh page",
    ]
    assert corrected(text, "text").text.count("-----+-----\n") == 1


def test_bullets_in_markdown_that_are_no_list_stay() -> None:
    for seed in range(4):
        result = corrected("We read teh pages:\n • teh first\n • teh second\n", "markdown", seed).text
        assert re.fullmatch(r"[^\n]+\n • \w[^\n]*\n • \w[^\n]*\n", result)


def test_word_documents(tmp_path: Path, mtp: Callable[..., Outcome]) -> None:
    docx = pytest.importorskip("docx", reason="python-docx is an extra")
    page = tmp_path / "page.docx"
    made = docx.Document()
    made.add_heading("We use teh page", 1)
    paragraph = made.add_paragraph("It is te")
    paragraph.add_run("h").bold = True
    paragraph.add_run(" best page we have. ")
    paragraph.add_run("Se{name}").italic = True
    made.add_table(1, 2).cell(0, 1).text = "And teh cell here"
    made.save(page)
    arguments = ("proofread", "--no-judge", str(page))
    assert mtp(FakeEngine(fixing(teh="the")), *arguments).text.startswith("We use the page\nIt is the best")
    done = mtp(FakeEngine(fixing(teh="the")), *arguments, "-w", "--backup")
    assert done.code == 0, done.err
    found = docx.Document(page)
    assert [p.text for p in found.paragraphs] == ["We use the page", "It is the best page we have. Se{name}"]
    assert found.tables[0].cell(0, 1).text == "And the cell here"
    assert [run.italic for run in found.paragraphs[1].runs][-1] is True
    assert docx.Document(tmp_path / "page.docx.bak").paragraphs[0].text == "We use teh page"


def test_a_broken_word_document_is_one_line(tmp_path: Path, mtp: Callable[..., Outcome]) -> None:
    page = tmp_path / "page.docx"
    page.write_bytes(b"PK\x03\x04 nothing")
    done = mtp(None, "proofread", str(page))
    assert (done.code, done.err.count("\n")) == (2, 1)
