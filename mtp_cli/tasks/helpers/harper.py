"""Harper, a rule checker for English (package harper-py)."""

from __future__ import annotations

from collections.abc import Iterator

from harper import Dialect, Language, Lint, Linter, Suggestion, SuggestionKind

from mtp_cli.tasks.edits import Edit, apply, overlap
from mtp_cli.tasks.variants import Variant

_LEFT_OUT = frozenset(("Formatting", "Readability", "Style", "Enhancement", "Redundancy", "Regionalism"))
_MOST_SUGGESTIONS = 3


class Harper:
    """See Helper."""

    name = "harper"

    def __init__(self, dialect: str) -> None:
        self._linter = Linter(Dialect.BRITISH if dialect == "gb" else Dialect.AMERICAN)

    def proposals(self, text: str) -> Iterator[Variant]:
        """See Helper. Rules of layout and taste are left out."""
        for lint in self._linter.lint(text, language=Language.PLAINTEXT):
            if lint.lint_kind in _LEFT_OUT or not lint.problem_text.strip():
                continue
            for suggestion in lint.suggestions[:_MOST_SUGGESTIONS]:
                kind = "spelling" if lint.lint_kind in ("Spelling", "Typo") else "rule"
                if lint.problem_text.replace(" ", "") == suggestion.replacement_text:
                    kind = "joined"
                yield Variant(*_place(lint, suggestion), suggestion.replacement_text, kind)

    def knows(self, word: str) -> bool:
        """See Helper."""
        return False

    def alone(self, text: str) -> str:
        """What it makes of a sentence when nobody judges: the first suggestion of every rule, those of taste
        too."""
        edits: list[Edit] = []
        lints = self._linter.lint(text, language=Language.PLAINTEXT)
        for lint in sorted(lints, key=lambda lint: (lint.span.start, lint.span.end)):
            for suggestion in lint.suggestions[:1]:
                edit = Edit(*_place(lint, suggestion), "", suggestion.replacement_text, "")
                if not any(overlap(edit, other) for other in edits):
                    edits.append(edit)
        return apply(text, edits)


def _place(lint: Lint, suggestion: Suggestion) -> tuple[int, int]:
    start, end = lint.span.start, lint.span.end
    return (end, end) if suggestion.kind == SuggestionKind.INSERT_AFTER else (start, end)
