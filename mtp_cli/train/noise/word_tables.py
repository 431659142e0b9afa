"""Word lists as compact text."""

from __future__ import annotations


def read_table(text: str) -> dict[str, tuple[str, ...]]:
    """ "right: wrong, wrong | right: wrong" as a mapping; "_" stands for a space."""
    entries = (entry.partition(":") for entry in text.replace("\n", "|").replace("_", " ").split("|"))
    return {
        right.strip(): tuple(form.strip() for form in wrong.split(","))
        for right, _, wrong in entries
        if wrong
    }


def read_words(text: str) -> frozenset[str]:
    """The words of `text`."""
    return frozenset(text.split())
