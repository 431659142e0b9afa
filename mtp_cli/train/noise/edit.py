"""Words of a text and how an error changes them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

Words = list[str]
"""A text cut at its single spaces."""

ErrorKind = Callable[[Words, random.Random], bool]
"""Puts one error into the words, in place; False when there is no place for it, the words being as before."""

_SMALL = 3
_SMALL_SHARE = 0.25
_PARTS = re.compile(r"^([^\w]*)(.*?)([^\w]*)$", re.DOTALL)


def split_word(word: str) -> tuple[str, str, str]:
    """(marks before, the bare word, marks behind)."""
    found = _PARTS.match(word)
    return (found[1], found[2], found[3]) if found else ("", word, "")


def bare(word: str) -> str:
    """The word without marks around it, in lower case, with a straight apostrophe."""
    return split_word(word)[1].lower().replace("’", "'")


def with_capital_of(form: str, model: str) -> str:
    """`form` with a capital if `model` has one."""
    return form[:1].upper() + form[1:] if model[:1].isupper() else form


def is_plain(core: str) -> bool:
    """True for a word of at least four letters a to z."""
    return len(core) >= 4 and core.isascii() and core.isalpha()


def pick(words: Words, rng: random.Random, fits: Callable[[int, str], bool]) -> int | None:
    """A random place whose word fits, or None. `fits` gets the place and the bare word."""
    places = [place for place, word in enumerate(words) if fits(place, bare(word))]
    return rng.choice(places) if places else None


def put(words: Words, place: int, form: str) -> bool:
    """Exchange the bare word; False if it is the same."""
    before, old, behind = split_word(words[place])
    words[place] = before + form + behind
    return form != old


def drop(words: Words, place: int) -> bool:
    """Leave out a word that has no marks around it; the next one takes over its capital."""
    before, core, behind = split_word(words[place])
    if before or behind or len(words) < 4 or place + 1 >= len(words):
        return False
    words[place + 1] = with_capital_of(words[place + 1], core)
    del words[place]
    return True


def from_table(table: Mapping[str, tuple[str, ...]]) -> ErrorKind:
    """The error of writing one of a word's wrong forms in `table`; small words come less often."""

    def replace(words: Words, rng: random.Random) -> bool:
        places = [place for place, word in enumerate(words) if bare(word) in table]
        if not places:
            return False
        shares = [1.0 if len(bare(words[place])) > _SMALL else _SMALL_SHARE for place in places]
        place = rng.choices(places, shares)[0]
        form = rng.choice(table[bare(words[place])])
        return put(words, place, with_capital_of(form, split_word(words[place])[1]))

    return replace
