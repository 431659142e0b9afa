"""Which prompt goes with which wish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mtp_cli.readers.document import Kind
from mtp_cli.tasks.prompts import Template, parse_template, template_for
from mtp_cli.tasks.summary_wish import Length, Style, Wish
from mtp_cli.tasks.text_language import NAMES

_WHAT = {
    Kind.article: "text",
    Kind.chat: "conversation",
    Kind.mail: "e-mail",
    Kind.notifications: "messages",
}
_CHAT = {
    Style.paragraph: "Summarize the following {what} in {length}.\n\n{text}",
    Style.bullets: "Summarize the following {what} in {length}.\n\n{text}",
    Style.headline: "Write a short headline for the following {what}.\n\n{text}",
    Style.notification: "Summarize the following {what} in one short sentence.\n\n{text}",
}
_SENTENCES = {Style.headline: 1, Style.notification: 1}
_USUAL = "two or three sentences"
_CHAT_SENTENCES = 2


@dataclass(frozen=True, slots=True)
class Asks:
    """The prompts of one summary: for a text that fits, for one part of a long one, for the parts' notes."""

    whole: Template
    part: Template
    notes: Template


def asks_for(prompts: Mapping[str, Any] | None, *, chat: bool, wish: Wish) -> Asks:
    """From a model's own [prompts], else the defaults. Raises ValueError for a table that is not valid.

    Looked for in this order: summarize-STYLE-KIND, summarize-STYLE (not for paragraphs), summarize-KIND,
    summarize."""
    part = Wish(kind=wish.kind, language=wish.language)
    return Asks(
        _template(prompts, chat, wish),
        _template(prompts, chat, part),
        _template(prompts, chat, replace(wish, kind=Kind.article)),
    )


def _template(prompts: Mapping[str, Any] | None, chat: bool, wish: Wish) -> Template:
    base = template_for("summarize", prompts, chat=chat)
    names = [
        f"summarize-{wish.style.value}-{wish.kind.value}",
        f"summarize-{wish.style.value}",
        f"summarize-{wish.kind.value}",
    ]
    own = next((name for name in names if name in (prompts or {})), None)
    if own is not None:
        found = parse_template(own, (prompts or {})[own])
    elif base.style == "chat" and (wish.style in _SENTENCES or wish.kind is not Kind.article):
        found = replace(
            base, user=_CHAT[wish.style].replace("{what}", _WHAT[wish.kind]).replace("{length}", _USUAL)
        )
    elif base.style == "completion" and wish.style is Style.headline:
        found = replace(base, answer="Headline: {text}", keep_answer_opening=False)
    elif base.style == "completion" and wish.kind is Kind.chat:
        found = replace(
            base,
            user="Conversation:\n{text}\n\n",
            answer="Summary of the conversation: {text}",
            keep_answer_opening=False,
        )
    else:
        found = base
    found = replace(found, max_sentences=_most_sentences(found, wish), user=_sized(found.user, wish))
    if wish.language and found.style == "chat":
        found = replace(found, user=_in_language(found.user, wish.language))
    return found


def _most_sentences(template: Template, wish: Wish) -> int:
    if wish.style in _SENTENCES:
        return _SENTENCES[wish.style]
    if wish.length.sentences:
        return wish.length.sentences
    if wish.length.words:
        return 0
    return (
        min(template.max_sentences or 99, _CHAT_SENTENCES)
        if wish.kind is Kind.chat
        else template.max_sentences
    )


def _sized(user: str, wish: Wish) -> str:
    """`user` with the length in words that a small model knows what to do with."""
    if wish.kind is Kind.chat and not wish.length.words:
        return user.replace(_USUAL, "one or two sentences")
    return user.replace(_USUAL, phrase(wish.length)) if wish.length.words else user


def phrase(length: Length) -> str:
    """What is asked for in words."""
    for words, said in (
        (16, "one short sentence"),
        (30, "one or two sentences"),
        (65, _USUAL),
        (110, "five sentences"),
    ):
        if length.words <= words:
            return said
    return f"about {length.words} words"


def _in_language(user: str, code: str) -> str:
    before, place, after = user.partition("{text}")
    return f"{before.rstrip()} Write in {NAMES.get(code, code)}.\n\n{place}{after}"
