"""A spelling dictionary for English (package pyspellchecker)."""

from __future__ import annotations

from collections.abc import Iterator

from spellchecker import SpellChecker

from mtp_cli.tasks.near_words import NearWords
from mtp_cli.tasks.pieces import pieces
from mtp_cli.tasks.variants import Variant

_MOST_SUGGESTIONS = 3
_LEAST_LETTERS = 3


class Dictionary:
    """See Helper."""

    name = "dictionary"

    def __init__(self) -> None:
        checker = SpellChecker()
        self._known = checker.word_frequency.dictionary
        self._index = NearWords(self._known)

    def proposals(self, text: str) -> Iterator[Variant]:
        """See Helper. Names are left alone; two letters may be wrong where no word is nearer."""
        for at, piece in enumerate(pieces(text)):
            word = piece.text.lower()
            if piece.kind != "word" or not (word.isascii() and word.isalpha()) or len(word) < _LEAST_LETTERS:
                continue
            if word in self._known or (at and piece.text[0].isupper()):
                continue
            near = list(self._index.near(word, 1)) or list(self._index.near(word, 2))
            for other in sorted(near, key=self._often)[:_MOST_SUGGESTIONS]:
                cased = other.capitalize() if piece.text[0].isupper() else other
                yield Variant(piece.start, piece.end, cased, "spelling")

    def knows(self, word: str) -> bool:
        """See Helper."""
        return word in self._known

    def _often(self, word: str) -> tuple[int, str]:
        """Frequent words first."""
        return -self._known[word], word
