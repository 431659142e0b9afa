"""Which language a text is in, by its script and its commonest words; nothing where that does not tell."""

from __future__ import annotations

import re

NAMES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "pl": "Polish",
    "ja": "Japanese",
    "ko": "Korean",
    "zh": "Chinese",
    "ru": "Russian",
    "ar": "Arabic",
}
"""Codes that can be asked for, with their English names."""

_WORDS = {
    "en": "the and of to in is that it was for with are his this they have from not you were had which",
    "de": "der die und das ist nicht ein eine zu den mit auf sich dem von für auch wird es im sie wir war",
    "fr": "le la les et des est une un pour que dans qui pas sur au plus ce avec il elle nous vous était du",
    "es": "el la los las y de que en un una es por con para del se no su al lo como más pero fue este",
    "it": "il la di che e un una per non sono con del della è si le gli da nel alla anche più ma ha questo",
    "pt": "o a os as e de que em um uma é para com não do da no na se por mais dos das foi ele ao",
    "nl": "de het een en van is niet dat op te zijn met voor aan er ook maar die wordt naar bij ze hij",
    "pl": "i w na z się nie jest że do to jak po co ale tak od za by przez dla o był jego",
}
_SETS = {code: frozenset(word for word in words.split() if len(word) > 1) for code, words in _WORDS.items()}
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
)
_SCRIPT_SHARE = 0.2
_LEAST_WORDS = 8
_LEAST_SHARE = 0.15
_LEAD = 1.3
_SAMPLE = 20000


def language_of(text: str) -> str:
    """A code of NAMES, or "" where a few common words do not tell."""
    sample = text[:_SAMPLE]
    letters = sum(char.isalpha() for char in sample)
    for code, script in _SCRIPTS:
        if letters and len(script.findall(sample)) > _SCRIPT_SHARE * letters:
            return code
    words = re.findall(r"[^\W\d_]+", sample.lower())
    if len(words) < _LEAST_WORDS:
        return ""
    counts = sorted(
        ((sum(word in known for word in words), code) for code, known in _SETS.items()), reverse=True
    )
    (best, code), (second, _) = counts[0], counts[1]
    return code if best >= _LEAST_SHARE * len(words) and best > _LEAD * second else ""
