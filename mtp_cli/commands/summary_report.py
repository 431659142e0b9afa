"""What is told about a summary: for JSON, and in words."""

from __future__ import annotations

from typing import Any

from mtp_cli.events import FinishReason
from mtp_cli.readers import Document, Kind
from mtp_cli.tasks.summarize import Summary
from mtp_cli.tasks.summary_wish import Wish
from mtp_cli.tasks.text_language import NAMES, language_of


def record_of(document: Document, wish: Wish, found: Summary) -> dict[str, Any]:
    """The JSON of one summary, without counts of decoding."""
    language = language_of(found.text) or None
    return {
        "source": document.name,
        "summary": found.text,
        "style": wish.style.value,
        "input": document.kind.value,
        "words": found.words,
        "asked_words": wish.length.words if wish.length.strict else None,
        "language": language,
        "asked_language": wish.language or None,
        "input_tokens": found.input_tokens,
        "used_tokens": found.used_tokens,
        "chunks": found.chunks,
        "truncated": found.truncated,
        "left_out": [*document.left_out, *found.left_out],
        "finish_reason": found.finish_reason.value,
        "looped": found.looped,
        "extracted_sentences": found.extracted,
        "unsupported": {"numbers": list(found.unsupported.numbers), "names": list(found.unsupported.names)},
    }


def warnings(found: Summary, wish: Wish, what: str) -> list[str]:
    """What a person should know."""
    said: list[str] = []
    if found.left_out:
        said.append(f"left out of {what}: {', '.join(found.left_out)}")
    elif found.truncated:
        said.append(
            f"only the first {found.used_tokens:,} of {found.input_tokens:,} tokens were read, as asked; "
            "the rest is left out"
        )
    if found.unfinished and found.finish_reason in (FinishReason.TOKEN_LIMIT, FinishReason.CONTEXT_FULL):
        more = "--max-tokens" if found.finish_reason is FinishReason.TOKEN_LIMIT else "--ctx"
        said.append(
            f"{what} was cut at its limit, before an unfinished sentence; a larger {more} gives it more room"
        )
    if wish.kind is Kind.notifications:
        pass  # lines of a digest may well be the messages' own
    elif found.extracted == len(found.sentences) > 0:
        said.append(f"the model gave nothing that can be shown; {what} is a sentence of the text itself")
    elif found.extracted:
        said.append(
            f"{found.extracted} of {len(found.sentences)} sentences are the text's own, to meet the length"
        )
    length = wish.length
    if length.strict and not wish.one_line and not length.least <= found.words <= length.most:
        said.append(f"{what} has {found.words} words instead of {length.words}: the text gave no better")
    language = language_of(found.text)
    if wish.language and language and language != wish.language:
        said.append(f"asked for {NAMES[wish.language]}, but {what} is in {NAMES[language]}")
    return said + _inventions(found)


def _inventions(found: Summary) -> list[str]:
    """What stands in the summary and not in the text."""
    facts = found.unsupported
    if not facts.count:
        return []
    many = "s" if facts.count > 1 else ""
    shown = ", ".join((*facts.names, *facts.numbers))
    return [f"{facts.count} name{many} or number{many} not in the text: {shown}"]
