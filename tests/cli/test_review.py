"""Proposals, and what the model says to them: rules, vocabulary, likelihood, helpers, GLEU."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Outcome
from cli.fake_engine import FakeEngine, fixing, last_text
from mtp_cli.evaluate.gleu import gleu
from mtp_cli.evaluate.proofreading import Item
from mtp_cli.evaluate.tokens import as_written, tokenised
from mtp_cli.tasks import helpers
from mtp_cli.tasks.caution import BARS, dearer, is_off_limits, is_sure
from mtp_cli.tasks.edits import Edit, clash
from mtp_cli.tasks.helpers import ready
from mtp_cli.tasks.judge import Judge
from mtp_cli.tasks.language import is_english
from mtp_cli.tasks.near_words import NearWords, letter_distance
from mtp_cli.tasks.pieces import pieces
from mtp_cli.tasks.prompts import DEFAULTS, Prompt
from mtp_cli.tasks.proofread import Proofreader, Rules
from mtp_cli.tasks.session import Session
from mtp_cli.tasks.variants import Variant, variants

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
        ("It dont work", "It doesn't work"),
        ("They dont work", "They don't work"),
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
    early = "We page teh page here."
    for word in (better, same):
        prompt.as_text(word)  # the fake engine learns its words
    judge = Judge(session, prompt, text)
    calls = len(engine.calls)
    the, sage, none = (
        Variant(*one, "spelling") for one in ((7, 10, "the"), (11, 15, "sage"), (7, 10, "teh"))
    )
    assert judge.gain(better) > 10 > 0 > judge.gain(same)
    assert judge.ceiling(text, the) > 10 > judge.ceiling(text, sage)
    assert judge.said(text, the) > judge.said(text, sage)
    assert judge.ceiling(text, none) == -math.inf
    more, late = Variant(2, 2, " the", "article"), Variant(1, 1, " the", "article")
    assert judge.ceiling(text, more) < 0
    assert judge.ceiling(text, late) == judge.ceiling(text, Variant(0, 2, "W thee", "rule")), "by tokens"
    worse, right, _ = judge.answer_gains([early, better, same])
    assert worse < 0 < 10 < right
    assert judge.answer_gains([]) == []
    assert len(engine.calls) == calls, "the prompt was computed again"


def test_late_forms_first_compute_nothing_twice() -> None:
    engine = FakeEngine(str)
    session, prompt = Session(engine), Prompt(engine, DEFAULTS["chat"]["proofread"])
    text = "We use teh page and closd the big door of it here."
    forms = [text.replace("closd", "closed"), text.replace("teh", "the")]
    for form in forms:
        prompt.as_text(form)
    judge = Judge(session, prompt, text)
    fed: list[int] = []
    logits = engine.logits

    def counted(tokens: Sequence[int]) -> Any:
        fed.append(len(tokens))
        return logits(tokens)

    engine.logits = counted  # type: ignore[method-assign]
    calls = len(engine.calls)
    gains = [judge.gain(form) for form in forms]
    assert all(gain > 10 for gain in gains)
    assert len(engine.calls) == calls
    assert all(width <= 6 for width in fed), "only what differs and a little behind it"


def test_log_probabilities_are_those_of_the_rows() -> None:
    engine = FakeEngine(str)
    tokens = engine.tokenize("a b c teh d")
    rows = Session(engine).rows(tokens, 2)
    assert len(rows) == len(tokens) - 2
    everything = range(engine.logits([tokens[0]]).shape[1] - 1)
    assert math.isclose(sum(math.exp(rows.log_p(0, token)) for token in everything), 1, rel_tol=1e-4)
    assert rows.log_p(1, tokens[3]) < -30 < rows.log_p(0, tokens[2])
    assert math.isclose(
        rows.likelier(0, tokens[2], tokens[3]),
        rows.log_p(0, tokens[2]) - rows.log_p(0, tokens[3]),
        abs_tol=1e-3,
    )
    assert rows.best_beside(0, tokens[3]) == tokens[2] != rows.best_beside(0, tokens[2])
    assert len(Session(engine).rows(tokens, len(tokens))) == 0


def test_proposals_need_no_answer_and_clean_text_costs_none() -> None:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(last_text(prompt))
        return " " + asked[-1]

    engine = FakeEngine(answer)
    engine.tokenize(" doesn't the")
    rules = Rules(judged=True)
    proofreader = Proofreader(engine, DEFAULTS["chat"]["proofread"], rules=rules)
    found = proofreader.run("He said it dont work well. All is well here.")
    assert found.text == "He said it doesn't work well. All is well here."
    assert not engine.starts, "no sentence is written anew"


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
    ("one", "other", "distance"),
    [
        ("teh", "the", 1),
        ("cat", "cart", 1),
        ("abcd", "badc", 3),
        ("a", "a", 0),
        ("ab", "abcc", 2),
        ("recieve", "receive", 1),
        ("siences", "sciences", 1),
        ("noon", "non", 1),
    ],
)
def test_letter_distance(one: str, other: str, distance: int) -> None:
    assert letter_distance(one, other) == letter_distance(other, one) == distance


def test_near_words_are_all_that_are_near() -> None:
    words = ["the", "ten", "tea", "then", "heat", "receive", "relieve", "Word", "don't", "zebra"]
    index = NearWords(words)
    for word in ("teh", "recieve", "hte", "thn", "zebar"):
        for most in (1, 2):
            wanted = {
                other
                for other in words
                if other.isalpha()
                and other.islower()
                and other[0] in word[:2]
                and letter_distance(word, other) <= most
            }
            assert set(index.near(word, most)) == wanted


def spelling(text: str, word: str, other: str) -> Variant:
    at = text.index(word)
    return Variant(at, at + len(word), other, "spelling")


@pytest.mark.parametrize(
    ("text", "word", "other"),
    [
        ("It asks rpc.statd for it.", "statd", "stat"),
        ("The base-passwd package", "passwd", "passed"),
        ("See SVGAlib first", "SVGAlib", "Sahib"),
        ("The SPI was founded", "SPI", "spit"),
        ("The user@hst part", "hst", "host"),
        ("See exprts(5) for it", "exprts", "exports"),
        ("Use -dbgsym for it", "dbgsym", "dags"),
    ],
)
def test_names_and_parts_of_them_are_no_misspelt_words(text: str, word: str, other: str) -> None:
    assert is_off_limits(text, spelling(text, word, other))
    plain = f"We {word.lower()} it."
    assert not is_off_limits(plain, spelling(plain, word.lower(), other))


def test_what_makes_a_spelling_less_likely() -> None:
    def more(text: str, word: str, other: str, times: int = 1, known: bool = False) -> float:
        return dearer(text, spelling(text, word, other), lambda word: times, lambda word: known)

    plain = more("we recieve it", "recieve", "receive")
    assert plain == 0
    assert more("we recieve it", "recieve", "receive", times=5) > plain
    assert more("we remake it", "remake", "remove", known=True) > more("we remake it", "remake", "remove")
    assert more("Recieve it", "Recieve", "Receive") > plain
    assert more("the apg here", "apg", "apt") > plain
    assert more("a bfbtester", "bfbtester", "fester") > more("a bfbtester", "bfbtester", "bfbtesters")
    assert more("the whileas", "whileas", "while") > more("the whileas", "whileas", "wilea"), "an end cut off"
    assert more("the hte one", "hte", "the") == more("the teh one", "teh", "the")


def test_sure_edits_are_those_of_words_that_are_none() -> None:
    assert is_sure("I dont go", Variant(2, 6, "don't", "swapped"))
    assert not is_sure("Go there", Variant(3, 8, "they're", "swapped"))
    assert is_sure("and i go", Variant(4, 5, "I", "capital"))
    assert not is_sure("the cat", Variant(0, 3, "The", "capital"))


def test_a_comma_behind_an_opening_is_another_matter_than_elsewhere() -> None:
    kinds = {
        (variant.start, variant.kind)
        for variant in variants(pieces("In my opinion it is good"), full=True)
        if variant.replacement == ","
    }
    assert (13, "opening") in kinds
    assert {kind for at, kind in kinds if at != 13} == {"mark"}
    assert BARS["opening"].total < BARS["mark"].total


def test_what_the_model_would_never_write_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Likelihood alone does not do: the answer counts too, and an edit needs less beside another one."""
    monkeypatch.setitem(helpers.HELPERS, "rule", lambda dialect: _Rule())

    def result(answer: float, text: str) -> str:
        engine = FakeEngine(last_text)
        engine.tokenize(" the 20 mg of dont don't")
        monkeypatch.setattr(Judge, "answer_gains", lambda self, forms: [answer] * len(list(forms)))
        rules = Rules(judged=True, helpers=("rule",), answers="never")
        return Proofreader(engine, DEFAULTS["chat"]["proofread"], rules=rules).run(text).text

    assert result(0.0, "We use teh page here.") == "We use the page here."
    assert result(-100.0, "We use teh page here.") == "We use teh page here."


def test_helpers_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "harper", None)
    monkeypatch.setitem(sys.modules, "spellchecker", None)
    for name in ("harper", "dictionary"):
        monkeypatch.delitem(sys.modules, f"mtp_cli.tasks.helpers.{name}", raising=False)
    assert ready(("harper", "dictionary"), "us") == []


class _Rule:
    """A helper that knows one word."""

    name = "rule"

    def knows(self, word: str) -> bool:
        return False

    def proposals(self, text: str) -> Iterator[Variant]:
        at = text.find("teh")
        if at >= 0:
            yield Variant(at, at + 3, "the", "spelling")
            yield Variant(at, at + 3, "20 mg of", "rule")


class _Words:
    """A helper that knows what some words should be."""

    name = "rule"

    def __init__(self, words: dict[str, str]) -> None:
        self._words = words

    def knows(self, word: str) -> bool:
        return False

    def proposals(self, text: str) -> Iterator[Variant]:
        for word, other in self._words.items():
            at = text.find(word)
            if at >= 0:
                yield Variant(at, at + len(word), other, "spelling")


def test_what_helpers_propose_is_judged_and_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(helpers.HELPERS, "rule", lambda dialect: _Rule())
    engine = FakeEngine(last_text)
    engine.tokenize(" the 20 mg of")
    rules = Rules(judged=True, helpers=("rule",), answers="never")
    found = Proofreader(engine, DEFAULTS["chat"]["proofread"], rules=rules).run("We use teh page here.")
    assert found.text == "We use the page here."
    assert [(edit.origin, edit.label) for edit in found.edits] == [("rule", "spelling")]


def test_a_word_put_in_beside_another_edit_clashes() -> None:
    put_in, mended = Edit(10, 10, "", " the", "grammar"), Edit(11, 14, "teh", "the", "spelling")
    assert clash(put_in, mended)
    assert clash(mended, put_in)
    assert not clash(mended, Edit(15, 20, "pagee", "page", "spelling"))
    assert not clash(Edit(10, 10, "", ",", "punctuation"), mended)


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


def test_beside_another_error_less_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    gains = {"the": 6.0, "closed": 4.0}
    monkeypatch.setitem(helpers.HELPERS, "rule", lambda dialect: _Words({"teh": "the", "closd": "closed"}))
    monkeypatch.setattr(
        Judge, "gain", lambda self, form: max(gain for word, gain in gains.items() if f" {word} " in form)
    )
    monkeypatch.setattr(Judge, "answer_gains", lambda self, forms: [-3.0] * len(list(forms)))

    def result(text: str) -> str:
        engine = FakeEngine(last_text)
        engine.tokenize(" the closed")
        rules = Rules(judged=True, helpers=("rule",), answers="never")
        return Proofreader(engine, DEFAULTS["chat"]["proofread"], rules=rules).run(text).text

    assert result("We use teh page here now.") == "We use teh page here now.", "that is too little alone"
    assert result("We use teh page and closd here now.") == "We use teh page and closd here now."
    gains["closed"] = 20.0
    assert result("We use teh page and closd here now.") == "We use the page and closed here now."


@pytest.mark.parametrize(
    ("tokens", "written"),
    [
        ("It do n't work , Kim .", "It don't work, Kim."),
        ("They 're Kim 's !", "They're Kim's!"),
        ("That is it ! .", "That is it ! ."),
        ("A 'tis B", "A 'tis B"),
    ],
)
def test_tokens_as_a_person_writes_them(tokens: str, written: str) -> None:
    assert as_written(tokens) == written
    assert tokenised(as_written(tokens)) == tokens
    assert Item(tokens, ("x",)).written == written
    assert Item(tokens, ()).written == tokens


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
