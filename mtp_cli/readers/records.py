"""JSON and JSON lines: messages that programs export (chats, notifications), or one text in a field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mtp_cli.readers.document import Document, Kind, Message, ReadError, chat_text, notification_text

_TEXT = ("text", "body", "message", "content", "msg", "bigText")
_SENDER = ("sender", "from", "author", "user", "username", "name", "title", "role", "sender_name")
_TIME = ("time", "when", "timestamp", "date", "ts", "postTime", "created_at")
_APP = ("app", "appName", "application", "packageName", "package", "app_name")
_LISTS = ("messages", "notifications", "items", "conversation", "data")
_WHOLE = ("text", "body", "content", "article", "document", "dialogue")


def read(name: str, text: str, kind: Kind | None) -> Document:
    """A JSON file. Raises ReadError for what is no JSON or holds no text that could be found."""
    found = list(_messages(_parse(name, text)))
    if not found:
        raise ReadError(
            f'{name}: no messages found in this JSON; a list of objects with "text" and, as known, '
            '"app", "sender" and "time" is read'
        )
    if kind is None:
        apps = sum(bool(message.app) for message in found)
        kind = Kind.notifications if 2 * apps > len(found) else Kind.chat
        if kind is Kind.chat and not any(message.sender for message in found):
            kind = Kind.article
    if kind is Kind.notifications:
        return Document(name, notification_text(found), kind, tuple(found))
    if kind is Kind.chat:
        return Document(name, chat_text(found), kind, tuple(found))
    return Document(name, "\n\n".join(message.text for message in found), kind, tuple(found))


def _parse(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ReadError(f"{name} is JSON of too many levels to read") from None
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            rows = [json.loads(line) for line in lines]
        except ValueError:
            raise ReadError(f"{name} is not valid JSON: {error}") from None
        return rows


def _messages(data: Any) -> Iterator[Message]:
    if isinstance(data, dict):
        rows = next((data[key] for key in _LISTS if isinstance(data.get(key), list)), None)
        if rows is not None:
            yield from _messages(rows)
            return
        whole = next((data[key] for key in _WHOLE if isinstance(data.get(key), str)), None)
        if whole is not None:
            data = [data]
    if isinstance(data, list):
        for row in data:
            if isinstance(row, str) and row.strip():
                yield Message(row.strip())
            elif isinstance(row, dict):
                message = _message(row)
                if message.text.strip():
                    yield message


def _message(row: dict[str, Any]) -> Message:
    text = _field(row, (*_TEXT, "dialogue", "article", "document"))
    return Message(text, _field(row, _SENDER), _field(row, _TIME), _field(row, _APP))


def _field(row: dict[str, Any], names: tuple[str, ...]) -> str:
    """The first of these fields that says something, as text."""
    for name in names:
        value = row.get(name)
        if isinstance(value, dict):  # {"author": {"name": "Anna"}}
            value = next((value[key] for key in ("name", "username", "display_name") if key in value), None)
        if isinstance(value, list):  # a text in pieces, some of them with a form
            value = "".join(
                piece if isinstance(piece, str) else str(piece.get("text", ""))
                for piece in value
                if isinstance(piece, str | dict)
            )
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""
