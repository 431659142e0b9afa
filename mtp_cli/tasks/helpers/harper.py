"""Harper, a rule checker for English (package harper-py)."""

from __future__ import annotations

from collections.abc import Iterator

from harper import Dialect, Language, Linter, SuggestionKind

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
            kind = "spelling" if lint.lint_kind in ("Spelling", "Typo") else "rule"
            for suggestion in lint.suggestions[:_MOST_SUGGESTIONS]:
                start, end = lint.span.start, lint.span.end
                if suggestion.kind == SuggestionKind.INSERT_AFTER:
                    start = end
                yield Variant(start, end, suggestion.replacement_text, kind)
