"""Words and sentences of a summary: counting, choosing, shortening."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_CLAUSE = re.compile(
    r"\s*(?:[,;:–—]|\s-\s|\()\s*|\s+(?=(?:which|because|while|although|after|before|when|where|who|and|but)\s)"
)
_ENDS = (".", "!", "?", "…", "。", "！", "？")
_CLOSING = "\"'”’»)]"
_CONTENT = re.compile(r"[^\W_]+(?:['’.,:/-][^\W_]+)*")
_SAME_SHARE = 0.8
_SAME_RUN = 8
"""Words in a row that two sentences do not share by chance."""


def word_count(text: str) -> int:
    """Words between white space; where a script has none, two characters are one."""
    dense = len(_CJK.findall(text))
    return len(_CJK.sub(" ", text).split()) + -(-dense // 2) if dense else len(text.split())


def is_finished(sentence: str) -> bool:
    """True for a sentence with a mark at its end."""
    return sentence.rstrip().rstrip(_CLOSING).endswith(_ENDS)


def finished(sentence: str) -> str:
    """`sentence` with a mark at its end."""
    text = sentence.rstrip().rstrip(",;:–—-").rstrip()
    return text if not text or is_finished(text) else f"{text}."


def content_words(text: str) -> list[str]:
    """The words in lower case, without marks around them."""
    return [word.lower() for word in _CONTENT.findall(text)]


def is_repeat(sentence: str, earlier: Sequence[str]) -> bool:
    """True when nearly all words of `sentence` make up one of `earlier`, with the same numbers."""
    words = set(content_words(sentence))
    if len(words) < 3:
        return any(content_words(sentence) == content_words(other) for other in earlier)
    for other in earlier:
        others = set(content_words(other))
        if _runs(sentence) & _runs(other):
            return True
        if {word for word in words ^ others if any(map(str.isdigit, word))}:
            continue
        if len(words & others) >= _SAME_SHARE * len(words | others) or words <= others:
            return True
    return False


def _runs(sentence: str) -> set[tuple[str, ...]]:
    words = content_words(sentence)
    return {tuple(words[at : at + _SAME_RUN]) for at in range(len(words) - _SAME_RUN + 1)}


def is_circling(sentence: str) -> bool:
    """True when a run of words comes back within the sentence: three of them four times, five twice."""
    words = content_words(sentence)
    for size, most in ((3, 3), (5, 1)):
        runs = Counter(tuple(words[at : at + size]) for at in range(len(words) - size + 1))
        if max(runs.values(), default=0) > most:
            return True
    return False


def fit(sentences: Sequence[str], words: int, most: int) -> list[str]:
    """Sentences of these, in order, that come as near to `words` as can be without more than `most` in all;
    earlier ones go first. Where even one is too long, the first alone."""
    best: dict[int, tuple[int, ...]] = {0: ()}
    for at, sentence in enumerate(sentences):
        size = word_count(sentence)
        for total, chosen in sorted(best.items(), reverse=True):
            if total + size <= most and total + size not in best:
                best[total + size] = (*chosen, at)
    total = min(best, key=lambda found: abs(found - words))
    return [sentences[at] for at in best[total]] or list(sentences[:1])


def shortened(sentence: str, most: int, least: int = 3) -> str:
    """`sentence` cut before a clause so that it has at most `most` words; as it is where that leaves fewer
    than `least`."""
    if word_count(sentence) <= most:
        return sentence
    cuts = [found.start() for found in _CLAUSE.finditer(sentence)]
    for cut in reversed(cuts):
        text = sentence[:cut]
        if (
            least <= word_count(text) <= most
            and text.count("(") == text.count(")")
            and text.count('"') % 2 == 0
        ):
            return finished(text)
    return sentence
