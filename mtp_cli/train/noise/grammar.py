"""Verbs, articles, plurals and the order of words."""

from __future__ import annotations

import random

from mtp_cli.train.noise.confusions import (
    ABSTRACT,
    ADVERBS,
    DROPPABLE,
    PHRASES,
    PLURAL_CUES,
    PLURAL_SUBJECTS,
    THIRD_PERSON,
    VERBS,
)
from mtp_cli.train.noise.edit import Words, bare, drop, is_plain, pick, put, split_word, with_capital_of

_VOWELS = "aeiou"
_OTHER_ARTICLES = {"a": ("an", "the"), "an": ("a", "the"), "the": ("a",)}
_STEM_KEEPS_E = ("at", "id", "s", "v", "c", "g", "u", "ir", "or", "iz", "rl")
_LONGEST_PHRASE = 4


def agreement(words: Words, rng: random.Random) -> bool:
    """A verb that does not go with the pronoun before it: "he go", "they goes"."""

    def fits(place: int, core: str) -> bool:
        subject = bare(words[place - 1]) if place else ""
        if subject in THIRD_PERSON:
            return core not in VERBS and base_form(core) in VERBS
        return subject in PLURAL_SUBJECTS and core in VERBS

    place = pick(words, rng, fits)
    if place is None:
        return False
    core = bare(words[place])
    return put(words, place, third_person(core) if core in VERBS else base_form(core))


def base_form(core: str) -> str:
    """ "goes" -> "go" for a known verb, anything else as it is."""
    for ending, stem in (("ies", "y"), ("es", ""), ("s", "")):
        base = core[: -len(ending)] + stem
        if core.endswith(ending) and base in VERBS:
            return base
    return core


def third_person(base: str) -> str:
    """ "go" -> "goes"."""
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "o")) else "s")


def tense(words: Words, rng: random.Random) -> bool:
    """A regular past without its ending, or a wrong form after "to"."""
    if rng.random() < 0.3:
        place = pick(words, rng, lambda at, core: at > 0 and bare(words[at - 1]) == "to" and core in VERBS)
        if place is not None:
            base = bare(words[place])
            stem = base.removesuffix("e")
            return put(words, place, rng.choice((stem + "ing", stem + "ed", third_person(base))))
    place = pick(words, rng, lambda _, core: core.endswith("ed") and len(core) > 5 and is_plain(core))
    if place is None:
        return False
    return put(words, place, _without_past(split_word(words[place])[1]))


def _without_past(core: str) -> str:
    if core.endswith("ied"):
        return core[:-3] + "y"
    stem = core[:-2]
    if stem.endswith(_STEM_KEEPS_E):
        return stem + "e"
    doubled = stem[-1:] == stem[-2:-1] and stem[-1:] in "bgmnprt"
    return stem[:-1] if doubled else stem


def article(words: Words, rng: random.Random) -> bool:
    """An article left out, exchanged, or put where none belongs."""
    place = pick(words, rng, lambda _, core: core in _OTHER_ARTICLES)
    kind = rng.random()
    if place is None or kind < 0.2:
        return _needless_article(words, rng)
    if kind < 0.65:
        return drop(words, place)
    form = rng.choice(_OTHER_ARTICLES[bare(words[place])])
    return put(words, place, with_capital_of(form, split_word(words[place])[1]))


def _needless_article(words: Words, rng: random.Random) -> bool:
    place = pick(words, rng, lambda at, core: at > 0 and core in ABSTRACT and core == words[at].rstrip(".,;"))
    if place is None or bare(words[place - 1]) in _OTHER_ARTICLES:
        return False
    words.insert(place, "the")
    return True


def plural(words: Words, rng: random.Random) -> bool:
    """A plural without its s, or a singular with one."""

    def after_cue(place: int, core: str) -> bool:
        cues = {bare(word) for word in words[max(0, place - 2) : place]} & PLURAL_CUES
        return bool(cues) and len(core) > 3 and core.endswith("s") and not core.endswith(("ss", "us", "is"))

    place = pick(words, rng, after_cue)
    if place is not None:
        core = split_word(words[place])[1]
        return put(words, place, core[:-3] + "y" if core.endswith("ies") and len(core) > 4 else core[:-1])
    place = pick(
        words, rng, lambda at, core: is_plain(core) and core[-1] != "s" and _after_singular(words, at)
    )
    return place is not None and put(words, place, split_word(words[place])[1] + "s")


def _after_singular(words: Words, place: int) -> bool:
    """True for a noun, most likely: a mark follows it and an article is right before it."""
    return (
        place > 0
        and bare(words[place - 1]) in ("a", "an", "each", "every")
        and split_word(words[place])[2] != ""
    )


def missing_word(words: Words, rng: random.Random) -> bool:
    """A small word left out."""
    place = pick(words, rng, lambda at, core: at > 0 and core in DROPPABLE)
    return place is not None and drop(words, place)


def doubled_word(words: Words, rng: random.Random) -> bool:
    """A short word written twice."""
    place = pick(words, rng, lambda at, core: 1 < len(core) < 6 and core == words[at])
    if place is None:
        return False
    words.insert(place, words[place])
    return True


def word_order(words: Words, rng: random.Random) -> bool:
    """An adverb on the wrong side of its neighbour, now and then any two words."""

    def movable(place: int) -> bool:
        return 0 < place < len(words) - 1 and words[place].isalpha() and words[place + 1].isalpha()

    place = pick(words, rng, lambda at, core: core in ADVERBS and movable(at))
    if place is None and rng.random() < 0.25:
        place = pick(words, rng, lambda at, _: movable(at))
    if place is None or words[place] == words[place + 1]:
        return False
    words[place], words[place + 1] = words[place + 1], words[place]
    return True


def phrase(words: Words, rng: random.Random) -> bool:
    """A few words as learners put them: "discuss about", "depend of", "more better"."""
    found = [
        (start, end)
        for start in range(len(words))
        for end in range(start + 1, min(start + _LONGEST_PHRASE, len(words)) + 1)
        if _phrase_at(words, start, end) in PHRASES
    ]
    if not found:
        return False
    start, end = rng.choice(found)
    form = with_capital_of(rng.choice(PHRASES[_phrase_at(words, start, end)]), words[start])
    words[start:end] = (form + split_word(words[end - 1])[2]).split(" ")
    return True


def _phrase_at(words: Words, start: int, end: int) -> str:
    """These words in lower case; marks, which only the last one may have, do not count."""
    return " ".join([*words[start : end - 1], words[end - 1].rstrip(".,;:?!")]).lower()
