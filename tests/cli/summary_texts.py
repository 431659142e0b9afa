"""Answers and texts for tests of summaries."""

from __future__ import annotations

import re


def three(prompt: str) -> str:
    return " The roof leaks badly. The bill rises to 415,000. The council met on Monday."


def about(prompt: str) -> str:
    """Two sentences of 12 words about what is in the prompt."""
    last = re.findall(r"\d+", prompt)[-1] if re.search(r"\d", prompt) else "0"
    first = f"Part {last} tells of the roof and of what {last} men did."
    return f" {first} Then case {last} went on for days until all {last} left."


def long_text(sentences: int = 600) -> str:
    return "\n\n".join(f"The case number {number} is about a cat on a mat." for number in range(sentences))
