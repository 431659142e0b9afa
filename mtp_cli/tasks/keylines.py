"""A text's own sentences that say most of it, without a model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from mtp_cli.readers.document import one_line
from mtp_cli.tasks.split import sentences
from mtp_cli.tasks.wording import (
    content_words,
    finished,
    has_false_end,
    is_cut,
    is_finished,
    is_repeat,
    word_count,
)

_LEAST_WORDS, _MOST_WORDS = 4, 45
_MOST_SENTENCES = 4000
_FACT = re.compile(r"\d|(?<=[a-z,;] )[A-Z]")
_FIRST_BONUS = 1.4
_COMMON_WORDS = """
the a an and or but of to in on at by for with from as is are was were be been has have had it its
this that these those he she they we you i his her their our your not no so if then than there here
which who what when will would can could should may do does did also more most some any all one into
about over after before up out
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def key_sentences(text: str, count: int, avoid: Sequence[str] = ()) -> list[str]:
    """Up to `count` sentences of `text` in its order, each finished and none like one of `avoid`.

    A sentence counts by how often the text uses its words; what was taken counts less afterwards, the
    beginning and numbers and names count more."""
    rows = _candidates(text)
    weights = Counter(word for _, words in rows for word in set(words))
    taken: list[int] = []
    left = {at for at, (row, _) in enumerate(rows) if not is_repeat(row, avoid)}
    while left and len(taken) < count:
        at = max(left, key=lambda at: (_score(rows[at], weights, first=at == 0), -at))
        left.discard(at)
        if is_repeat(rows[at][0], [rows[other][0] for other in taken]):
            continue
        taken.append(at)
        for word in set(rows[at][1]):
            weights[word] = 0
    return [finished(rows[at][0]) for at in sorted(taken)]


def last_sentence(text: str) -> str:
    """What a text ends with: often the point of it. "" where that is no sentence of a usual size."""
    rows = _candidates(text[-2000:])
    return finished(rows[-1][0]) if rows else ""


def _candidates(text: str) -> list[tuple[str, list[str]]]:
    """(sentence on one line, its words that are not common ones)."""
    found = []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        lines = paragraph.split("\n")
        rows = lines if _is_list(lines) else sentences(paragraph)
        for row in rows:
            flat = re.sub(r"^(?:[-*+•]|\d+[.)])\s+", "", one_line(row))
            whole = is_finished(flat) or (len(rows) > 1 and not is_cut(flat))
            if _LEAST_WORDS <= word_count(flat) <= _MOST_WORDS and whole and not has_false_end(flat):
                found.append((flat, [word for word in content_words(flat) if word not in _COMMON]))
        if len(found) >= _MOST_SENTENCES:
            break
    return found


def _is_list(lines: list[str]) -> bool:
    return len(lines) > 1 and all(
        re.match(r"\s*(?:[-*+•]|\d+[.)]|\S[^:]{0,30}:)\s", line) for line in lines if line.strip()
    )


def _score(row: tuple[str, list[str]], weights: Counter[str], *, first: bool) -> float:
    sentence, words = row
    if not words:
        return 0.0
    said = sum(math.log1p(weights[word]) for word in set(words)) / math.sqrt(len(words) + 6)
    facts = min(len(_FACT.findall(sentence)), 4)
    return said * (1 + 0.1 * facts) * (_FIRST_BONUS if first else 1.0)
