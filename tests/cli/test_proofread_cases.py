"""Inputs that went wrong elsewhere, with models that do everything wrong; real models: tests/jobs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cli.conftest import Outcome
from cli.documents import mangler
from cli.fake_engine import FakeEngine, last_text
from cli.proofread_cases import CASES, HOSTILE, Case

Mtp = Callable[..., Outcome]
FORMS = ("Here is the corrected text: {}", 'Sure! "{}"', "{}\n\nI fixed the typos.", "{} Is that okay?", "{}")
SPANS = ("`pip instal foo`", "https://exmaple.com/teh-page?x=1", "{name}", "%d", "$INBOX", "10 mg", "<div>")


def as_it_was(case: Case) -> str:
    return case.text if not case.text or case.text.endswith("\n") else case.text + "\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("said", HOSTILE)
def test_nothing_but_corrections_gets_in(mtp: Mtp, case: Case, said: str) -> None:
    engine = FakeEngine(lambda prompt: said) if case.text else None
    done = mtp(engine, "proofread", "--no-judge", stdin=case.text)
    assert (done.code, done.text, done.err) == (0, as_it_was(case), "")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_around_a_correction_stays_out(mtp: Mtp, case: Case, form: str) -> None:
    engine = FakeEngine(lambda prompt: form.format(last_text(prompt))) if case.text else None
    done = mtp(engine, "proofread", "--no-judge", "--unsafe", stdin=case.text)
    assert (done.code, done.text) == (0, as_it_was(case))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_lines_and_protected_text_survive_a_mangler(mtp: Mtp, case: Case) -> None:
    for seed in range(8):
        done = mtp(FakeEngine(mangler(seed)), "proofread", "--no-judge", stdin=case.text)
        assert done.text.count("\n") == as_it_was(case).count("\n")
        assert done.text.count("\r") == case.text.count("\r")
        assert [done.text.count(span) for span in SPANS] == [case.text.count(span) for span in SPANS]


def test_a_text_that_is_right_passes_the_check(mtp: Mtp) -> None:
    text = "We shipped it on Monday, and everyone was happy with the result."
    assert mtp(FakeEngine(last_text), "proofread", "--check", stdin=text).code == 0
