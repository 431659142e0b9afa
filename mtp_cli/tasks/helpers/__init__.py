"""Checkers that other people wrote, as sources of proposals. None is needed; each is an optional extra.

A helper never decides: what it proposes is judged by the model like everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from mtp_cli.tasks.variants import Variant


class Helper(Protocol):
    """One checker, made ready."""

    name: str

    def proposals(self, text: str) -> Iterable[Variant]:
        """Edits of an English sentence; several for one place where it is not sure."""
        ...

    def knows(self, word: str) -> bool:
        """True for a lower-case word of its dictionary; False also where it has none."""
        ...


def _harper(dialect: str) -> Helper:
    from mtp_cli.tasks.helpers.harper import Harper

    return Harper(dialect)


def _dictionary(dialect: str) -> Helper:
    from mtp_cli.tasks.helpers.dictionary import Dictionary

    return Dictionary()


HELPERS: dict[str, Callable[[str], Helper]] = {"harper": _harper, "dictionary": _dictionary}
"""name -> what makes it ready. Raises ImportError where its package is missing."""


def ready(names: Iterable[str], dialect: str) -> list[Helper]:
    """Those of `names` whose packages are there."""
    found: list[Helper] = []
    for name in names:
        try:
            found.append(HELPERS[name](dialect))
        except ImportError:
            continue
    return found
