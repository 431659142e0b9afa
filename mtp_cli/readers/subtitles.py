"""Subtitles (.srt, .vtt) -> what is said, without numbers and times."""

from __future__ import annotations

import re

from mtp_cli.readers.document import Document, Kind, Message, chat_text, one_line

_TIMES = re.compile(
    r"(?:(\d{1,3}):)?(\d\d):(\d\d)[,.](\d{3})[ \t]+-->[ \t]+(?:(\d{1,3}):)?(\d\d):(\d\d)[,.](\d{3})[^\n]*"
)
_VOICE = re.compile(r"<v(?:\.[\w.]+)?[ \t]+([^>]+)>")
_NAMED = re.compile(r"(?:>>\s*)?([A-Z][A-Z .'-]{1,30}|[A-Z][a-z]+(?: [A-Z][a-z]+)?):\s+(\S.*)")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|<[\d:.]+>|\{\\[^{}]*\}")
_PAUSE_SECONDS = 4.0
_CHAT_SHARE = 0.3


def read(name: str, text: str, kind: Kind | None) -> Document:
    """A talk as paragraphs (a pause ends one), or as a chat where speakers are named."""
    cues = _cues(text)
    if not cues:
        return Document(name, text, kind or Kind.article)
    named = sum(bool(message.sender) for message, _ in cues)
    if kind is Kind.chat or (kind is None and named >= _CHAT_SHARE * len(cues)):
        said = _joined([message for message, _ in cues])
        return Document(name, chat_text(said), Kind.chat, tuple(said))
    out = ""
    for message, pause in cues:
        lead = "\n\n" if pause > _PAUSE_SECONDS or message.sender else " "
        out += (lead if out else "") + (f"{message.sender}: " if message.sender else "") + message.text
    return Document(name, out + "\n", kind or Kind.article)


def _cues(text: str) -> list[tuple[Message, float]]:
    """(what is said, seconds of silence before it). Lines that roll on from the cue before are taken once."""
    cues: list[tuple[Message, float]] = []
    lines_before: list[str] = []
    end = 0.0
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        times = _TIMES.search(block)
        if not times:
            continue
        start, pause_from, end = _seconds(times, 1), end, _seconds(times, 5)
        lines = [line.strip() for line in block[times.end() :].split("\n") if line.strip()]
        fresh = [line for line in lines if _MARKUP.sub("", line).strip() not in lines_before]
        lines_before = [_MARKUP.sub("", line).strip() for line in lines]
        message = _said(" ".join(fresh))
        if message.text:
            cues.append((message, start - pause_from if cues else 0.0))
    return cues


def _said(line: str) -> Message:
    voice = _VOICE.search(line)
    text = one_line(_MARKUP.sub("", line))
    if voice:
        return Message(text, voice[1].strip())
    named = _NAMED.match(text)
    return Message(named[2], named[1].title() if named[1].isupper() else named[1]) if named else Message(text)


def _joined(messages: list[Message]) -> list[Message]:
    """What one speaker says in several cues is one message."""
    out: list[Message] = []
    for message in messages:
        if out and message.sender in ("", out[-1].sender):
            out[-1] = Message(f"{out[-1].text} {message.text}", out[-1].sender)
        else:
            out.append(message)
    return out


def _seconds(times: re.Match[str], group: int) -> float:
    hours, minutes, seconds, thousandths = (int(times[group + at] or 0) for at in range(4))
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000
