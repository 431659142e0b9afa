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
_OPEN_WORDS = """
the a an of and or but nor from with their its his her our your my than into as if because while although
whose every each between during among upon onto via per such very will would could should shall must is are
was were be been being has have had does did which who whom where when whether that by for at in on to under
over against without within toward towards
"""
_OPEN = frozenset(_OPEN_WORDS.split())
"""Words after which an English sentence nearly always goes on."""
_MUST_GO_ON_WORDS = "the a an and or but nor their our your my whose every because although than"
_MUST_GO_ON = frozenset(_MUST_GO_ON_WORDS.split())
_CLOSING = "\"'”’»)]"
_QUOTES = ('"', "“", "”")
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


def is_cut(sentence: str) -> bool:
    """True for a sentence that stops in the middle: no mark at its end, and its last word is one that others
    follow."""
    text = sentence.rstrip()
    return bool(text) and not is_finished(text) and (text[-1] in ",–—-(/" or _last_word(text) in _OPEN)


def has_false_end(sentence: str) -> bool:
    """True for a sentence whose full stop stands behind a word after which more must come."""
    return is_finished(sentence) and _last_word(sentence) in _MUST_GO_ON


def _last_word(text: str) -> str:
    found = re.search(r"([^\W\d_]+)[^\w]*\Z", text)
    return found[1].lower() if found else ""


def finished(sentence: str) -> str:
    """`sentence` with a mark at its end."""
    text = sentence.rstrip().rstrip(",;:–—-").rstrip()
    return text if not text or is_finished(text) else f"{text}."


def unquoted(text: str, *, first: bool = True) -> str:
    """Without quotation marks around a whole answer: around its `first` sentence, or one that is open."""
    marks = sum(map(text.count, _QUOTES))
    if first and text[:1] in _QUOTES and (marks == 1 or (marks == 2 and text[-1:] in _QUOTES)):
        text, marks = text[1:].lstrip(), marks - 1
    return text[:-1].rstrip() if marks == 1 and text[-1:] in _QUOTES else text


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
