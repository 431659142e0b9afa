"""Names and numbers of a summary that its source does not hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mtp_cli.tasks.split import sentences

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITAL = re.compile(r"(?<![\w'’])[^\W\d_][\w]*(?:['’-][^\W\d_]\w*)*")
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_WORDS = {
    **{word: str(at) for at, word in enumerate(_SMALL.split())},
    **{word: str(10 * at) for at, word in enumerate(_TENS.split(), 3)},
    **{word: str(at) for at, word in enumerate(_ORDINALS.split(), 1)},
}
_POSSESSIVE = re.compile(r"['’]s$|['’]$")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is not in the source, each once, in the order of the summary."""

    numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many in all."""
        return len(self.numbers) + len(self.names)


def unsupported(summary: str, source: str) -> Facts:
    """Numbers and names of `summary` that stand nowhere in `source`.

    A number may be written in another way (1,000 and 1000, eleven and 11). A name is a word with a capital
    that is not the first of its sentence, or any word with capitals inside (NATO, iPhone); case does not
    count."""
    known = _numbers_of(source)
    numbers = [number for number in _NUMBER.findall(summary) if _plain(number) not in known]
    words = {_bare(word) for word in _CAPITAL.findall(source)}
    names = [name for name in _names(summary) if _bare(name) not in words]
    return Facts(tuple(dict.fromkeys(numbers)), tuple(dict.fromkeys(names)))


def _numbers_of(text: str) -> set[str]:
    found = set()
    for number in _NUMBER.findall(text):
        found.add(_plain(number))
        found.update(re.split(r"[.,:]", number))  # 10:30 holds 10
    found.update(_WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _WORDS)
    return found


def _plain(number: str) -> str:
    """Without the marks between thousands and without zeros that say nothing."""
    plain = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", number)
    return (plain.lstrip("0") or "0") if plain.isdigit() else plain


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()


def _names(text: str) -> list[str]:
    found = []
    for sentence in sentences(text):
        for at, match in enumerate(_CAPITAL.finditer(sentence)):
            word = match.group()
            inside = any(char.isupper() for char in word[1:])
            if (word[0].isupper() and at and word != "I" and not word.startswith(("I'", "I’"))) or inside:
                found.append(_POSSESSIVE.sub("", word))
    return found
