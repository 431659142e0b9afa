"""The model's own opinion of an edit: how much likelier it makes the sentence.

Both sentences are scored in the place of a text in the task's prompt, behind its worked examples. So the
prompt's beginning, which is in the cache for every sentence, serves here too, and only what differs and a
little behind it is computed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mtp_cli.tasks.prompts import Prompt, common_prefix
from mtp_cli.tasks.session import Session

_TOKENS_BEHIND = 4
"""Tokens behind an edit whose likelihood still counts."""


class Judge:
    """Scores other forms of one sentence with the model of a session."""

    def __init__(self, session: Session, prompt: Prompt, text: str) -> None:
        """Computes the sentence itself. Raises EngineError."""
        self._session = session
        self._prompt = prompt
        self._own = prompt.as_text(text)
        self._first = prompt.before_tokens
        self._rows = session.log_probs(self._own, self._first)
        self._text = text
        self._starts = self._token_starts()
        self._said = [float(self._rows[at, token]) for at, token in enumerate(self._own[self._first :])]

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
        """True when there is room in the context to score forms of `text`."""
        return len(prompt.tokens(text)) + 2 * _TOKENS_BEHIND < n_ctx

    def first_gain(self, other: str) -> float:
        """The same for the first token alone in which another form differs: a cheap look ahead that computes
        nothing new."""
        row = self._prompt.as_text(other)
        at = self._start(row)
        if at >= min(len(row), len(self._own)):
            return -math.inf
        return float(self._rows[at - self._first, row[at]]) - self._said[at - self._first]

    def insertion_gain(self, text: str, at: int, words: str) -> float | None:
        """first_gain of `words` put in at a place of `text`, without cutting the whole sentence into tokens
        again; None where that cannot be said."""
        if text.strip() != self._text or at not in self._starts:
            return None
        place = self._starts[at]
        return float(self._rows[place, self._prompt.first_token(words)]) - self._said[place]

    def gain(self, other: str) -> float:
        """ln p(other) - ln p(sentence), over what differs and a few tokens behind. Raises EngineError."""
        row = self._prompt.as_text(other)
        start = self._start(row)
        behind = common_prefix(self._own[start:][::-1], row[start:][::-1])
        behind = max(behind - _TOKENS_BEHIND, 0)
        wanted = row[: len(row) - behind]
        rows = self._session.log_probs(wanted, start)
        said = sum(float(rows[at, token]) for at, token in enumerate(wanted[start:]))
        return said - sum(self._said[start - self._first : len(self._said) - behind])

    def _start(self, row: Sequence[int]) -> int:
        return max(common_prefix(self._own, row), self._first)
