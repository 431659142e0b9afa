"""Documents -> clean passages to summarise and sentences to proofread."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from mtp_cli.tasks.split import sentences
from mtp_cli.train.documents import Document

PASSAGE_WORDS = (60, 400)
SENTENCE_WORDS = (8, 60)
LINE_WORDS = (3, 7)
_LENGTHS = ((60, 150), (150, 280), (280, 400))
_LENGTH_WEIGHTS = (25, 50, 25)
_LONGEST_SENTENCE = 80
_SHORT_LINES = 0.3
_UNCLEAN = re.compile(r"https?:|www\.|[<>{}\\|`_=@#~^*]|\$\(|\S/\S*/|--\w|\"\"|\.\.\.\.|\[\d|\bp{1,2}\. ?\d|\s[a-z]+\.[a-z]{2,}\b")
_ODD = re.compile(r"[^\w\s.,;:?!'\"’‘“”()\[\]–—%$£€&/+°§-]")


def passages(document: Document, rng: random.Random) -> list[str]:
    """Runs of whole sentences, 60 to 400 words each, that do not overlap."""
    found: list[str] = []
    held: list[list[str]] = []
    count, target = 0, _target(rng)
    for paragraph in [*document.paragraphs, ""]:
        pieces = [piece.strip() for piece in sentences(paragraph)] if is_clean(paragraph) else []
        if not pieces or count + len(paragraph.split()) > PASSAGE_WORDS[1]:
            found += _passage(held, rng)
            held, count, target = [], 0, _target(rng)
        for chunk in _chunks(pieces, target):
            held.append(chunk)
            count += _count(chunk)
            if count >= target:
                found += _passage(held, rng)
                held, count, target = [], 0, _target(rng)
    return found


def _target(rng: random.Random) -> int:
    return rng.randint(*rng.choices(_LENGTHS, _LENGTH_WEIGHTS)[0])


def _count(pieces: Sequence[str]) -> int:
    return sum(len(piece.split()) for piece in pieces)


def _chunks(pieces: list[str], size: int) -> Iterator[list[str]]:
    """The sentences of a paragraph in chunks of at most `size` words, in one where it is short enough."""
    chunk: list[str] = []
    for piece in pieces:
        if chunk and _count(chunk) + len(piece.split()) > size:
            yield chunk
            chunk = []
        chunk.append(piece)
    if chunk:
        yield chunk


def _passage(paragraphs: list[list[str]], rng: random.Random) -> list[str]:
    """The passage as a list of one, or an empty list if it is too short or too long."""
    low, high = PASSAGE_WORDS
    if not low <= sum(map(_count, paragraphs)) <= high:
        return []
    between = rng.choice(("\n\n", " "))
    return [between.join(" ".join(pieces) for pieces in paragraphs)]


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
    """True for running English prose: no listings, addresses, tables or scraps."""
    if not text or not text[0].isupper() and text[0] not in "\"“'‘(" or text[-1] not in ".?!\"”'’)":
        return False
    if _UNCLEAN.search(text) or _ODD.search(text):
        return False
    letters = sum(char.isalpha() or char == " " for char in text)
    capitals = sum(char.isupper() for char in text)
    ascii_part = sum(char.isascii() for char in text)
    if letters < 0.88 * len(text) or capitals > 0.1 * len(text) or ascii_part < 0.97 * len(text):
        return False
    return max(len(piece.split()) for piece in sentences(text)) <= _LONGEST_SENTENCE and _balanced(text)


def _balanced(text: str) -> bool:
    return text.count('"') % 2 == 0 and text.count("(") == text.count(")") and text.count("[") == text.count("]")
