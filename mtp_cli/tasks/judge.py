"""The model's own opinion of an edit: how much likelier it makes the sentence.

Both sentences are scored in the place of a text in the task's prompt, behind its worked examples. So the
prompt's beginning, which is in the cache for every sentence, serves here too. The sentence itself is computed
once; of another form only what differs and a little behind it, and only if the one pass over the sentence
does not already say that it cannot be likelier (`ceiling`).

How likely a text is says too little alone: common words are likelier than rare ones that are right. So the
model is asked a second way (`answer_gains`): whether it would write another form as its answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mtp_cli.tasks.prompts import Prompt, common_prefix
from mtp_cli.tasks.session import Rows, Session
from mtp_cli.tasks.variants import Variant

_TOKENS_BEHIND = 4
"""Tokens behind an edit whose likelihood still counts."""


_NOT_FED = 0
"""Stands for whatever token comes next."""


class Judge:
    """Scores other forms of one sentence with the model of a session."""

    def __init__(self, session: Session, prompt: Prompt, text: str) -> None:
        """Computes the sentence itself. Raises EngineError."""
        self._session = session
        self._prompt = prompt
        self._own = prompt.as_text(text)
        self._first = prompt.before_tokens
        self._rows = session.rows(self._own, self._first)
        self._text = text
        self._starts = self._token_starts()
        self._gains: dict[str, float] = {}

    def _token_starts(self) -> dict[int, int]:
        """Place in the text -> number of the token that begins there; nothing for text that is not ASCII."""
        found: dict[int, int] = {}
        if not self._text.isascii():
            return found
        at = -len(self._prompt.lead)
        for number, token in enumerate(self._own[self._first :]):
            found[at] = number
            at += len(self._session.engine.piece(token))
        return found

    @staticmethod
    def fits(prompt: Prompt, text: str, n_ctx: int) -> bool:
        """True when there is room in the context to score forms of `text`, also as answers."""
        return len(prompt.tokens(text)) + len(prompt.repeated(text)) + 2 * _TOKENS_BEHIND < n_ctx

    def ceiling(self, text: str, variant: Variant) -> float:
        """ln p of the first token in which the form differs, less that of the sentence's own token there.
        Nothing new is computed. An insertion cannot gain much more than this, since the token behind it is at
        best certain."""
        found = self._difference(text, variant)
        if found is None:
            return -math.inf
        place, token = found
        return self._rows.likelier(place, token, self._own[self._first + place])

    def said(self, text: str, variant: Variant) -> float:
        """ln p of that first token."""
        found = self._difference(text, variant)
        return -math.inf if found is None else self._rows.log_p(*found)

    def _difference(self, text: str, variant: Variant) -> tuple[int, int] | None:
        """(row, first other token)"""
        return self._by_place(text, variant) or self._by_tokens(" ".join(variant.of(text).split()))

    def _by_place(self, text: str, variant: Variant) -> tuple[int, int] | None:
        """(row, first other token), without cutting the whole sentence into tokens again; None where that
        cannot be said."""
        start, words = variant.start, variant.replacement
        if text.strip() != self._text:
            return None
        if not words:
            place, behind = self._starts.get(start), self._starts.get(variant.end)
            if place is None or behind is None:
                return None
            return self._unlike(place, self._own[self._first + behind])
        if not variant.empty:
            blank = text[start - 1] if start else self._prompt.lead
            if blank == " ":
                start, words = start - 1, " " + words
        place = self._starts.get(start)
        return None if place is None else self._unlike(place, self._prompt.first_token(words))

    def _unlike(self, place: int, token: int) -> tuple[int, int] | None:
        return None if token == self._own[self._first + place] else (place, token)

    def _by_tokens(self, other: str) -> tuple[int, int] | None:
        row = self._prompt.as_text(other)
        at = self._start(row)
        return None if at >= min(len(row), len(self._own)) else (at - self._first, row[at])

    def gain(self, other: str) -> float:
        """ln p(other) - ln p(sentence), over what differs and a few tokens behind. Forms that differ late in
        the sentence are best asked about first: the cache then never has to be filled again. Nothing is
        computed twice. Raises EngineError."""
        if other not in self._gains:
            self._gains[other] = self._gain(other)
        return self._gains[other]

    def _gain(self, other: str) -> float:
        row = self._prompt.as_text(other)
        start = self._start(row)
        behind = common_prefix(self._own[start:][::-1], row[start:][::-1])
        behind = max(behind - _TOKENS_BEHIND, 0)
        wanted = row[: len(row) - behind]
        if start >= len(wanted):
            return -self._said(start, len(self._own) - behind)
        said = self._rows.log_p(start - self._first, wanted[start])
        rows = self._session.rows(wanted, start + 1)
        said += sum(rows.log_p(at, token) for at, token in enumerate(wanted[start + 1 :]))
        return said - self._said(start, len(self._own) - behind)

    def _said(self, start: int, end: int) -> float:
        """ln p of the sentence's own tokens of that range."""
        return sum(self._rows.log_p(at - self._first, self._own[at]) for at in range(start, end))

    def answer_gains(self, others: Sequence[str]) -> list[float]:
        """For each, how much likelier the model begins to write it than the sentence as it is, when it is
        asked for the corrected text: ln p of the first token in which they differ, less that of the
        sentence's own, both behind what they have in common. One pass over the sentence in place of the
        answer serves all; it is cheapest before any `gain`. Raises EngineError."""
        copy = self._prompt.repeated(self._text)
        forms = [self._prompt.repeated(other) for other in others]
        places = [common_prefix(copy, row) for row in forms]
        before = self._prompt.tokens(self._text)
        first, last = min(places, default=0), max(places, default=0)
        rows = self._session.rows([*before, *copy[:last], _NOT_FED], len(before) + first)
        return [
            _likelier(
                rows,
                at - first,
                row[at] if at < len(row) else None,
                copy[at] if at < len(copy) else None,
            )
            for row, at in zip(forms, places, strict=True)
        ]

    def _start(self, row: Sequence[int]) -> int:
        return max(common_prefix(self._own, row), self._first)


def _likelier(rows: Rows, at: int, token: int | None, own: int | None) -> float:
    """ln p of a token less that of another one. None is the end, whatever token stands for it: the likeliest
    one beside the other."""
    if token is None and own is None:
        return 0.0
    if token is None:
        token = rows.best_beside(at, own if own is not None else -1)
    if own is None:
        own = rows.best_beside(at, token)
    return rows.likelier(at, token, own)
