"""Words a few letters away from a given one, out of a large set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mtp_cli.tasks.distance import edit_distance

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class NearWords:
    """A set of lower-case words of the letters a to z; others are passed over."""

    def __init__(self, words: Iterable[str]) -> None:
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for word in words:
            if word.isascii() and word.isalpha():
                self._by_length[len(word)].append(word)
        self._tables: dict[int, tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]] = {}

    def near(self, word: str, most: int) -> Iterator[str]:
        """Those at most `most` letters away (see letter_distance) that begin with the first or the second
        letter of `word`, which has at least two."""
        import numpy as np

        row = np.frombuffer(word.encode("ascii"), np.uint8)[None, :]
        own, own_counts = _masks(row)[0], _counts(row)[0]
        first = ord(word[0]), ord(word[1])
        for length in range(max(len(word) - most, 1), len(word) + most + 1):
            if not self._by_length.get(length):
                continue
            letters, masks = self._table(length)
            alike = _bits(masks ^ own) <= 2 * most
            alike &= (letters[:, 0] == first[0]) | (letters[:, 0] == first[1])
            places = alike.nonzero()[0]
            more = _counts(letters[places]) - own_counts  # letters that one has and the other has not
            few = (np.maximum(more, 0).sum(axis=1) <= most) & (np.maximum(-more, 0).sum(axis=1) <= most)
            for at in places[few].tolist():
                other = self._by_length[length][at]
                if letter_distance(word, other) <= most:
                    yield other

    def _table(self, length: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
        """(letters [n, length], a bit for each letter that a word has [n])."""
        if length not in self._tables:
            import numpy as np

            flat = "".join(self._by_length[length]).encode("ascii")
            letters = np.frombuffer(flat, np.uint8).reshape(-1, length)
            self._tables[length] = letters, _masks(letters)
        return self._tables[length]


def letter_distance(word: str, other: str) -> int:
    """Letters to insert, drop, replace, or to swap with their neighbour (once)."""
    start = next((at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), None)
    if start is None:
        return abs(len(word) - len(other))
    end = 0
    most = min(len(word), len(other)) - start
    while end < most and word[-1 - end] == other[-1 - end]:
        end += 1
    word, other = word[start : len(word) - end], other[start : len(other) - end]
    if not word or not other:
        return max(len(word), len(other))
    if len(word) == len(other) == 2 and word == other[::-1]:
        return 1
    return edit_distance(word, other)


def _masks(letters: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    import numpy as np

    masks = np.zeros(len(letters), np.uint32)
    for column in letters.T:
        masks |= np.left_shift(np.uint32(1), column.astype(np.uint32) - np.uint32(97))
    return masks


def _counts(letters: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """How often each word has each letter, [n, 26]."""
    import numpy as np

    counts: npt.NDArray[np.int64] = (letters[:, :, None] == np.arange(97, 123)).sum(axis=1)
    return counts


def _bits(masks: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """How many bits are set in each."""
    import numpy as np

    one, two, four, last = (np.uint32(value) for value in (1, 2, 4, 24))
    masks = masks - ((masks >> one) & np.uint32(0x55555555))
    masks = (masks & np.uint32(0x33333333)) + ((masks >> two) & np.uint32(0x33333333))
    masks = (masks + (masks >> four)) & np.uint32(0x0F0F0F0F)
    counts: npt.NDArray[np.uint32] = (masks * np.uint32(0x01010101)) >> last
    return counts
