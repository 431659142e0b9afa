"""Plain text: an article, a chat log or a list of notifications, told apart by its lines."""

from __future__ import annotations

import re

from mtp_cli import encodings
from mtp_cli.readers.document import Document, Kind, Message, ReadError, chat_text, notification_text

_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_HOUR = r"\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm]\.?)?"
_STAMP = rf"(?:\[?\(?(?P<time>(?:{_DAY},?\s+(?:at\s+)?)?{_HOUR})\]?\)?\s*[-–—:]?\s*)"
_NAME = r"(?P<sender>#?[^\W\d_](?:[\w .'’()-]{0,38}[\w.')#])?#?|\+\d[\d -]{6,18}\d|#\w+#)"
_SPEAKER = re.compile(rf"(?:{_STAMP})?(?:<(?P<nick>[^<>\s]{{1,40}})>\s*|{_NAME}\s*:\s+)(?P<text>\S.*)")
_STAMPED = re.compile(rf"{_STAMP}(?:<[^<>\s]{{1,40}}>|{_NAME}\s*:\s)")
_DATED = re.compile(rf"\[?{_DAY},?\s+{_HOUR}")
"""How programs begin a line of their own: "Anna joined"."""
_LABELS = re.compile(
    r"(?:note|notes|warning|example|examples|todo|see|ps|p\.s|e\.g|summary|question|answer|q|a|https?|title|author|date|"
    r"subject|from|to|step \d+|chapter \d+)\Z",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"(?:<media omitted>|.*end-to-end encrypted.*|(?:image|video|audio|sticker) omitted)\Z", re.IGNORECASE
)
_LEAST_CHAT_LINES = 3
_CHAT_SHARE = 0.6
_FIELD = re.compile(r"\s*(?:\t|\s\|\s|\s·\s|\s•\s)\s*")
_CLOCK = re.compile(
    rf"(?:{_DAY}[ T,]*)?{_HOUR}|\d{{1,4}}\s?(?:s|m|min|h|d)(?: ago)?|now|yesterday", re.IGNORECASE
)


def decode(name: str, data: bytes) -> str:
    """The text without a byte-order mark. Raises ReadError."""
    try:
        return encodings.decode(data).text
    except encodings.NoTextError as error:
        raise ReadError(f"{name} is {error}") from None


def read(name: str, text: str, kind: Kind | None) -> Document:
    """A text without markup."""
    if kind in (None, Kind.notifications):
        listed = notifications(text, asked=kind is Kind.notifications)
        if listed:
            return Document(name, notification_text(listed), Kind.notifications, tuple(listed))
    if kind in (None, Kind.chat):
        said = messages(text, asked=kind is Kind.chat)
        if said:
            return Document(name, chat_text(said), Kind.chat, tuple(said))
    return Document(name, text.replace("\f", "\n\n"), kind or Kind.article)


def messages(text: str, *, asked: bool = False) -> list[Message]:
    """The messages of a chat log ("[10:32] Anna: text", "<anna> text", "Anna: text"), or nothing when this is
    none. A line without a name goes on with the message before it. `asked`: a person said that it is one."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = [_SPEAKER.match(line.strip().lstrip("\u200e\u200f")) for line in lines]
    spoken = [match for match in found if match and not _LABELS.match(_sender(match))]
    stamped = sum(bool(_STAMPED.match(line.strip().lstrip("\u200e\u200f"))) for line in lines)
    if not spoken or not (asked or _is_chat(len(lines), spoken, stamped)):
        return []
    said: list[Message] = []
    for line, match in zip(lines, found, strict=True):
        if match and not _LABELS.match(_sender(match)):
            said.append(Message(match["text"].strip(), _sender(match), match["time"] or ""))
        elif said and not _DATED.match(line.strip()):
            last = said[-1]
            said[-1] = Message(f"{last.text} {line.strip()}", last.sender, last.time)
    return [message for message in said if not _SYSTEM.match(message.text)]


def _is_chat(lines: int, spoken: list[re.Match[str]], stamped: int) -> bool:
    """Many lines with a name in front; and without times the same few names again and again."""
    if len(spoken) < min(_LEAST_CHAT_LINES, lines) or len(spoken) < 2 or len(spoken) < _CHAT_SHARE * lines:
        return False
    names = {_sender(match) for match in spoken}
    return (
        stamped >= len(spoken) // 2
        or (len(spoken) >= 2 * len(names) and len(names) > 1)
        or all(name.startswith("#") for name in names)
    )


def _sender(match: re.Match[str]) -> str:
    return (match["nick"] or match["sender"] or "").strip()


def notifications(text: str, *, asked: bool = False) -> list[Message]:
    """A list of notifications, one a line: app, sender, time and text between tabs, " | " or " · ". Nothing
    when this is none."""
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [_FIELD.split(line.strip()) for line in lines]
    if asked:
        return [_notification(row) for row in rows]
    whole = [row for row in rows if len(row) >= 4 and any(_CLOCK.fullmatch(field) for field in row[:3])]
    return [_notification(row) for row in rows] if len(whole) == len(rows) >= 2 else []


def _notification(row: list[str]) -> Message:
    """Fields in the order app, sender, text, with the time anywhere before the text."""
    time = next((field for field in row[:-1] if _CLOCK.fullmatch(field)), "")
    if time:
        row = [field for at, field in enumerate(row) if at != row.index(time)]
    if len(row) == 1:
        spoken = _SPEAKER.match(row[0])
        if spoken:
            return Message(spoken["text"].strip(), _sender(spoken), time or spoken["time"] or "")
        return Message(row[0], time=time)
    app, sender = (row[0], "") if len(row) == 2 else (row[0], row[1])
    return Message(" ".join(row[2:] or row[1:]), sender, time, app)
