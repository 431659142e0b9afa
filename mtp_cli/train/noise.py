"""Errors as people make them, put into correct sentences: what proofreading is trained on."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

from mtp_cli.train import noise_words as lists

Words = list[str]
Error = Callable[[Words, random.Random], bool]
"""Puts one error into the words, in place; False when no word there suits it."""

_PARTS = re.compile(r"^([^\w]*)(.*?)([^\w]*)$", re.DOTALL)
_COUNTS = (0, 1, 2, 3, 4)
_COUNT_WEIGHTS = (20, 27, 26, 17, 10)
_WORDS_PER_ERROR = 5
_TRIES = 6
_VOWELS = "aeiou"


def add_errors(text: str, rng: random.Random) -> str:
    """`text` with 0 to 4 errors; about one text in five stays as it is, short ones get few."""
    words = text.split(" ")
    wanted = rng.choices(_COUNTS, _COUNT_WEIGHTS)[0]
    for _ in range(min(wanted, 1 + len(words) // _WORDS_PER_ERROR)):
        _add_one(words, rng)
    return " ".join(word for word in words if word)


def _add_one(words: Words, rng: random.Random) -> None:
    for _ in range(_TRIES):
        if rng.choices(_KINDS, _KIND_WEIGHTS)[0](words, rng):
            return


def _split(word: str) -> tuple[str, str, str]:
    found = _PARTS.match(word)
    return (found[1], found[2], found[3]) if found else ("", word, "")


def _like(form: str, model: str) -> str:
    """`form` with a capital if `model` has one."""
    return form[:1].upper() + form[1:] if model[:1].isupper() else form


def _put(words: Words, index: int, core: str) -> bool:
    lead, old, tail = _split(words[index])
    words[index] = lead + core + tail
    return core != old


def _pick(words: Words, rng: random.Random, fits: Callable[[int, str], bool]) -> int | None:
    """A random place whose word fits, or None. `fits` gets the index and the bare word in lower case."""
    places = [i for i, word in enumerate(words) if fits(i, _split(word)[1].lower().replace("’", "'"))]
    return rng.choice(places) if places else None


def _from_table(table: Mapping[str, tuple[str, ...]]) -> Error:
    """An error that puts a wrong form from `table` in place of a word."""

    def replace(words: Words, rng: random.Random) -> bool:
        index = _pick(words, rng, lambda _, core: core in table)
        if index is None:
            return False
        core = _split(words[index])[1]
        return _put(words, index, _like(rng.choice(table[core.lower().replace("’", "'")]), core))

    return replace


def _plain(core: str) -> bool:
    return len(core) >= 4 and core.isascii() and core.isalpha()


def typo(words: Words, rng: random.Random) -> bool:
    """A slip of the fingers: letters swapped, left out, doubled, or a key beside the right one."""
    index = _pick(words, rng, lambda _, core: _plain(core))
    if index is None:
        return False
    core = _split(words[index])[1]
    at = rng.randrange(1, len(core) - 1)
    near = rng.choice(lists.NEIGHBOUR_KEYS.get(core[at].lower(), core[at]))
    swapped = core[:at] + core[at + 1] + core[at] + core[at + 2 :]
    dropped = core[:at] + core[at + 1 :]
    doubled = core[:at] + core[at] + core[at:]
    pressed = core[:at] + near + core[at + 1 :]
    return _put(words, index, rng.choices((swapped, dropped, doubled, pressed), (4, 3, 2, 2))[0])


def wrong_sound(words: Words, rng: random.Random) -> bool:
    """Spelling by ear: a vowel for another, ie for ei, one letter for two."""
    index = _pick(words, rng, lambda _, core: _plain(core) and len(core) >= 5)
    if index is None:
        return False
    core = _split(words[index])[1]
    forms = [core[:i] + core[i + 1 :] for i in range(1, len(core)) if core[i] == core[i - 1]]
    forms += [core.replace(a, b, 1) for a, b in lists.SOUNDS if a in core[1:] and core.find(a) > 0]
    forms += [core[:i] + rng.choice(_VOWELS) + core[i + 1 :] for i in range(2, len(core) - 1) if core[i] in _VOWELS]
    return bool(forms) and _put(words, index, rng.choice(forms))


def agreement(words: Words, rng: random.Random) -> bool:
    """A verb that does not go with its subject: "he go", "they goes"."""

    def fits(i: int, core: str) -> bool:
        before = _split(words[i - 1])[1].lower() if i else ""
        if before in lists.THIRD_PERSON:
            return _base(core) in lists.VERBS and core != _base(core)
        return before in lists.PLURAL_SUBJECTS and core in lists.VERBS

    index = _pick(words, rng, fits)
    if index is None:
        return False
    core = _split(words[index])[1]
    base = _base(core.lower())
    return _put(words, index, _third(base) if base == core else base)


def _base(core: str) -> str:
    for ending, stem in (("ies", "y"), ("oes", "o"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("s", "")):
        if core.endswith(ending) and core[: -len(ending)] + stem in lists.VERBS:
            return core[: -len(ending)] + stem
    return core


def _third(base: str) -> str:
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "o")) else "s")


def article(words: Words, rng: random.Random) -> bool:
    """An article left out, exchanged, or put where none belongs."""
    index = _pick(words, rng, lambda _, core: core in ("a", "an", "the"))
    kind = rng.random()
    if index is None or kind < 0.2:
        index = _pick(words, rng, lambda i, core: i > 0 and core in lists.ABSTRACT)
        if index is None:
            return False
        words.insert(index, "the")
        return True
    core = _split(words[index])[1]
    if kind < 0.65 and index + 1 < len(words):
        return _drop(words, index)
    other = {"a": ("an", "the"), "an": ("a", "the"), "the": ("a",)}[core.lower()]
    return _put(words, index, _like(rng.choice(other), core))


def _drop(words: Words, index: int) -> bool:
    """Leave a bare word out; the next one takes over its capital."""
    lead, core, tail = _split(words[index])
    if lead or tail or len(words) < 4 or index + 1 >= len(words):
        return False
    words[index + 1] = _like(words[index + 1], core)
    del words[index]
    return True


def plural(words: Words, rng: random.Random) -> bool:
    """A plural without its s, or a singular with one."""

    def after_cue(i: int, core: str) -> bool:
        before = {_split(word)[1].lower() for word in words[max(0, i - 2) : i]}
        ends = core.endswith("s") and not core.endswith(("ss", "us", "is"))
        return ends and len(core) > 3 and bool(before & lists.PLURAL_CUES)

    index = _pick(words, rng, after_cue)
    if index is not None:
        return _put(words, index, _singular(_split(words[index])[1]))
    index = _pick(words, rng, lambda i, core: i > 0 and _article_before(words, i) and _plain(core))
    if index is None or _split(words[index])[1].endswith("s"):
        return False
    return _put(words, index, _split(words[index])[1] + "s")


def _article_before(words: Words, index: int) -> bool:
    return words[index - 1].lower() in ("a", "an", "each", "every") and _split(words[index])[2] != ""


def _singular(core: str) -> str:
    return core[:-3] + "y" if core.endswith("ies") and len(core) > 4 else core[:-1]


def tense(words: Words, rng: random.Random) -> bool:
    """A regular past without its ending, or the wrong form after "to"."""
    if rng.random() < 0.3:
        index = _pick(words, rng, lambda i, core: i > 0 and words[i - 1].lower() == "to" and core in lists.VERBS)
        if index is not None:
            base = _split(words[index])[1]
            stem = base[:-1] if base.endswith("e") else base
            return _put(words, index, rng.choice((stem + "ing", stem + "ed", _third(base))))
    index = _pick(words, rng, lambda _, core: core.endswith("ed") and len(core) > 5 and core.isalpha())
    if index is None:
        return False
    core = _split(words[index])[1]
    stem = core[:-3] + "y" if core.endswith("ied") else core[:-1] if _keeps_e(core) else core[:-2]
    return _put(words, index, rng.choice((stem, core[:-1], stem)))


def _keeps_e(core: str) -> bool:
    """True where the base most likely ends in e: "decided", "used", but not "wanted"."""
    return core[:-2].endswith(("at", "id", "s", "v", "c", "g", "u", "ir", "or", "iz", "rl"))


def missing_word(words: Words, rng: random.Random) -> bool:
    """A small word left out."""
    index = _pick(words, rng, lambda i, core: i > 0 and core in lists.DROPPABLE)
    return index is not None and _drop(words, index)


def doubled_word(words: Words, rng: random.Random) -> bool:
    """A word written twice."""
    index = _pick(words, rng, lambda i, core: 1 < len(core) < 6 and core == words[i].lower())
    if index is None:
        return False
    words.insert(index, words[index].lower())
    words[index], words[index + 1] = words[index + 1], words[index]
    return True


def apostrophe(words: Words, rng: random.Random) -> bool:
    """An apostrophe left out, or put before a plural s."""
    index = _pick(words, rng, lambda _, core: "'" in core)
    if index is not None:
        return _put(words, index, re.sub("['’]", "", _split(words[index])[1]))
    index = _pick(words, rng, lambda _, core: core.endswith("s") and _plain(core) and not core.endswith(("ss", "us")))
    return index is not None and _put(words, index, re.sub("s$", "'s", _split(words[index])[1]))


def comma(words: Words, rng: random.Random) -> bool:
    """A comma left out, or put where none belongs."""
    commas = [i for i, word in enumerate(words) if word.endswith(",")]
    if commas and rng.random() < 0.75:
        index = rng.choice(commas)
        words[index] = words[index][:-1]
        return True
    index = _pick(words, rng, lambda i, core: 0 < i < len(words) - 1 and core in lists.COMMA_CUES)
    if index is None or not words[index - 1][-1:].isalpha():
        return False
    place = index if rng.random() < 0.5 else index - 1
    words[place] += "," if words[place][-1:].isalpha() else ""
    return True


def splice(words: Words, rng: random.Random) -> bool:
    """Two sentences run together, or the last full stop forgotten."""
    ends = [i for i, word in enumerate(words[:-1]) if len(word) > 3 and word.endswith(".")]
    if not ends:
        found = words[-1].endswith(".") and len(words[-1]) > 3
        words[-1] = words[-1][:-1] if found else words[-1]
        return found
    index = rng.choice(ends)
    words[index] = words[index][:-1] + rng.choice((",", ",", ""))
    words[index + 1] = words[index + 1][:1].lower() + words[index + 1][1:]
    return True


def capital(words: Words, rng: random.Random) -> bool:
    """A capital letter lost, or one on a common noun."""
    index = _pick(words, rng, lambda i, _: _split(words[i])[1][:1].isupper())
    if index is not None and rng.random() < 0.85:
        core = _split(words[index])[1]
        return _put(words, index, core[:1].lower() + core[1:])
    index = _pick(words, rng, lambda i, core: i > 0 and core in lists.ABSTRACT)
    return index is not None and _put(words, index, _split(words[index])[1].capitalize())


def word_order(words: Words, rng: random.Random) -> bool:
    """An adverb on the wrong side of its neighbour, now and then any two words."""

    def fits(i: int, core: str) -> bool:
        return 0 < i < len(words) - 1 and core in lists.ADVERBS and words[i].isalpha() and words[i + 1].isalpha()

    index = _pick(words, rng, fits)
    if index is None and rng.random() < 0.25:
        index = _pick(words, rng, lambda i, _: 0 < i < len(words) - 1 and (words[i] + words[i + 1]).isalpha())
    if index is None:
        return False
    words[index], words[index + 1] = words[index + 1], words[index]
    return True


def phrase(words: Words, rng: random.Random) -> bool:
    """Two to four words as learners put them: "discuss about", "depend of", "more better"."""
    lowered = [word.lower() for word in words]
    places = [
        (start, end)
        for start in range(len(words))
        for end in range(start + 1, min(start + 4, len(words)) + 1)
        if " ".join([*lowered[start : end - 1], _split(lowered[end - 1])[1]]) in lists.PHRASES
        and not _split(words[start])[0]
    ]
    if not places:
        return False
    start, end = rng.choice(places)
    right = " ".join([*lowered[start : end - 1], _split(lowered[end - 1])[1]])
    tail = _split(words[end - 1])[2]
    wrong = _like(rng.choice(lists.PHRASES[right]), words[start]) + tail
    words[start:end] = wrong.split(" ")
    return True


_WEIGHTED: tuple[tuple[Error, int], ...] = (
    (_from_table(lists.MISSPELLINGS), 16),
    (typo, 12),
    (wrong_sound, 8),
    (_from_table(lists.CONFUSED), 11),
    (_from_table(lists.AGREEMENT), 6),
    (agreement, 5),
    (article, 9),
    (_from_table(lists.PREPOSITIONS), 7),
    (plural, 7),
    (_from_table(lists.UNCOUNTABLE), 3),
    (tense, 5),
    (_from_table(lists.IRREGULAR), 5),
    (missing_word, 6),
    (doubled_word, 2),
    (apostrophe, 4),
    (comma, 6),
    (splice, 4),
    (capital, 5),
    (word_order, 2),
    (phrase, 9),
)
_KINDS = [kind for kind, _ in _WEIGHTED]
_KIND_WEIGHTS = [weight for _, weight in _WEIGHTED]
