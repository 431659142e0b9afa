"""Apostrophes, commas, full stops and capitals."""

from __future__ import annotations

import random
import re

from mtp_cli.train.noise.confusions import ABSTRACT, COMMA_CUES
from mtp_cli.train.noise.edit import Words, is_plain, pick, put, split_word

_NO_PLURAL = ("ss", "us", "is")


def apostrophe(words: Words, rng: random.Random) -> bool:
    """An apostrophe left out, or put before a plural s."""
    place = pick(words, rng, lambda _, core: "'" in core)
    if place is not None:
        return put(words, place, re.sub("['’]", "", split_word(words[place])[1]))
    place = pick(words, rng, _has_plural_s)
    return place is not None and put(words, place, re.sub("s$", "'s", split_word(words[place])[1]))


def _has_plural_s(_: int, core: str) -> bool:
    return is_plain(core) and len(core) >= 5 and core.endswith("s") and not core.endswith(_NO_PLURAL)


def comma(words: Words, rng: random.Random) -> bool:
    """A comma left out, or put where none belongs."""
    with_comma = [place for place, word in enumerate(words) if word.endswith(",")]
    if with_comma and rng.random() < 0.75:
        place = rng.choice(with_comma)
        words[place] = words[place][:-1]
        return True
    cue = pick(words, rng, lambda place, core: 0 < place < len(words) - 1 and core in COMMA_CUES)
    if cue is None:
        return False
    place = rng.choice((cue - 1, cue))
    if not words[place][-1:].isalpha():
        return False
    words[place] += ","
    return True


def full_stop(words: Words, rng: random.Random) -> bool:
    """Two sentences run together, or the last full stop forgotten."""
    inner = [place for place, word in enumerate(words[:-1]) if _ends_sentence(word)]
    if inner:
        place = rng.choice(inner)
        words[place] = words[place][:-1] + rng.choice((",", ",", ""))
        words[place + 1] = words[place + 1][:1].lower() + words[place + 1][1:]
        return True
    if not _ends_sentence(words[-1]):
        return False
    words[-1] = words[-1][:-1]
    return True


def _ends_sentence(word: str) -> bool:
    return len(word) > 3 and word.endswith(".") and word[-2].isalpha()


def capital(words: Words, rng: random.Random) -> bool:
    """A capital letter lost, or one on a common noun."""
    place = pick(words, rng, lambda at, _: split_word(words[at])[1][:1].isupper())
    if place is not None and rng.random() < 0.85:
        core = split_word(words[place])[1]
        return put(words, place, core[:1].lower() + core[1:])
    place = pick(words, rng, lambda at, core: at > 0 and core in ABSTRACT)
    return place is not None and put(words, place, split_word(words[place])[1].capitalize())
