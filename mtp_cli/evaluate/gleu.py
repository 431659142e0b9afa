"""GLEU of Napoles, Sakaguchi, Post and Tetreault (2015, in the version of 2016 without tuning): n-grams in
common with a reference, less those in common with the source that the reference has not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

_ORDER = 4


def gleu(sources: Sequence[str], results: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Over a whole set of tokenised sentences: the mean of its scores against the first, the second, ...
    reference of every sentence. Sentences with fewer references than others take theirs in turn."""
    rows = [
        (s.split(), h.split(), [r.split() for r in refs])
        for s, h, refs in zip(sources, results, references, strict=True)
    ]
    count = max((len(refs) for _, _, refs in rows), default=0)
    if not count:
        return 0.0
    return sum(_corpus([(s, h, refs[at % len(refs)]) for s, h, refs in rows]) for at in range(count)) / count


def _corpus(rows: Sequence[tuple[list[str], list[str], list[str]]]) -> float:
    hits, totals = [0] * _ORDER, [0] * _ORDER
    said = wanted = 0
    for source, result, reference in rows:
        said += len(result)
        wanted += len(reference)
        for n in range(_ORDER):
            s, h, r = (_ngrams(row, n + 1) for row in (source, result, reference))
            lost = Counter({gram: times for gram, times in s.items() if gram not in r})
            hits[n] += max((h & r).total() - (h & lost).total(), 0)
            totals[n] += max(len(result) - n, 0)
    if not all(hits) or not all(totals):
        return 0.0
    brevity = min(0.0, 1 - wanted / said)
    return math.exp(
        brevity + sum(math.log(hit / total) for hit, total in zip(hits, totals, strict=True)) / _ORDER
    )


def _ngrams(row: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(row[at : at + n]) for at in range(len(row) - n + 1))
