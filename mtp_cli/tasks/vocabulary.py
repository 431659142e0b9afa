"""Spelling from the model's own vocabulary: common words are single tokens, slips of the pen are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mtp_cli.engine import Engine
from mtp_cli.tasks.near_words import NearWords
from mtp_cli.tasks.pieces import Piece
from mtp_cli.tasks.variants import Variant

_LEAST_LETTERS = 3
_LONG_WORD = 6
"""From here on two letters may be wrong."""


class Vocabulary:
    """The whole words among the tokens of a model, lower-case ASCII ones."""

    def __init__(self, engine: Engine) -> None:
        found = (engine.piece(token) for token in range(engine.info.n_vocab))
        self._words = {
            piece[1:].decode("ascii")
            for piece in found
            if piece[:1] == b" " and len(piece) > 2 and piece[1:].isalpha() and piece.islower()
        }
        self._index = NearWords(sorted(self._words))

    def __contains__(self, word: str) -> bool:
        return word in self._words

    def proposals(self, row: Sequence[Piece]) -> Iterator[Variant]:
        """Words of the vocabulary that may have been meant, names left out."""
        for at, piece in enumerate(row):
            word = piece.text.lower()
            if piece.kind != "word" or not word.isascii() or not word.isalpha():
                continue
            if len(word) < _LEAST_LETTERS or (at and piece.text[0].isupper()):
                continue
            others = self._swapped(word) if word in self._words else self._close(word)
            for other in sorted(others - {word}):
                cased = other.capitalize() if piece.text[0].isupper() else other
                yield Variant(piece.start, piece.end, cased, "spelling")

    def _swapped(self, word: str) -> set[str]:
        """Words with two neighbouring letters the other way round: common slips (teh) are tokens too."""
        forms = {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
        return forms & self._words

    def _close(self, word: str) -> set[str]:
        found = set(self._near(word))
        if word.endswith("s") and len(word) > _LONG_WORD:
            found |= {other + "s" for other in self._near(word[:-1])}
        return found

    def _near(self, word: str) -> Iterator[str]:
        return self._index.near(word, 2 if len(word) >= _LONG_WORD else 1)
