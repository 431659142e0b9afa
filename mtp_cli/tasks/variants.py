"""Forms of an English sentence that differ in one small thing: what learners and hurried people get wrong.

Rules propose, the model decides (judge.py): an article or preposition more, less or another one, another form
of a word, a comma, a capital. Most of these are wrong; none is taken that the model does not like better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mtp_cli.tasks.families import CAPITALISED, FAMILIES, OPENINGS
from mtp_cli.tasks.pieces import Piece
from mtp_cli.tasks.words import is_small

_ARTICLES = ("a", "an", "the")
_INSERTED = ("to", "of", "in", "for", "on", "is", "are", "be", "it")
_DROPPED = frozenset("a an the to of in for on at".split())  # noqa: SIM905
_PREPOSITIONS = frozenset("in on at to for of with from by about as into".split())  # noqa: SIM905
_NO_ARTICLE_BEHIND = frozenset(
    "a an the my your his her its our their this that these those every each".split()  # noqa: SIM905
)
_SINGULAR = frozenset(("he", "she", "it", "this", "that"))
_VOWELS = frozenset("aeiou")
_LEAST_STEM = 3
_LONGEST_OPENING = 4


@dataclass(frozen=True, slots=True)
class Variant:
    """text[start:end] becomes `replacement`. `kind`: article | inserted | dropped | swapped | form |
    mark | opening | capital | joined | spelling | rule."""

    start: int
    end: int
    replacement: str
    kind: str

    @property
    def empty(self) -> bool:
        """True when nothing is replaced."""
        return self.start == self.end

    def of(self, text: str) -> str:
        """The text with it."""
        return text[: self.start] + self.replacement + text[self.end :]


def variants(row: Sequence[Piece], *, full: bool) -> Iterator[Variant]:
    """All of them for a sentence in pieces. `full` False: no mark at its end."""
    opening = _opening(row)
    for at, piece in enumerate(row):
        before = row[at - 1] if at else None
        if piece.kind == "word":
            yield from _of_word(piece, before)
            if before is not None and before.kind == "word" and piece.space == " ":
                yield Variant(before.end, before.end, ",", "opening" if at == opening else "mark")
                for word in _ARTICLES if _may_have_article(piece, before) else ():
                    yield Variant(before.end, before.end, f" {word}", "article")
                for word in _INSERTED:
                    yield Variant(before.end, before.end, f" {word}", "inserted")
        elif piece.text == "," and not piece.space and at + 1 < len(row):
            yield Variant(piece.start, piece.end, "", "mark")
    if full and row and row[-1].kind == "word":
        yield Variant(row[-1].end, row[-1].end, ".", "mark")


def _may_have_article(piece: Piece, before: Piece) -> bool:
    """False in front of small words and contractions, and behind a word that an article excludes."""
    word = piece.text.lower()
    return not is_small(word) and "'" not in word and before.text.lower() not in _NO_ARTICLE_BEHIND


def _opening(row: Sequence[Piece]) -> int:
    """How many words of the sentence are a phrase that a comma follows; the longest one counts."""
    found = 0
    words: list[str] = []
    for at, piece in enumerate(row[:_LONGEST_OPENING], 1):
        if piece.kind != "word":
            break
        words.append(piece.text.lower())
        if " ".join(words) in OPENINGS:
            found = at
    return found or -1


def _of_word(piece: Piece, before: Piece | None) -> Iterator[Variant]:
    word = piece.text.lower()
    if word in CAPITALISED or before is None:
        capital = piece.text[:1].upper() + piece.text[1:]
        if capital != piece.text:
            yield Variant(piece.start, piece.end, capital, "capital")
    if before is not None and before.kind == "word" and piece.space == " " and word == piece.text:
        yield Variant(before.start, piece.end, before.text + word, "joined")
    if before is not None and piece.space == " " and (word in _DROPPED or word == before.text.lower()):
        yield Variant(before.end, piece.end, "", "dropped")
    others = set(FAMILIES.get(word, ())) | (_PREPOSITIONS - {word} if word in _PREPOSITIONS else set())
    if word == "dont" and before is not None and before.text.lower() in _SINGULAR:
        others = {"doesn't"}
    for other in sorted(others):
        yield Variant(piece.start, piece.end, _cased(other, piece.text), "swapped")
    if before is not None and piece.text[:1].isupper():
        return  # a name
    for other in sorted(_forms(word) - others):
        yield Variant(piece.start, piece.end, _cased(other, piece.text), "form")


def _forms(word: str) -> set[str]:
    """Regular forms, real ones and others, without the word itself."""
    if len(word) < _LEAST_STEM or not word.isalpha():
        return set()
    stems = {word}
    for ending, instead in (
        ("ies", "y"),
        ("es", ""),
        ("s", ""),
        ("ied", "y"),
        ("ed", ""),
        ("ed", "e"),
        ("ing", ""),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            stems.add(word[: -len(ending)] + instead)
    if word.endswith("ing"):
        stems.add(word[:-3] + "e")
    if word.endswith("ly") and len(word) > 4:
        stems.add(word[:-2])
    found = {form for stem in stems for form in _inflected(stem)} | stems
    return found - {word}


def _inflected(stem: str) -> Iterator[str]:
    yield stem + "s"
    if stem.endswith(("s", "x", "z", "ch", "sh", "o")):
        yield stem + "es"
    if stem.endswith("e"):
        yield from (stem + "d", stem[:-1] + "ing")
    elif stem.endswith("y") and stem[-2:-1] not in _VOWELS:
        yield from (stem[:-1] + "ies", stem[:-1] + "ied", stem + "ing", stem[:-1] + "ily")
    else:
        yield from (stem + "ed", stem + "ing")
        if (
            stem[-1:] not in _VOWELS | {"w", "x", "y"}
            and stem[-2:-1] in _VOWELS
            and stem[-3:-2] not in _VOWELS
        ):
            yield from (stem + stem[-1] + "ed", stem + stem[-1] + "ing")
    yield stem + "ly"


def _cased(word: str, like: str) -> str:
    if word.startswith("i'") or word == "i":
        return "I" + word[1:]
    return word[:1].upper() + word[1:] if like[:1].isupper() and like != "I" else word
