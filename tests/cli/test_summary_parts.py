"""What summaries are made of: the gate, lengths, key lines, facts, languages, groups of notifications."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cli.fake_engine import FakeEngine
from mtp_cli.readers.document import Kind, Message, speakers, talk_of
from mtp_cli.tasks.digest import groups_of
from mtp_cli.tasks.facts import unsupported
from mtp_cli.tasks.keylines import key_sentences, last_sentence
from mtp_cli.tasks.prompts import Prompt
from mtp_cli.tasks.summary_gate import SummaryGate
from mtp_cli.tasks.summary_prompts import asks_for
from mtp_cli.tasks.summary_wish import Length, Style, Wish, parse_length
from mtp_cli.tasks.text_language import language_of
from mtp_cli.tasks.wording import fit, has_false_end, is_circling, shortened, word_count


def passed(text: str, *, complete: bool = False, step: int = 3, **options: object) -> list[str]:
    """The sentences that a gate lets through."""
    gate = SummaryGate(**options)  # type: ignore[arg-type]
    for at in range(0, len(text), step):
        gate.feed(text[at : at + step])
        if gate.stopped:
            break
    gate.close(complete=complete)
    return gate.sentences


@pytest.mark.parametrize("step", [1, 4, 1000])
@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("The roof leaks. It will be", ["The roof leaks."]),
        ("Here is a summary of the text:\n\nThe roof leaks.", ["The roof leaks."]),
        ("Sure! Here's a brief summary: The roof leaks.", ["The roof leaks."]),
        ("Certainly. Here is the summary you asked for. The roof leaks.", ["The roof leaks."]),
        ("Summary: the roof leaks.", ["The roof leaks."]),
        ("**Summary:**\n- The roof leaks.\n- It is old.\n", ["The roof leaks.", "It is old."]),
        ("1. The roof leaks.\n2) It is old.\n", ["The roof leaks.", "It is old."]),
        ("<think>\nThe user wants. A summary.\n</think>\n\nThe roof leaks.", ["The roof leaks."]),
        ("<think>I never come to an end. So.", []),
        ("The roof leaks. The roof leaks. The roof leaks. More.", ["The roof leaks."]),
        (
            "The old roof leaks badly. The old roof leaks. It is from 1926.",
            ["The old roof leaks badly.", "It is from 1926."],
        ),
        ("The roof leaks and the roof leaks and the roof leaks and the roof leaks. More.", []),
        ("no no no no no no no no no no no no no no no no no no no no no no no no", []),
        ("The roof leaks. I hope this helps! More.", ["The roof leaks."]),
        ("The roof leaks.\n\nUser: tell me more. Well.", ["The roof leaks."]),
        (
            'He said "It leaks." Then he left, e.g. at 3 p.m. on foot.',
            ['He said "It leaks."', "Then he left, e.g. at 3 p.m. on foot."],
        ),
        ("屋根が漏れる。古い。直", ["屋根が漏れる。", "古い。"]),
        ('"The roof leaks."', ["The roof leaks."]),
        ("“The roof leaks. It is old.”\n", ["The roof leaks.", "It is old."]),
        ('"It leaks," he said. "It is old."\n', ['"It leaks," he said.', '"It is old."']),
        ("The roof will be\nrepaired soon. It is\n old.", ["The roof will be repaired soon.", "It is old."]),
        ("The bill of the\nCouncil rises.\nIt is paid.", ["The bill of the Council rises.", "It is paid."]),
        ("The roof leaks\nThe bill rises.", ["The roof leaks.", "The bill rises."]),
        ("The bill rises to the\n\nRoof. It leaks.", ["Roof.", "It leaks."]),
        ("The roof leaks, and\n- it is old\n- it is wet\n", ["it is old.", "it is wet."]),
        ("a < b holds. It is so.", ["a < b holds.", "It is so."]),
    ],
)
def test_only_whole_sentences_of_the_summary_pass(said: str, wanted: list[str], step: int) -> None:
    assert passed(said, step=step) == wanted


def test_an_answer_that_the_model_ended_is_complete() -> None:
    assert passed("The roof leaks", complete=True) == ["The roof leaks."]
    assert passed("The roof leaks", complete=False) == []
    assert passed("The roof leaks\nNext: x", stops=["\n"]) == ["The roof leaks."]
    assert passed("\n\nThe roof leaks\nNext", stops=["\n"]) == ["The roof leaks."]


@pytest.mark.parametrize(
    "rest", ["It is the", "It leaks and", "The council,", "The hall will be", "It is of a"]
)
def test_what_stops_in_the_middle_is_no_sentence_even_if_the_model_ended_there(rest: str) -> None:
    assert passed(f"The roof leaks. {rest}", complete=True) == ["The roof leaks."]
    assert passed(f"The roof leaks. {rest}\n", complete=True, stops=["\n"]) == ["The roof leaks."]


def test_full_stops_where_no_sentence_can_end() -> None:
    assert has_false_end("The wiring no longer meets the.")
    assert not has_false_end("He knew what it was made of.")
    assert not has_false_end("The wiring no longer meets the")


def test_opening_is_part_of_the_first_sentence_and_nothing_alone() -> None:
    assert passed(" a roof. It leaks.", opening="Anna and Ben talk about") == [
        "Anna and Ben talk about a roof.",
        "It leaks.",
    ]
    assert passed("", opening="Anna and Ben talk about", complete=True) == []


def test_sentences_of_other_answers_are_not_repeated() -> None:
    assert passed("The roof leaks. It is old.", said=["The roof leaks."]) == ["It is old."]


def test_words_are_met_at_the_end_of_a_sentence() -> None:
    text = " ".join(
        f"The {word} roof leaks again today."
        for word in [
            "old",
            "new",
            "red",
            "wet",
            "dry",
            "low",
            "top",
            "own",
            "far",
            "big",
            "fat",
            "hot",
            "mad",
        ]
    )
    for wanted in range(6, 75):
        words = word_count(" ".join(passed(text, length=Length("", wanted))))
        assert abs(words - wanted) <= 3, wanted


@given(st.text(alphabet="aB .!?\n<>-*:1think/", max_size=200), st.integers(1, 9))
@example("?\n\n1!", 3)
def test_gate_shows_the_same_however_the_text_is_cut(text: str, step: int) -> None:
    assert passed(text, step=step, stops=["\n\n"]) == passed(text, step=1, stops=["\n\n"])


@pytest.mark.parametrize(("value", "words"), [("short", 28), ("medium", 0), (" LONG ", 150), ("40", 40)])
def test_lengths(value: str, words: int) -> None:
    assert parse_length(value).words == words


@pytest.mark.parametrize("value", ["", "0", "4", "9999", "-3", "tall", "1.5"])
def test_wrong_lengths(value: str) -> None:
    with pytest.raises(ValueError, match="words"):
        parse_length(value)


@given(st.lists(st.integers(1, 30), max_size=12), st.integers(5, 120))
def test_fit_comes_as_near_as_whole_sentences_can(sizes: list[int], wanted: int) -> None:
    rows = [" ".join([f"w{at}"] * size) for at, size in enumerate(sizes)]
    chosen = fit(rows, wanted, wanted * 5 // 4)
    assert [row for row in rows if row in chosen] == chosen
    total = sum(len(row.split()) for row in chosen)
    sums = {0}
    for size in sizes:
        sums |= {size + other for other in sums if size + other <= wanted * 5 // 4}
    if sums != {0}:
        assert abs(total - wanted) == min(abs(other - wanted) for other in sums if other or sizes)


def test_shortened_at_a_clause() -> None:
    long = "The roof leaks at four places, which the council knew, because it is old."
    assert shortened(long, 9) == "The roof leaks at four places."
    assert shortened(long, 11) == "The roof leaks at four places, which the council knew."
    assert shortened(long, 99) == long
    assert shortened("Four words are here", 2) == "Four words are here"


def test_circling_is_told_from_emphasis() -> None:
    assert not is_circling("The more he ran, the more he sweated, and the more he sweated the better.")
    assert is_circling("The two vans were in the motorcade, and the two vans were in the motorcade.")


TEXT = (
    "The town library will close in March. The roof of the library lets in water. Cats are nice. "
    "The bill for the library and its roof rises to 415,000. Some people walk. "
    "The demo password is swordfish-19."
)


def test_key_sentences_are_about_what_the_text_is_about() -> None:
    found = key_sentences(TEXT, 2)
    assert all("library" in sentence for sentence in found)
    assert found == [sentence for sentence in found if sentence in TEXT]
    assert key_sentences(TEXT, 1, avoid=found)[0] not in found
    assert last_sentence(TEXT) == "The demo password is swordfish-19."
    assert key_sentences("", 3) == []
    assert last_sentence("word") == ""


@given(st.text(max_size=300), st.integers(0, 5))
def test_key_sentences_of_anything(text: str, count: int) -> None:
    assert len(key_sentences(text, count)) <= count


def test_key_sentences_are_whole() -> None:
    text = "Ben: The roof leaks on the old books and\nAnna: It rains on the books too\nBen: They met the."
    assert key_sentences(text, 3) == ["Anna: It rains on the books too."]


def test_names_and_numbers_that_are_not_in_the_source() -> None:
    source = "The Town Library closes for eleven weeks; Anna Lee pays 415,000. At 10:30 NATO met."
    assert unsupported("The library of Anna Lee closes for 11 weeks.", source).count == 0
    assert unsupported("It costs 415000, said Lee's aunt at 10.", source).count == 0
    found = unsupported("Paris closes for 12 weeks, said Kim of UNESCO. In Rome it cost 415,001.", source)
    assert found.numbers == ("12", "415,001")
    assert found.names == ("Kim", "UNESCO", "Rome")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The roof of the library lets in water and it will be closed for weeks.", "en"),
        ("Das Dach der Bibliothek ist undicht, und sie wird für elf Wochen geschlossen.", "de"),
        ("Le toit de la bibliothèque est percé et elle sera fermée pour onze semaines.", "fr"),
        ("El techo de la biblioteca está roto y se cierra por once semanas para la obra.", "es"),
        ("図書館の屋根から水が漏れています。", "ja"),
        ("도서관 지붕에서 물이 새고 있습니다.", "ko"),
        ("图书馆的屋顶漏水。", "zh"),
        ("Roof.", ""),
        ("x1 y2 z3 q w e r t y u i o p", ""),
    ],
)
def test_language(text: str, code: str) -> None:
    assert language_of(text) == code


def test_who_talks() -> None:
    assert talk_of(speakers("Anna: Hi.\nBen: At 10: ok.\nAnna: Bye.")) == "Anna and Ben talk about"
    assert talk_of(["A", "B", "C"]) == "A, B and C talk about"
    assert talk_of(list("ABCDEF")) == "A, B, C and others talk about"
    assert talk_of(["A"]) == ""


def test_notifications_are_grouped() -> None:
    rows = [
        ("a", "Chat", "Anna"),
        ("b", "Mail", "Ben"),
        ("c", "Chat", "Anna"),
        ("a", "Chat", "Anna"),
        (" ", "Chat", "X"),
    ]
    groups = groups_of([Message(text, sender, app=app) for text, app, sender in rows])
    assert [(group.title, len(group.messages)) for group in groups] == [
        ("Anna (Chat, 2 messages)", 2),
        ("Ben (Mail)", 1),
    ]


@pytest.mark.parametrize("style", list(Style))
@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("chat", [True, False])
def test_every_wish_has_a_prompt(style: Style, kind: Kind, chat: bool) -> None:
    for length in ("short", "medium", "long", "10", "300"):
        wish = Wish(style, parse_length(length), kind, "de" if chat else "")
        asks = asks_for(None, chat=chat, wish=wish)
        for template in (asks.whole, asks.part, asks.notes):
            text = Prompt(FakeEngine(str, chat=chat), template).text("@@@")
            assert text.count("@@@") == 1
            assert "{" not in text
        assert ("German" in asks.whole.user) == chat


def test_own_prompts_of_a_model_go_first() -> None:
    own = {
        "summarize": {"style": "chat", "user": "Sum: {text}", "max_sentences": 3},
        "summarize-chat": {"style": "chat", "user": "Talk: {text}"},
        "summarize-headline": {"style": "chat", "user": "Head: {text}"},
    }
    assert asks_for(own, chat=True, wish=Wish()).whole.user == "Sum: {text}"
    assert asks_for(own, chat=True, wish=Wish(kind=Kind.chat)).whole.user == "Talk: {text}"
    asks = asks_for(own, chat=True, wish=Wish(Style.headline, kind=Kind.chat))
    assert (asks.whole.user, asks.part.user, asks.notes.user) == (
        "Head: {text}",
        "Talk: {text}",
        "Head: {text}",
    )
    with pytest.raises(ValueError, match="summarize-chat"):
        asks_for({"summarize-chat": {"style": "chat"}}, chat=True, wish=Wish(kind=Kind.chat))


def test_sentences_that_share_a_long_run_are_repeats() -> None:
    tail = "sparked anger abroad and led to a move by the council to close the house"
    assert passed(f"The incident in 2013 {tail}. The boy, who was ill, {tail}. The end.") == [
        f"The incident in 2013 {tail}.",
        "The end.",
    ]
