"""Suffix automaton, source alignment, sampler, lenient rules and gate against plain versions of each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from .native_parts import RULES, Parts, ids, row

Row = npt.NDArray[np.float64]


def longest_earlier(tokens: Sequence[int]) -> tuple[int, int]:
    """(length, end of the first occurrence) of the longest suffix that also ends earlier; (0, 0): none."""
    n = len(tokens)
    for length in range(n - 1, 0, -1):
        for end in range(length, n):
            if tokens[end - length : end] == tokens[n - length :]:
                return length, end
    return 0, 0


@pytest.mark.parametrize("seed", range(12))
def test_suffix_automaton_finds_the_longest_suffix(seed: int, parts: Parts) -> None:
    rng = np.random.default_rng(seed)
    letters = (1, 2, 3, 5, 30)[seed % 5]
    tokens = rng.integers(0, letters, 70).tolist()
    if seed % 2:  # long repeats with small changes, as in proofreading
        tokens += [*tokens[5:60], 99, *tokens[20:50]]
    found = parts.numbers(f"suffix {ids(tokens)}")
    for at, (length, end) in enumerate(found, 1):
        want_length, want_end = longest_earlier(tokens[:at])
        assert length == want_length, f"after {at} tokens"
        if length:
            assert end == want_end, f"after {at} tokens"


def place_of(source: Sequence[int], said: Sequence[int], last: int, table: Row) -> tuple[int, int]:
    """(place, edits): where the whole edit-distance row is least; of equals, nearest to going straight on."""
    best = min(range(len(source) + 1), key=lambda j: (table[len(said), j], abs(j - last - 1), j))
    return best, int(table[len(said), best])


def distances(source: Sequence[int], said: Sequence[int]) -> Row:
    """[said + 1, source + 1] edit distances of all prefixes."""
    table = np.zeros((len(said) + 1, len(source) + 1))
    table[0], table[:, 0] = np.arange(len(source) + 1), np.arange(len(said) + 1)
    for i, token in enumerate(said, 1):
        for j, other in enumerate(source, 1):
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (token != other)
            )
    return table


def edited(source: Sequence[int], rng: np.random.Generator, share: float) -> list[int]:
    """A copy with dropped, changed and inserted tokens."""
    out: list[int] = []
    for token in source:
        act = rng.choice(["keep", "drop", "change", "insert"], p=[1 - share, *[share / 3] * 3])
        if act != "drop":
            out.append(int(rng.integers(0, 400)) if act == "change" else token)
        if act == "insert":
            out.append(int(rng.integers(0, 400)))
    return out


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("seed", range(6))
def test_source_alignment_is_the_least_edit_distance(seed: int, share: float, parts: Parts) -> None:
    """Within the band, which these texts do not leave."""
    rng = np.random.default_rng(seed)
    source = rng.integers(0, 400, 120).tolist()
    said = edited(source, rng, share)
    table, last = distances(source, said), 0
    for at, (position, run, edits) in enumerate(parts.numbers(f"source {ids(source)} {ids(said)}"), 1):
        place, cost = place_of(source, said[:at], last, table)
        assert (position, edits) == (place, cost), f"after {at} tokens"
        agreed = next(
            (n for n in range(at) if position - n < 1 or source[position - n - 1] != said[at - n - 1]), at
        )
        assert min(run, 1) <= agreed and run <= agreed
        last = position


def test_an_unchanged_text_is_followed_token_by_token(parts: Parts) -> None:
    source = np.random.default_rng(3).integers(0, 50, 300).tolist()
    found = parts.numbers(f"source {ids(source)} {ids(source)}")
    assert found == [(at, at, 0) for at in range(1, 301)]


@pytest.mark.parametrize("kind", ["change", "insert", "drop"])
def test_alignment_is_back_soon_after_an_edit(kind: str, parts: Parts) -> None:
    source = list(range(100, 200))
    said = source[:]
    for at in (80, 60, 40, 20):
        if kind == "change":
            said[at] = 7
        elif kind == "insert":
            said.insert(at, 7)
        else:
            del said[at]
    found = parts.numbers(f"source {ids(source)} {ids(said)}")
    right = sum(
        position < len(source) and source[position] == said[at]
        for at, (position, _, _) in enumerate(found[:-1], 1)
    )
    assert right >= len(said) - 1 - 2 * 4, "more than two tokens lost at an edit"


def philox(seed: int, position: int) -> float:
    """Philox 2x64-10 (Salmon et al. 2011), first word, as a number in [0, 1)."""
    mask = 2**64 - 1
    x0, x1, key = position, 0, seed
    for _ in range(10):
        product = x0 * 0xD2B74407B1CE6E93
        x0, x1 = ((product >> 64) ^ key ^ x1) & mask, product & mask
        key = (key + 0x9E3779B97F4A7C15) & mask
    return (x0 >> 11) * 2.0**-53


def test_uniform_draws(parts: Parts) -> None:
    """The published generator, and uniform over positions for every seed."""
    assert philox(0, 0) == (0xCA00A0459843D731 >> 11) * 2.0**-53  # known answer of its authors
    seeds, n = (0, 1, 2, 12345, 2**64 - 1), 20000
    for seed, words in zip(seeds, parts.ask(f"uniform {seed} {n}" for seed in seeds), strict=True):
        draws = np.array(words, dtype=np.float64)
        assert draws[:50].tolist() == [philox(seed, at) for at in range(50)]
        assert draws.min() >= 0
        assert draws.max() < 1
        assert chi_square(np.histogram(draws, 50, (0, 1))[0], np.full(50, n / 50)) < limit(49)
        pairs = np.histogram2d(draws[:-1], draws[1:], 8, [(0, 1), (0, 1)])[0].ravel()
        assert chi_square(pairs, np.full(64, (n - 1) / 64)) < limit(63)


def chi_square(seen: npt.ArrayLike, expected: npt.ArrayLike) -> float:
    got, want = np.asarray(seen, np.float64), np.asarray(expected, np.float64)
    return float(((got - want) ** 2 / want).sum())


def limit(freedom: int) -> float:
    """What chi-square exceeds once in 10,000 (Wilson and Hilferty's approximation)."""
    return freedom * (1 - 2 / (9 * freedom) + 3.719 * math.sqrt(2 / (9 * freedom))) ** 3


@dataclass(frozen=True)
class Case:
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    penalty: float = 1.0
    last: int = 64

    def question(self, logits: Sequence[float], seed: int, position: int, history: Sequence[int]) -> str:
        shape = f"{self.temperature} {self.top_k} {self.top_p} {self.min_p} {self.penalty} {self.last}"
        return f"sample {shape} {seed} {position} {ids(history)} {row(logits)}"


def plain_sampler(case: Case, logits: Sequence[float], history: Sequence[int]) -> Row:
    """Probabilities of all tokens after penalty, top-k, top-p (of what top-k left), min-p, temperature."""
    x = np.array(logits, np.float64)
    for token in set(history[-case.last :] if case.last else ()):
        x[token] = x[token] / case.penalty if x[token] > 0 else x[token] * case.penalty
    order = sorted(range(len(x)), key=lambda token: (-x[token], token))
    p = np.exp(x - x.max())
    p /= p.sum()
    keep = order[: case.top_k] if case.top_k else order
    if case.top_p < 1:
        before = np.concatenate([[0], np.cumsum(p[keep])[:-1]]) / p[keep].sum()
        keep = [token for token, sum_before in zip(keep, before, strict=True) if sum_before < case.top_p]
        keep = keep or order[:1]
    keep = [token for token in keep if p[token] >= case.min_p * p.max()]
    out = np.zeros(len(x))
    out[keep] = np.exp((x[keep] - x.max()) / case.temperature)
    return np.asarray(out / out.sum())


CASES = [
    Case(),
    Case(temperature=0.5),
    Case(temperature=2.5),
    Case(top_k=1),
    Case(top_k=4),
    Case(top_k=1000),
    Case(top_p=0.6),
    Case(top_p=0.0),
    Case(top_k=5, top_p=0.7),
    Case(min_p=0.2),
    Case(min_p=1.0),
    Case(penalty=1.8),
    Case(penalty=1.8, last=2),
    Case(penalty=0.7),
    Case(temperature=0.8, top_k=9, top_p=0.8, min_p=0.05, penalty=1.3),
]
HISTORY = [3, 5, 5, 1, 9, 0]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_frequencies_are_the_softmax(case: Case, parts: Parts) -> None:
    logits = np.random.default_rng(4).normal(0, 1.5, 24).astype(np.float32).astype(float).tolist()
    want = plain_sampler(case, logits, HISTORY)
    n = 4000
    for seed in (1, 2):
        answers = parts.ask(case.question(logits, seed, at, HISTORY) for at in range(n))
        seen = Counter(int(words[0]) for words in answers)
        assert all(want[token] > 0 for token in seen), "a token that was cut off was drawn"
        likely = [token for token in range(24) if want[token] * n >= 5]
        rare = n - sum(seen[token] for token in likely)
        counts = [seen[token] for token in likely]
        expected = [want[token] * n for token in likely]
        if n - sum(expected) >= 5:
            counts, expected = [*counts, rare], [*expected, n - sum(expected)]
        if len(counts) > 1:
            assert chi_square(counts, expected) < limit(len(counts) - 1)
        assert parts.ask(case.question(logits, seed, at, HISTORY) for at in range(50)) == answers[:50]


@pytest.mark.parametrize("penalty", [1.0, 1.5])
def test_temperature_zero_is_the_arg_max(penalty: float, parts: Parts) -> None:
    rng = np.random.default_rng(8)
    case = Case(temperature=0.0, penalty=penalty)
    for _ in range(20):
        logits = rng.normal(0, 2, 30).astype(np.float32).astype(float)
        logits[11] = logits[17] = logits.max()  # of equals the first
        want = logits.copy()
        for token in set(HISTORY):
            want[token] = want[token] / penalty if want[token] > 0 else want[token] * penalty
        assert parts.ask([case.question(logits.tolist(), 3, 9, HISTORY)]) == [[str(int(want.argmax()))]]


def lenient(rule: str, alpha: float, q: float, draft: int, logits: Sequence[float]) -> bool:
    """The deferral rules of speculative cascades for a draft of one token with confidence q."""
    p = np.exp(np.array(logits) - max(logits))
    p /= p.sum()
    top, variation = p.max(), 1 - p[draft]
    return bool(
        {
            "chow": q >= 1 - alpha,
            "diff": q >= top - alpha,
            "opt": q >= top - alpha * variation,
            "token-v1": q >= top - alpha,
            "token-v2": p[draft] >= top - alpha,
            "token-v3": p[draft] >= (1 - alpha) * top,
        }[rule]
    )


@pytest.mark.parametrize("rule", RULES)
def test_lenient_rules(rule: str, parts: Parts) -> None:
    rng = np.random.default_rng(5)
    cases = []
    for _ in range(400):
        logits = rng.normal(0, rng.uniform(0.2, 3), 8).astype(np.float32).astype(float).tolist()
        cases.append((float(rng.uniform(0, 1)), float(rng.uniform(0, 1)), int(rng.integers(0, 8)), logits))
    number = RULES.index(rule) + 1
    answers = parts.ask(f"lenient {number} {a!r} {q!r} {draft} {row(x)}" for a, q, draft, x in cases)
    want = [lenient(rule, *case) for case in cases]
    assert [words == ["1"] for words in answers] == want
    assert 0 < sum(want) < len(want)


def test_the_strictest_token_v3_keeps_the_arg_max_only(parts: Parts) -> None:
    x = [0.5, 2.0, 1.99, -1.0]
    answers = parts.ask(f"lenient 6 0.0 1.0 {draft} {row(x)}" for draft in range(4))
    assert answers == [["0"], ["1"], ["0"], ["0"]]
    assert parts.ask([f"lenient 6 1.0 0.0 3 {row(x)}"]) == [["1"]]
    assert parts.ask([f"lenient 0 1.0 1.0 1 {row(x)}"]) == [["0"]]


def best_length(confidence: Sequence[float], cost: Sequence[float]) -> int:
    """The draft length of most expected tokens per second."""
    survival = np.cumprod(confidence)
    rates = [(1 + survival[:g].sum()) / cost[g] for g in range(min(len(confidence), 15) + 1)]
    return int(np.argmax(rates))


@pytest.mark.parametrize("seed", range(5))
def test_gate_takes_the_most_tokens_per_second(seed: int, parts: Parts) -> None:
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(60):
        confidence = rng.uniform(0, 1, rng.integers(0, 16)).astype(np.float32).astype(float).tolist()
        cost = (1 + np.cumsum(rng.uniform(0, 0.6, 16))).tolist()
        cases.append((confidence, cost))
    answers = parts.ask(f"gate {row(c)} {' '.join(map(repr, cost))}" for c, cost in cases)
    assert [int(words[0]) for words in answers] == [best_length(*case) for case in cases]


def test_gate_at_its_ends(parts: Parts) -> None:
    sure, flat, steep = row([1.0] * 15), " ".join(["1"] * 16), " ".join(["1", *["1000"] * 15])
    linear = " ".join(str(k) for k in range(1, 17))
    questions = [f"gate {sure} {flat}", f"gate {sure} {steep}", f"gate {sure} {linear}", f"gate 0 {flat}"]
    assert parts.ask(questions) == [["15"], ["0"], ["0"], ["0"]]
