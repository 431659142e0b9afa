"""Documents -> clean passages to summarise and sentences to proofread."""

from __future__ import annotations

import random
import re

from mtp_cli.tasks.split import sentences
from mtp_cli.train.documents import Document

PASSAGE_WORDS = (60, 800)
SENTENCE_WORDS = (8, 60)
LINE_WORDS = (3, 7)
# a head that has learnt on short passages alone drafts worse on whole articles
_LENGTHS = ((60, 150), (150, 280), (280, 400), (400, 800))
_LENGTH_WEIGHTS = (15, 30, 25, 30)
_LONGEST_SENTENCE = 80
_SHORT_LINES = 0.3
_STARTS = re.compile(r"[\"“'‘(]*[A-ZÀ-Þ]")
_ENDS = re.compile(r"[.?!][\"”'’)]*$")
_SYMBOLS = re.compile(
    r"[^\w\s.,;:?!'\"’‘“”()\[\]–—%$£€&/+°§-]|_|\"\"|\.\.\.\.|\[\d|\$\(|--\w|(?<!\w)/\w|/[^\s/]*/"
)
_ADDRESSES = re.compile(r"https?:|www\.|(?<=[a-z])\.[a-z]{2}|\bpp?\. ?\d")
_SLURS = re.compile(r"\b(?:[Nn]igg(?!l|ar)|[Ff]aggot|[Kk]ikes?\b)")
_LETTER = re.compile(r"[A-Za-zÀ-ÿ ]+")
_NOT_CAPITAL = re.compile(r"[^A-Z]+")


def passages(document: Document, rng: random.Random) -> list[str]:
    """Runs of whole sentences, 60 to 800 words each, that do not overlap; they end with a paragraph where
    that is possible."""
    found: list[str] = []
    run = _Run(rng)
    for paragraph in document.paragraphs:
        pieces = [piece.strip() for piece in sentences(paragraph)] if is_clean(paragraph) else []
        whole = run.words + len(paragraph.split()) <= PASSAGE_WORDS[1]
        blocks = [" ".join(pieces)] if whole and pieces else pieces
        for place, block in enumerate(blocks):
            if run.words + len(block.split()) > PASSAGE_WORDS[1]:
                found += run.end()
            run.add(block, new_paragraph=place == 0)
            if run.words >= run.wanted:
                found += run.end()
        if not pieces:
            found += run.end()
    return found + run.end()


class _Run:
    """The passage that is being put together."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._begin()

    def _begin(self) -> None:
        self.words = 0
        self.wanted = self._rng.randint(*self._rng.choices(_LENGTHS, _LENGTH_WEIGHTS)[0])
        self._between = self._rng.choice(("\n\n", " "))
        self._text = ""

    def add(self, block: str, new_paragraph: bool) -> None:
        """Some sentences more."""
        between = (self._between if new_paragraph else " ") if self._text else ""
        self._text += between + block
        self.words += len(block.split())

    def end(self) -> list[str]:
        """The passage as a list of one, or an empty list if it is too short; then a new one begins."""
        text = [self._text] if self.words >= PASSAGE_WORDS[0] else []
        self._begin()
        return text


def proofread_texts(document: Document, rng: random.Random) -> list[str]:
    """One or two sentences each, 8 to 60 words; some short lines, as headings and mails have them."""
    found: list[str] = []
    for paragraph in document.paragraphs:
        pieces = [piece.strip() for piece in sentences(paragraph)]
        while pieces:
            taken = rng.choice((1, 1, 2))
            text, pieces = " ".join(pieces[:taken]), pieces[taken:]
            if is_clean(text) and _wanted(text, rng):
                found.append(text)
    return found


def _wanted(text: str, rng: random.Random) -> bool:
    words = len(text.split())
    if SENTENCE_WORDS[0] <= words <= SENTENCE_WORDS[1]:
        return True
    return LINE_WORDS[0] <= words <= LINE_WORDS[1] and rng.random() < _SHORT_LINES


def is_clean(text: str) -> bool:
    """True for running English prose: no listings, addresses, tables, scraps or slurs."""
    if not _STARTS.match(text) or not _ENDS.search(text):
        return False
    if any(unwanted.search(text) for unwanted in (_SYMBOLS, _ADDRESSES, _SLURS)):
        return False
    length = len(text)
    if len(_LETTER.sub("", text)) > max(0.12 * length, 8) or len(_NOT_CAPITAL.sub("", text)) > max(
        0.1 * length, 2
    ):
        return False
    if len(text) - len(text.encode("ascii", "ignore")) > max(0.03 * length, 4) or not _balanced(text):
        return False
    return max(len(piece.split()) for piece in sentences(text)) <= _LONGEST_SENTENCE


def _balanced(text: str) -> bool:
    pairs = all(text.count(left) == text.count(right) for left, right in ("()", "[]", "“”"))
    return pairs and text.count('"') % 2 == 0
