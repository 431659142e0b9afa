"""What every reader returns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Kind(str, Enum):
    """What a text is."""

    article = "article"
    chat = "chat"
    mail = "mail"
    notifications = "notifications"


_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]?|[\x00-\x08\x0e-\x1b\x7f-\x9f]")
_NAME_CHARS = 40
_MOST_NAMES = 4


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat, a mailbox or a list of notifications. What is not known is ""."""

    text: str
    sender: str = ""
    time: str = ""
    app: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One text. `text` has paragraphs with blank lines between them; in a chat each line is a message.

    `left_out` names what of the file is not in `text`, for the person."""

    name: str
    text: str
    kind: Kind
    messages: tuple[Message, ...] = ()
    left_out: tuple[str, ...] = ()


class ReadError(Exception):
    """A file that cannot be read: one line that says why and what to do."""


def chat_text(messages: Sequence[Message]) -> str:
    """Messages as lines "Sender: text"; a sender that goes on is not named again and again."""
    return "\n".join(
        f"{message.sender}: {one_line(message.text)}" if message.sender else one_line(message.text)
        for message in messages
        if message.text.strip()
    )


def speakers(text: str) -> list[str]:
    """Who talks in a chat's text, in the order of their first line."""
    named = (line.partition(": ")[0] for line in text.splitlines() if ": " in line)
    return list(dict.fromkeys(name for name in named if 0 < len(name) <= _NAME_CHARS))


def talk_of(names: Sequence[str]) -> str:
    """ "Anna and Ben talk about"; "" where fewer than two talk."""
    if len(names) < 2:
        return ""
    *first, last = names if len(names) <= _MOST_NAMES else [*names[: _MOST_NAMES - 1], "others"]
    return f"{', '.join(first)} and {last} talk about"


def notification_text(messages: Sequence[Message]) -> str:
    """Messages as lines "app, sender: text"."""
    return "\n".join(
        ": ".join(
            part
            for part in (", ".join(filter(None, (message.app, message.sender))), one_line(message.text))
            if part
        )
        for message in messages
    )


def one_line(text: str) -> str:
    """`text` with single blanks for white space of any kind, and without what would steer a terminal."""
    return " ".join(_CONTROL.sub("", text).split())


def counted(number: int, what: str, plural: str = "") -> str:
    """ "1 picture", "3 pictures"."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"
