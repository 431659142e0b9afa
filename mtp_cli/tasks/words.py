"""What a proofreader knows about words: small ones, negations, names, numbers, the two Englishes."""

from __future__ import annotations

import re

from mtp_cli.tasks.align import ratio
from mtp_cli.tasks.families import CAPITALISED, FAMILIES

SMALL_WORDS = frozenset(
    """a an the of to in on at for from by with into about as than then that which who whom whose this these
    those is are was were be been being am has have had do does did will would can could it its it's their
    there they're your you're our my his her and or but so if because""".split()  # noqa: SIM905
)
_NEGATIONS = frozenset(
    """not no never none nor cannot without neither nothing nobody
    kein keine keinen nicht nie pas jamais nunca""".split()  # noqa: SIM905
)
_CONTRACTED = re.compile(r"(?:is|are|was|were|do|does|did|have|has|had|ca|wo|would|could|should|must|ai)n'?t")
_NUMBERS = frozenset(
    """zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred
    thousand million billion half third quarter double twice once""".split()  # noqa: SIM905
)
_FIRST_PERSON = re.compile(r"I(?:['’](?:m|ve|d|ll))?")
_SAME_WORD = 0.6
_SHORT_WORD = 4
_SWAP_LEAST = 3
_BRITISH = (
    (r"our(?=s?$|ed$|ing$|able$|ite$|ful$|less$|ly$|hood$|er)", "or"),
    (r"is(?=e[sdr]?$|ing$|ation|able$|ers$)", "iz"),
    (r"ys(?=e[sdr]?$|ing$)", "yz"),
    (r"tre(?=s?$)", "ter"),
    (r"ogue(?=s?$)", "og"),
    (r"ll(?=ed$|ing$|ers?$|or)", "l"),
    (r"l(?=ment|fil|ful)", "ll"),
    (r"ence(?=s?$)", "ense"),
    (r"gramme(?=s?$)", "gram"),
    (r"grey", "gray"),
    (r"ae(?=[a-z])", "e"),
    (r"tyre", "tire"),
    (r"mould", "mold"),
    (r"cheque", "check"),
    (r"learnt$", "learned"),
    (r"whilst$", "while"),
)
"""British form -> American form, as patterns on lower-case words."""


def negations(words: set[str]) -> set[str]:
    """Which of these lower-case words negate; "don't", "dont" and their kind count as "not"."""
    plain = {word.replace("’", "'") for word in words}
    return {"not" if _CONTRACTED.fullmatch(word) else word for word in plain} & _NEGATIONS | (
        {"not"} if any(_CONTRACTED.fullmatch(word) for word in plain) else set()
    )


def number_words(words: set[str]) -> set[str]:
    """Which of these lower-case words are numbers."""
    return words & _NUMBERS


def is_small(word: str) -> bool:
    """True for a function word, which a proofreader may add, drop or replace by another."""
    return word.lower() in SMALL_WORDS


def is_akin(old: str, new: str) -> bool:
    """True when `new` is likely the same word put right."""
    if shouts(old, new):
        return False
    a, b = old.lower(), new.lower()
    if a == b or {a, b} <= SMALL_WORDS or b in FAMILIES.get(a, ()):
        return True
    if max(len(a), len(b)) <= _SHORT_WORD:
        near = abs(len(a) - len(b)) <= 1 and ratio(a, b) >= _SAME_WORD
        return (a[:1] == b[:1] and (near or sorted(a) == sorted(b))) or is_swap(a, b)
    return ratio(a, b) >= _SAME_WORD and (a[:1] == b[:1] or ratio(a, b) >= 0.8)


def is_swap(old: str, new: str) -> bool:
    """True when two neighbouring letters of a word of at least three changed places."""
    wrong = [at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b]
    if len(old) != len(new) or len(old) < _SWAP_LEAST or len(wrong) != 2:
        return False
    left, right = wrong
    return right == left + 1 and old[left] == new[right] and old[right] == new[left]


def shouts(old: str, new: str) -> bool:
    """True when a word that was not in capitals now is."""
    return len(new) > 1 and new.isupper() and not old.isupper() and old.upper() != "I"


def letters(text: str) -> str:
    """Lower-case letters alone, without apostrophes, hyphens and blanks."""
    return "".join(char for char in text.lower() if char.isalnum())


def is_name(word: str) -> bool:
    """True for a word in the middle of a sentence that looks like a name."""
    return word[:1].isupper() and word.lower() not in SMALL_WORDS and not _FIRST_PERSON.fullmatch(word)


def spoils_name(old: str, new: str) -> bool:
    """True when `old`, in the middle of a sentence, is a name and `new` is another or none."""
    if not is_name(old) or new.lower() in CAPITALISED:
        return False
    return letters(old) != letters(new) or not new[:1].isupper()


def dialect_of(old: str, new: str) -> str:
    """Which English `new` is of, us or gb, when the two are one word in the two Englishes; else ""."""
    a, b = old.lower(), new.lower()
    if a == b:
        return ""
    if _american(a, b):
        return "us"
    return "gb" if _american(b, a) else ""


def _american(british: str, american: str) -> bool:
    return any(re.sub(pattern, form, british) == american for pattern, form in _BRITISH)


def is_inflection(old: str, new: str) -> bool:
    """True when the two likely are forms of one word (go, goes; city, cities), and no slip of the pen."""
    a, b = sorted((old.lower(), new.lower()), key=len)
    if a == b:
        return False
    stem = len(a) - next((n for n in range(min(3, len(a) - 1)) if b.startswith(a[: len(a) - n])), 9)
    if stem < 2:
        return False
    return _ENDING.fullmatch(a[stem:]) is not None and _ENDING.fullmatch(b[stem:]) is not None


_ENDING = re.compile(r"(?:e?s|'s|s'|e?d|ing|ly|e[rn]|est|y|ies|ied|e|t|al|ally|ness)?")
