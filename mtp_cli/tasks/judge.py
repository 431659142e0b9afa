"""The model's own opinion of an edit: how much likelier it makes the sentence.

Both sentences are scored in the place of a text in the task's prompt, behind its worked examples. So the
prompt's beginning, which is in the cache for every sentence, serves here too, and only what differs and a
little behind it is computed."""

from __future__ import annotations

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
        self._said = [float(self._rows[at, token]) for at, token in enumerate(self._own[self._first :])]

    @staticmethod
    def fits(prompt: Prompt, text: str, n_ctx: int) -> bool:
        """True when there is room in the context to score forms of `text`."""
        return len(prompt.tokens(text)) + 2 * _TOKENS_BEHIND < n_ctx

    def likely(self, others: Sequence[str], least: float, most: int) -> list[str]:
        """Of other forms of the sentence the `most` whose first other token gains most, and at least `least`:
        a cheap look ahead that computes nothing new."""
        found: list[tuple[float, str]] = []
        for other in others:
            row = self._prompt.as_text(other)
            at = self._start(row)
            if at < min(len(row), len(self._own)):
                gain = float(self._rows[at - self._first, row[at]]) - self._said[at - self._first]
                if gain >= least:
                    found.append((gain, other))
        return [other for _, other in sorted(found, reverse=True)[:most]]

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
