"""Spelling from the model's own vocabulary: common words are single tokens, slips of the pen are not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from mtp_cli.engine import Engine
from mtp_cli.tasks.distance import edit_distance
from mtp_cli.tasks.pieces import Piece
from mtp_cli.tasks.variants import Variant

_LEAST_LETTERS = 3
_LONG_WORD = 6
"""From here on two letters may be wrong."""


class Vocabulary:
    """The whole words among the tokens of a model, lower-case ASCII ones."""

    def __init__(self, engine: Engine) -> None:
        self._words: set[str] = set()
        self._by_start: dict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
        for token in range(engine.info.n_vocab):
            piece = engine.piece(token)
            if piece[:1] == b" " and len(piece) > 2 and piece[1:].isalpha() and piece.islower():
                self._add(piece[1:].decode("ascii"))

    def _add(self, word: str) -> None:
        self._words.add(word)
        self._by_start[word[0], len(word)].append((word, _letters(word)))

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
        most = 2 if len(word) >= _LONG_WORD else 1
        mask = _letters(word)
        for first in {word[0], word[1]}:
            for length in range(len(word) - most, len(word) + most + 1):
                for other, letters in self._by_start.get((first, length), ()):
                    alike = (letters ^ mask).bit_count() <= 2 * most
                    if alike and letter_distance(word, other) <= most:
                        yield other


def letter_distance(word: str, other: str) -> int:
    """Letters to insert, drop, replace, or to swap with their neighbour (once)."""
    distance = edit_distance(word, other)
    if distance == 2 and len(word) == len(other):
        wrong = [at for at in range(len(word)) if word[at] != other[at]]
        if len(wrong) == 2 and wrong[1] == wrong[0] + 1 and sorted(word) == sorted(other):
            return 1
    return distance


def _letters(word: str) -> int:
    """A bit for each letter it has."""
    mask = 0
    for char in word:
        mask |= 1 << (ord(char) - 97)
    return mask
