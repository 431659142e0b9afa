"""Edits of one sentence from all who propose some, judged by the model one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mtp_cli.tasks.caution import (
    ANSWER_SHARE,
    ANYTHING,
    BARS,
    CEILING_RANGE,
    CEILING_SHARE,
    FROM_HELPERS,
    LEAST_ANSWER_BESIDE,
    LESS_BESIDE_CEILING,
    LESS_BESIDE_SAID,
    MOST_OVER_CEILING,
    SURE,
    Bar,
    dearer,
    is_off_limits,
    is_sure,
)
from mtp_cli.tasks.edits import BESIDE, UNLIKELY, Edit, apply, clash, overlap
from mtp_cli.tasks.families import CAPITALISED
from mtp_cli.tasks.guard import Frame, edits_of
from mtp_cli.tasks.helpers import Helper
from mtp_cli.tasks.judge import Judge
from mtp_cli.tasks.pieces import Piece, pieces
from mtp_cli.tasks.variants import Variant, variants
from mtp_cli.tasks.vocabulary import Vocabulary

_OWN_WORDS, _OWN_MARKS, _OWN_BESIDE = 1.0, 1.5, 3.0
"""How much likelier an edit of the model's answer must make the sentence (in nats)."""
_MANY = 5
"""From so many proposals on, the model is asked for its answer first."""
_MOST_HERE = 2
"""Spellings of one word by one proposer that are looked at, the likeliest ones."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """Edits that go together, and what the model gains by them."""

    gain: float
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class _Proposal:
    """An edit, who proposed it, and whether there is little doubt about it."""

    variant: Variant
    origin: str
    sure: bool
    ceiling: float

    @property
    def bar(self) -> Bar:
        return BARS[self.variant.kind]

    @property
    def least_gain(self) -> float:
        return SURE if self.sure else self.bar.gain

    @property
    def is_doubtless(self) -> bool:
        """True when something is likely to be wrong there."""
        return self.sure or self.origin != "model" or self.variant.kind in ("spelling", "capital")

    def may_answer(self, answer: float) -> bool:
        return self.sure or answer > self.bar.answer

    def may_gain(self, answer: float) -> bool:
        """False when more gain is wanted than there can be."""
        if self.is_doubtless:
            return True
        wanted = max(self.bar.gain, self.bar.total - ANSWER_SHARE * answer)
        return wanted <= self.ceiling + MOST_OVER_CEILING

    def may_answer_beside(self, answer: float) -> bool:
        """`may_answer` in a sentence that has another error."""
        least = self.bar.answer if self.variant.kind == "spelling" else LEAST_ANSWER_BESIDE
        return self.sure or answer > least

    def passes(self, gain: float, answer: float, *, beside: bool = False) -> bool:
        """True when the edit is to be made; `beside`: another one is made in the sentence."""
        if self.sure:
            return gain > SURE
        total = gain + ANSWER_SHARE * answer
        if beside:
            least, most = CEILING_RANGE
            return total - CEILING_SHARE * min(max(self.ceiling, least), most) > self.bar.beside
        return gain > self.bar.gain and answer > self.bar.answer and total > self.bar.total

    def may_pass(self, judge: Judge, text: str, *, beside: bool) -> bool:
        """False when the rest need not be computed."""
        if self.sure:
            return True
        if self.origin != "model":
            return self.ceiling >= FROM_HELPERS
        ceiling, said = self.bar.ceiling, self.bar.said
        if beside:
            ceiling, said = ceiling - LESS_BESIDE_CEILING, said - LESS_BESIDE_SAID
        if self.ceiling < ceiling:
            return False
        return self.bar.said <= ANYTHING or judge.said(text, self.variant) >= said


class Reviewer:
    """Knows the document's words and who may propose. `vocabulary` None: not English, so only the model's own
    answer counts."""

    def __init__(
        self, vocabulary: Vocabulary | None, helpers: Sequence[Helper], flat: Callable[[str], str]
    ) -> None:
        self._vocabulary = vocabulary
        self._helpers = helpers
        self._flat = flat
        self._words: Counter[str] = Counter()

    def read(self, text: str) -> None:
        """A new document begins."""
        self._words = Counter(piece.text.lower() for piece in pieces(text) if piece.kind == "word")

    @property
    def knows(self) -> bool:
        """True when others than the model's answer can propose something."""
        return self._vocabulary is not None

    def review(self, text: str, own: Sequence[Edit], others: Sequence[Opinion], judge: Judge) -> list[Edit]:
        """The edits to make, in order, with those of the model's answer (`own`) that are not. `others`: what
        `opinions` gave. Raises EngineError."""
        opinions = [*self._of_answer(text, own, judge), *others]
        taken: list[Edit] = []
        for opinion in sorted(opinions, key=lambda opinion: -opinion.gain):
            if not any(clash(edit, other) for edit in opinion.edits for other in taken):
                taken += opinion.edits
        left = [
            edit if edit.reason else replace(edit, reason=UNLIKELY)
            for edit in own
            if not any(overlap(edit, other) for other in taken)
        ]
        return sorted([*taken, *left], key=lambda edit: (edit.start, edit.end))

    def _of_answer(self, text: str, own: Sequence[Edit], judge: Judge) -> Iterator[Opinion]:
        likely = {
            self._flat(apply(text, [edit])): (edit, gain) for edit, gain in self._likely(text, own, judge)
        }
        answers = self._answers(list(likely), judge)
        for form, (edit, gain) in likely.items():
            yield Opinion(gain + ANSWER_SHARE * answers[form], (replace(edit, reason=""),))

    def _likely(self, text: str, own: Sequence[Edit], judge: Judge) -> Iterator[tuple[Edit, float]]:
        """Edits of the model's answer that make the sentence likelier, with their gains."""
        for edit in reversed(own):  # see Judge.gain
            if not edit.safe and edit.reason != BESIDE:
                continue
            least = _OWN_BESIDE if edit.reason else _OWN_WORDS
            if edit.safe and edit.label == "punctuation":
                least = _OWN_MARKS
            if edit.label == "capitalisation" and edit.replacement.lower() in CAPITALISED:
                least = SURE
            gain = judge.gain(self._flat(apply(text, [edit])))
            if gain > least:
                yield edit, gain

    def opinions(self, text: str, frame: Frame, judge: Judge) -> Iterator[Opinion]:
        """What rules, the vocabulary and helpers propose and the model likes. Raises EngineError."""
        weighed = self._weighed(text, self._proposals(text, frame, judge), judge)
        if not any(found.passes(gain, answer) for found, gain, answer in weighed):
            return
        for found, gain, answer in self._all_weighed(text, frame, judge):
            if found.passes(gain, answer) or found.passes(gain, answer, beside=True):
                edits = edits_of(text, found.variant.of(text), frame, found.origin)
                if edits and all(edit.safe for edit in edits):
                    yield Opinion(gain + ANSWER_SHARE * answer, tuple(edits))

    def _all_weighed(self, text: str, frame: Frame, judge: Judge) -> list[tuple[_Proposal, float, float]]:
        """The same for a sentence that has an error, with more proposals, and fewer left out half-way."""
        proposals = self._proposals(text, frame, judge, beside=True)
        left = sorted(proposals, key=lambda form: -proposals[form].variant.start)  # see Judge.gain
        answers = self._answers(left, judge)
        left = [form for form in left if proposals[form].may_answer_beside(answers[form])]
        return [
            (proposals[form], self._gain(text, form, proposals[form], judge), answers[form])
            for form in _best_spellings(left, proposals, answers)
        ]

    def _gain(self, text: str, form: str, found: _Proposal, judge: Judge) -> float:
        return judge.gain(form) - dearer(text, found.variant, self._words.__getitem__, self._is_known)

    def _weighed(
        self, text: str, proposals: dict[str, _Proposal], judge: Judge
    ) -> list[tuple[_Proposal, float, float]]:
        """(proposal, gain, answer) of those that may pass. Nearly all proposals are wrong, and the model's
        two opinions differ in cost: the answer is one pass for all, gains are a small one each. So with many
        proposals, or one that is likely right, the answer goes first."""
        left = sorted(proposals, key=lambda form: -proposals[form].variant.start)  # see Judge.gain
        answers: dict[str, float] = {}
        answer_first = len(left) >= _MANY or any(found.is_doubtless for found in proposals.values())
        if answer_first:
            answers = self._answers(left, judge)
            left = [form for form in left if proposals[form].may_answer(answers[form])]
            left = [form for form in left if proposals[form].may_gain(answers[form])]
            left = _best_spellings(left, proposals, answers)
        gains = {form: self._gain(text, form, proposals[form], judge) for form in left}
        left = [form for form in left if gains[form] > proposals[form].least_gain]
        if not answer_first:
            answers = self._answers(left, judge)
        return [(proposals[form], gains[form], answers[form]) for form in left]

    def _answers(self, forms: Sequence[str], judge: Judge) -> dict[str, float]:
        return dict(zip(forms, judge.answer_gains(forms), strict=True)) if forms else {}

    def _proposals(
        self, text: str, frame: Frame, judge: Judge, *, beside: bool = False
    ) -> dict[str, _Proposal]:
        """The sentence with each edit that may be worth the model's attention -> the edit."""
        if self._vocabulary is None:
            return {}
        row = pieces(text, frame.fixed)
        found: dict[str, _Proposal] = {}
        for origin, proposed in self._sources(text, row, full=frame.full):
            places: dict[int, list[tuple[float, _Proposal]]] = {}
            for variant in filter(self._is_word, proposed):
                if is_off_limits(text, variant):
                    continue
                ceiling = judge.ceiling(text, variant)
                one = _Proposal(variant, origin, is_sure(text, variant), ceiling)
                if one.may_pass(judge, text, beside=beside):
                    place = variant.start if variant.kind == "spelling" else -1
                    places.setdefault(place, []).append((ceiling, one))
            for place, here in places.items():
                best = sorted(here, key=lambda row: -row[0])[: None if place < 0 else _MOST_HERE]
                for _, one in best:
                    form = self._flat(one.variant.of(text))
                    if form not in found or one.bar.total < found[form].bar.total:
                        found[form] = one
        return found

    def _sources(
        self, text: str, row: Sequence[Piece], *, full: bool
    ) -> Iterator[tuple[str, Iterable[Variant]]]:
        """(who, what)"""
        assert self._vocabulary is not None
        yield "model", variants(row, full=full)
        yield "model", self._vocabulary.proposals(row)
        for helper in self._helpers:
            yield helper.name, helper.proposals(text)

    def _is_word(self, variant: Variant) -> bool:
        """Rules make up forms that do not exist; those that do are words of the model."""
        assert self._vocabulary is not None
        if variant.kind == "joined":
            return variant.replacement.lower() in self._vocabulary
        if variant.kind != "form":
            return True
        other = variant.replacement.lower()
        return other in self._vocabulary or self._is_known(other)

    def _is_known(self, word: str) -> bool:
        return any(helper.knows(word) for helper in self._helpers)


def _best_spellings(
    forms: Sequence[str], proposals: dict[str, _Proposal], answers: dict[str, float]
) -> list[str]:
    """The forms without the less likely ones of many spellings of one word."""
    places: dict[int, list[tuple[float, str]]] = {}
    for form in forms:
        found = proposals[form]
        if found.variant.kind == "spelling":
            hope = found.ceiling + ANSWER_SHARE * answers[form]
            places.setdefault(found.variant.start, []).append((hope, form))
    worse = {form for here in places.values() for _, form in sorted(here, reverse=True)[_MOST_HERE:]}
    return [form for form in forms if form not in worse]
