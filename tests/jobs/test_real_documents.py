"""Real documents of this machine, and a model that mangles: what is no prose comes back."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest

from cli.documents import mangler
from cli.fake_engine import FakeEngine
from cli.test_documents import markdown_shape
from mtp_cli.tasks.documents.kinds import reader_of
from mtp_cli.tasks.prompts import DEFAULTS
from mtp_cli.tasks.proofread import Proofreader

DOCUMENTS = 300
MOST_CHARS = 2000
PAGES = Path("/usr/share/doc")
NAMED = re.compile(r"(?:README|NEWS|TODO|FAQ|AUTHORS|BUGS|HACKING|copyright)", re.IGNORECASE)
PROTECTED = (
    r"https?://[^\s<>\"'`)\]]*[\w/]",
    r"[\w.+-]+@[\w-]+\.[\w.-]*\w",
    r"\d+",
    r"\{\w+\}",
    r"%[sd]\b|\$[A-Z_]{2,}",
    r"</?[a-zA-Z][^>\n]*>",
    r"[\r|]",
)


def packages() -> Iterator[tuple[str, str, str]]:
    """(name, kind, text) of the pages of the installed packages."""
    for package in distributions():
        text = str(package.metadata.get_payload() or "")
        form = package.metadata.get("Description-Content-Type", "")
        yield package.metadata["Name"], "markdown" if "markdown" in form.lower() else "rst", text


def pages() -> Iterator[tuple[str, str, str]]:
    for path in sorted(PAGES.rglob("*")):
        if path.is_file() and NAMED.match(path.name):
            data = path.read_bytes()
            try:
                text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
            except (OSError, EOFError, UnicodeDecodeError):
                continue
            yield str(path), "markdown" if ".md" in path.suffixes else "text", text


def some_of(found: Iterator[tuple[str, str, str]], most: int) -> list[tuple[str, str, str]]:
    rows = [(name, kind, text[:MOST_CHARS]) for name, kind, text in found if len(text) > 200]
    return rows[:: max(1, len(rows) // most)][:most]


@pytest.fixture(scope="module")
def documents() -> list[tuple[str, str, str]]:
    own = some_of(packages(), DOCUMENTS // 2)
    found = own + some_of(pages(), DOCUMENTS - len(own))
    if len(found) < 10:
        pytest.skip("there are no documents here")
    return found


def starts(text: str) -> list[str]:
    """What each line begins with: indentation and the mark of a list, a quote or a heading."""
    return [re.match(r"\s*(?:[-*+>#|•]+\s+|\d{1,3}[.)]\s)?", line)[0] for line in text.split("\n")]  # type: ignore[index]


SAME: tuple[Callable[[str], object], ...] = (
    *(re.compile(pattern).findall for pattern in PROTECTED),
    lambda text: [bool(line.strip()) for line in text.split("\n")],
)


@pytest.mark.slow
def test_what_is_no_prose_survives(documents: list[tuple[str, str, str]]) -> None:
    edits = 0
    for number, (name, kind, text) in enumerate(documents):
        reader = reader_of(kind, name)
        engine = FakeEngine(mangler(number % 4), n_ctx=4096)
        done = Proofreader(engine, DEFAULTS["chat"]["proofread"]).run(reader(text), reader)
        edits += len(done.applied)
        for same in SAME:
            assert same(done.text) == same(text), name
        if "\t" not in text:
            assert starts(done.text) == starts(text), name
        if kind == "markdown":
            before, after = ([row[:2] for row in markdown_shape(page)] for page in (text, done.text))
            assert before == after, name
    assert edits > 2 * len(documents)  # the model did mangle
