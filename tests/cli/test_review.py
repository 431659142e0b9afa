"""Proposals, and what the model says to them: rules, vocabulary, likelihood, helpers, GLEU."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.conftest import Outcome
from cli.fake_engine import FakeEngine, fixing, last_text
from mtp_cli.evaluate.gleu import gleu
from mtp_cli.evaluate.tokens import tokenised
from mtp_cli.tasks import helpers, review
from mtp_cli.tasks.helpers import ready
from mtp_cli.tasks.judge import Judge
from mtp_cli.tasks.language import is_english
from mtp_cli.tasks.pieces import pieces
from mtp_cli.tasks.prompts import DEFAULTS, Prompt
from mtp_cli.tasks.proofread import Proofreader, Rules
from mtp_cli.tasks.session import Session
from mtp_cli.tasks.variants import Variant, variants
from mtp_cli.tasks.vocabulary import letter_distance

Mtp = Callable[..., Outcome]


def forms(text: str, *, full: bool = True) -> set[str]:
    return {variant.of(text) for variant in variants(pieces(text), full=full)}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("He go home", "He goes home"),
        ("I has two cat", "I has two cats"),
        ("She is good in maths", "She is good at maths"),
        ("We went to the the park", "We went to the park"),
        ("I saw cat here", "I saw a cat here"),
        ("It dont work", "It don't work"),
        ("see you on friday", "see you on Friday"),
        ("Its a nice day", "It's a nice day"),
        ("He stopped to work", "He stopped work"),
        ("All is well here", "All is well here."),
        ("However he left", "However, he left"),
        ("Two citys", "Two cities"),
    ],
)
def test_rules_propose(text: str, form: str) -> None:
    assert form in forms(text)


def test_rules_leave_names_numbers_and_protected_text_alone() -> None:
    text = "Then Anna ran `go build` for 10 mg."
    for form in forms(text):
        assert all(part in form for part in ("Anna", "`go build`", "10 mg"))
    assert "A title." not in forms("A title", full=False)


def test_likelihood_of_an_edit_and_the_shared_beginning() -> None:
    engine = FakeEngine(str)
    session, prompt = Session(engine), Prompt(engine, DEFAULTS["chat"]["proofread"])
    text, better, same = "We use teh page here.", "We use the page here.", "We use teh sage here."
    for word in (better, same):
        prompt.as_text(word)  # the fake engine learns its words
    judge = Judge(session, prompt, text)
    calls = len(engine.calls)
    assert judge.gain(better) > 10
    assert abs(judge.gain(same)) < 1
    assert judge.first_gain(better) > 10 > judge.first_gain(same)
    assert judge.first_gain(text) == -math.inf
    assert judge.insertion_gain(text, 2, " the") == judge.first_gain("We the use teh page here.")
    assert judge.insertion_gain(text, 1, " the") is None
    assert len(engine.calls) == calls, "the prompt was computed again"


def test_log_probabilities_are_those_of_the_rows() -> None:
    engine = FakeEngine(str)
    tokens = engine.tokenize("a b c teh d")
    rows = Session(engine).log_probs(tokens, 2)
    assert rows.shape[0] == len(tokens) - 2
    assert all(math.isclose(sum(math.exp(value) for value in row), 1, rel_tol=1e-4) for row in rows.tolist())
    assert rows[1, tokens[3]] < -30 < rows[0, tokens[2]]


def test_proposals_need_no_answer_and_clean_text_costs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(review._LOOK, "rules", (-1.0, 99))  # to the fake engine all look alike
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(last_text(prompt))
        return " " + asked[-1]

    engine = FakeEngine(answer)
    engine.tokenize(" doesn't the")
    rules = Rules(judged=True)
    proofreader = Proofreader(engine, DEFAULTS["chat"]["proofread"], rules=rules)
    found = proofreader.run("He said it dont work well. All is well here.")
    assert found.text == "He said it don't work well. All is well here."
    assert len(engine.starts) == 1, "only the sentence with an edit is written anew"


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("This is the text of a page.", True),
        ("Das ist ein gutes Beispiel, aber ich habe ein Fehler gemacht.", False),
        ("Le chat est sur la table et il dort.", False),
        ("他不在这里。", False),
        ("Fix teh login page", True),
    ],
)
def test_language(text: str, english: bool) -> None:
    assert is_english(text) is english


@pytest.mark.parametrize(
    ("one", "other", "distance"), [("teh", "the", 1), ("cat", "cart", 1), ("abcd", "badc", 3), ("a", "a", 0)]
)
def test_letter_distance(one: str, other: str, distance: int) -> None:
    assert letter_distance(one, other) == distance


def test_helpers_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "harper", None)
    monkeypatch.setitem(sys.modules, "spellchecker", None)
    for name in ("harper", "dictionary"):
        monkeypatch.delitem(sys.modules, f"mtp_cli.tasks.helpers.{name}", raising=False)
    assert ready(("harper", "dictionary"), "us") == []


class _Rule:
    """A helper that knows one word."""

    name = "rule"

    def proposals(self, text: str) -> Iterator[Variant]:
        at = text.find("teh")
        if at >= 0:
            yield Variant(at, at + 3, "the", "spelling")
            yield Variant(at, at + 3, "20 mg of", "rule")


def test_what_helpers_propose_is_judged_and_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(helpers.HELPERS, "rule", lambda dialect: _Rule())
    engine = FakeEngine(last_text)
    engine.tokenize(" the 20 mg of")
    rules = Rules(judged=True, helpers=("rule",), answers="never")
    found = Proofreader(engine, DEFAULTS["chat"]["proofread"], rules=rules).run("We use teh page here.")
    assert found.text == "We use the page here."
    assert [(edit.origin, edit.label) for edit in found.edits] == [("rule", "spelling")]


def test_unknown_or_missing_helper_is_one_line(mtp: Mtp, monkeypatch: pytest.MonkeyPatch) -> None:
    done = mtp(None, "proofread", "--helpers", "grammarly", stdin="We use it.")
    assert (done.code, done.err.count("\n")) == (2, 1)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = mtp(None, "proofread", "--helpers", "harper", stdin="We use it.")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "mtp-cli[proof]" in done.err


def test_gleu_known_values() -> None:
    source, reference = "he go to school every day", "he goes to school every day"
    assert gleu([reference], [reference], [[reference]]) == pytest.approx(1.0)
    right, left = gleu([source], [reference], [[reference]]), gleu([source], [source], [[reference]])
    assert right == pytest.approx(1.0)
    # 5/6 words, less "go"; 3/5, 2/4, 1/3 longer ones, less what is the source's own
    assert left == pytest.approx((4 / 6 * 1 / 5 * 0) ** 0.25)
    both = gleu([source], [source], [[reference, source]])
    assert both == pytest.approx((left + 1) / 2)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It doesn't work, Kim.", "It does n't work , Kim ."),
        ("It do n't work , Kim .", "It do n't work , Kim ."),
        ("Kim's is 3,5.", "Kim 's is 3,5 ."),
    ],
)
def test_tokens(text: str, tokens: str) -> None:
    assert tokenised(text) == tokens


def test_eval_command(mtp: Mtp, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    rows = [
        {"source": "We use teh page `teh x` here .", "references": ["We use the page `teh x` here ."]},
        {"text": "All is well with the page."},
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    line = ("eval", "proofread", "--data", str(data), "--answers", "always", "--no-judge", "--format", "json")
    done = mtp(FakeEngine(fixing(teh="the", well="fine")), *line)
    assert done.code == 0, done.err
    record = json.loads(done.text)
    assert record["gleu"] == 1.0
    assert record["gleu_unchanged"] < 1
    assert (record["sentences"], record["clean_sentences"], record["clean_changed"]) == (2, 1, 0)
    assert (record["protected_spans"], record["protected_spans_kept"]) == (1, 1)
    done = mtp(FakeEngine(fixing()), *line[:-2])
    assert "gleu unchanged:" in done.text
    assert mtp(None, "eval", "proofread", "--data", str(tmp_path / "none")).code == 2
