"""From what a model said to the corrected sentence in it."""

from __future__ import annotations

import re

_LABEL = re.compile(
    r"\s*(?:(?:sure|certainly|of course|okay)\b[^:\n]{0,30}?[:.!,]\s+)?"
    r"(?:(?:the\s+)?(?:corrected|revised|fixed|proofread)(?:\s+(?:text|sentence|version))?(?:\s+is)?|correction|"
    r"here(?:'s|’s| is)[^:\n]{0,60}|answer|output|text)\s*:\s*",
    re.IGNORECASE,
)
_GREETING = re.compile(r"\s*(?:sure|certainly|of course|okay)\s*[!.,]\s+", re.IGNORECASE)
_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "`": "`", "**": "**"}


def clean_answer(answer: str, source: str) -> str:
    """`answer` without a label, without quotes around it and without line breaks that `source` lacks."""
    text = answer.strip()
    label = _LABEL.match(text)
    if label and not _LABEL.match(source):
        text = text[label.end() :]
    greeting = _GREETING.match(text)
    if greeting and not _GREETING.match(source):
        text = text[greeting.end() :]
    text = _unquoted(text, source.strip())
    return " ".join(text.split())


def _unquoted(text: str, source: str) -> str:
    for left, right in _PAIRS.items():
        inner = text[len(left) : len(text) - len(right)]
        if len(text) > len(left) + len(right) and text.startswith(left) and text.endswith(right):
            if source.startswith(left) and source.endswith(right):
                return text
            if left not in inner or left not in source:
                return inner.strip()
    return text
