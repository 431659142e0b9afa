"""Edits of one sentence from all who propose some, judged by the model one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mtp_cli.tasks.edits import BESIDE, UNLIKELY, Edit, apply, overlap
from mtp_cli.tasks.families import CAPITALISED
from mtp_cli.tasks.guard import Frame, edits_of
from mtp_cli.tasks.helpers import Helper
from mtp_cli.tasks.judge import Judge
from mtp_cli.tasks.pieces import pieces
from mtp_cli.tasks.variants import Variant, variants
from mtp_cli.tasks.vocabulary import Vocabulary, letter_distance

_LEAST_GAIN = {
    "article": 2.0,
    "inserted": 3.0,
    "dropped": 2.5,
    "swapped": 1.5,
    "form": 3.0,
    "mark": 3.0,
    "capital": 1.0,
    "spelling": 3.0,
    "rule": 1.5,
}
"""By what kind of proposal: how much likelier it must make the sentence (in nats) to be taken."""
_OWN_WORDS, _OWN_MARKS, _OWN_BESIDE = 1.0, 1.5, 3.0
"""The same for edits of the model's answer."""
_CAPITALS = -6.0
"""The same for words that always have a capital."""
_SECOND_LETTER = 1.5
"""More for each further letter of a word that changes."""
_TERM_TIMES, _TERM_GAIN = 3, 3.0
"""A word that the document has so often is meant; more is needed to change its spelling."""
_CAPITAL_GAIN = 2.0
"""More for the first word of a sentence, which may be a name."""
_ENDINGS, _ENDING_LETTERS, _ENDING_GAIN = ("ing", "er", "ers", "or", "ness", "able"), 3, 3.0
"""More for another ending of the same stem: rare forms (subscripting) are no slips."""
_LOOK = {"rules": (-0.5, 3), "spelling": (-3.0, 2), "helpers": (-6.0, 2)}
"""(least gain of the first token, most proposals) that are judged in full: for a sentence by rules, for each
place by the others."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """Edits that go together, and what the model gains by them."""

    gain: float
    edits: tuple[Edit, ...]


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
            if not any(overlap(edit, other) for edit in opinion.edits for other in taken):
                taken += opinion.edits
        left = [
            edit if edit.reason else replace(edit, reason=UNLIKELY)
            for edit in own
            if not any(overlap(edit, other) for other in taken)
        ]
        return sorted([*taken, *left], key=lambda edit: (edit.start, edit.end))

    def _of_answer(self, text: str, own: Sequence[Edit], judge: Judge) -> Iterator[Opinion]:
        for edit in own:
            if not edit.safe and edit.reason != BESIDE:
                continue
            least = _OWN_BESIDE if edit.reason else _OWN_WORDS
            if edit.safe and edit.label == "punctuation":
                least = _OWN_MARKS
            if edit.label == "capitalisation" and edit.replacement.lower() in CAPITALISED:
                least = _CAPITALS
            gain = judge.gain(self._flat(apply(text, [edit])))
            if gain > least:
                yield Opinion(gain, (replace(edit, reason=""),))

    def opinions(self, text: str, frame: Frame, judge: Judge) -> Iterator[Opinion]:
        """What rules, the vocabulary and helpers propose and the model likes. Raises EngineError."""
        if self._vocabulary is None:
            return
        row = pieces(text, frame.fixed)
        groups: list[tuple[str, str, Iterable[Variant]]] = [
            ("rules", "model", variants(row, full=frame.full)),
            ("spelling", "model", self._vocabulary.proposals(row)),
        ]
        groups += [("helpers", helper.name, helper.proposals(text)) for helper in self._helpers]
        for group, origin, proposed in groups:
            forms = {self._flat(variant.of(text)): variant for variant in proposed if self._is_word(variant)}
            for form, variant in self._likely(text, forms, group, judge):
                edits = edits_of(text, variant.of(text), frame, origin)
                if not edits or not all(edit.safe for edit in edits):
                    continue
                gain = judge.gain(form) - self._dearer(text, variant)
                if gain > (_CAPITALS if _is_sure(variant) else _LEAST_GAIN[variant.kind]):
                    yield Opinion(gain, tuple(edits))

    def _is_word(self, variant: Variant) -> bool:
        """Rules make up forms that do not exist; those that do are words of the model."""
        assert self._vocabulary is not None
        return variant.kind != "form" or variant.replacement.lower() in self._vocabulary

    def _likely(
        self, text: str, forms: dict[str, Variant], group: str, judge: Judge
    ) -> Iterator[tuple[str, Variant]]:
        """Those worth the model's full attention. Each misspelt word gets some."""
        least, most = _LOOK[group]
        places: dict[int, list[tuple[float, str]]] = {}
        for form, variant in forms.items():
            if _is_sure(variant):
                yield form, variant
                continue
            gain = judge.insertion_gain(text, variant.start, variant.replacement) if variant.empty else None
            gain = judge.first_gain(form) if gain is None else gain
            if gain >= least:
                places.setdefault(0 if group == "rules" else variant.start, []).append((gain, form))
        for here in places.values():
            yield from ((form, forms[form]) for _, form in sorted(here, reverse=True)[:most])

    def _dearer(self, text: str, variant: Variant) -> float:
        """What a change of spelling must gain besides."""
        if variant.kind != "spelling":
            return 0.0
        word = text[variant.start : variant.end].lower()
        letters = letter_distance(word, variant.replacement.lower())
        dearer = _SECOND_LETTER * max(letters - 1, 0)
        if self._words[word] >= _TERM_TIMES:
            dearer += _TERM_GAIN
        if text[variant.start].isupper():
            dearer += _CAPITAL_GAIN
        if (
            word.endswith(_ENDINGS)
            and word[:-_ENDING_LETTERS] == variant.replacement.lower()[: len(word) - _ENDING_LETTERS]
        ):
            dearer += _ENDING_GAIN
        return dearer


def _is_sure(variant: Variant) -> bool:
    """True for the capital of a word that always has one."""
    return variant.kind == "capital" and variant.replacement.lower() in CAPITALISED
