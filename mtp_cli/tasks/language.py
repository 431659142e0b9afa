"""Whether a text is English: by its small words, without a model of languages."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+")
_SMALL = {
    "en": "the of and to in is that it was for on are with as i his they be at have this from or had by but "
    "not what all were we when your can there an which their if will how she you he do has him them so would",
    "de": "der die und das ist nicht ein eine zu den mit sich auf für von dem im auch es an als wir ich sie",
    "fr": "le la les des et est une que dans pour qui sur pas au avec ce il elle sont nous vous je du plus",
    "es": "el la los las que y en un una es por con para del se no su al como más pero lo fue son",
    "it": "il che di la e un una per non sono con del della si le dei gli nel è come anche più alla",
    "pt": "o que de a e um uma para não com os do da em se por mais as dos como mas foi ao ele",
    "nl": "de het een van en dat is niet op te zijn voor met die aan er ook als maar om bij wordt ik",
}
_SETS = {name: frozenset(words.split()) for name, words in _SMALL.items()}


def is_english(text: str) -> bool:
    """True when no other language has more of its small words here, and the letters are Latin."""
    words = [word.lower() for word in _WORD.findall(text[:20000])]
    if not words or sum(word.isascii() for word in words) < 0.8 * len(words):
        return False
    counts = {name: sum(word in small for word in words) for name, small in _SETS.items()}
    return counts["en"] >= max(counts.values())
