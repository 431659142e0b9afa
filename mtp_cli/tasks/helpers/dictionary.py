"""A spelling dictionary for English (package pyspellchecker)."""

from __future__ import annotations

from collections.abc import Iterator

from spellchecker import SpellChecker

from mtp_cli.tasks.pieces import pieces
from mtp_cli.tasks.variants import Variant

_MOST_SUGGESTIONS = 3
_LEAST_LETTERS = 3


class Dictionary:
    """See Helper."""

    name = "dictionary"

    def __init__(self) -> None:
        self._checker = SpellChecker()

    def proposals(self, text: str) -> Iterator[Variant]:
        """See Helper. Names are left alone."""
        for at, piece in enumerate(pieces(text)):
            word = piece.text.lower()
            if (
                piece.kind != "word"
                or not word.isalpha()
                or len(word) < _LEAST_LETTERS
                or word in self._checker
            ):
                continue
            if at and piece.text[0].isupper():
                continue
            near = self._checker.candidates(word) or ()
            for other in sorted(near, key=self._checker.word_usage_frequency, reverse=True)[
                :_MOST_SUGGESTIONS
            ]:
                cased = other.capitalize() if piece.text[0].isupper() else other
                yield Variant(piece.start, piece.end, cased, "spelling")
