"""Mail: a message (.eml) or a mailbox (.mbox) -> who wrote what, without quotes of earlier mails."""

from __future__ import annotations

import codecs
import re
from email import message_from_bytes, policy
from email.message import EmailMessage

from mtp_cli.readers.document import Document, Kind, Message, ReadError, chat_text, counted, one_line

_FROM_LINE = re.compile(rb"^From [^\r\n]*\d{4}[^\r\n]*\r?\n", re.MULTILINE)
_ATTRIBUTION = re.compile(
    r"(?:(?:on|am|le|el|il)\b.{4,160}?(?:wrote|schrieb|a écrit|escribió|ha scritto)\b.{0,80}?:"
    r"|.{3,80}\bwrote:)\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
_ORIGINAL = re.compile(
    r"^(?:-{3,}\s*(?:original message|ursprüngliche nachricht)\s*-{3,}|_{20,})\s*$", re.IGNORECASE
)
_SIGNATURE = re.compile(r"^-- ?$")


def read(name: str, data: bytes, kind: Kind, *, mailbox: bool) -> Document:
    """One or many mails. Raises ReadError."""
    data = data.removeprefix(codecs.BOM_UTF8)
    mails = [mail for mail in _split(data) if mail.strip()] if mailbox else [data]
    messages: list[Message] = []
    texts: list[str] = []
    files = quoted = 0
    for raw in mails:
        mail = message_from_bytes(raw, policy=policy.default)
        body, lines = without_quotes(_body(mail))
        files += sum(1 for _ in mail.iter_attachments()) if mail.is_multipart() else 0
        quoted += lines
        sender = _header(mail, "from")
        subject = _header(mail, "subject")
        if not (body.strip() or subject):
            continue
        messages.append(Message(body.strip(), _person(sender), _header(mail, "date")))
        head = [f"From: {_person(sender)}"] * bool(sender) + [f"Subject: {subject}"] * bool(subject)
        texts.append("\n".join(head) + "\n\n" * bool(head) + body.strip())
    if not texts:
        raise ReadError(f"{name}: no mail with text found in it")
    left_out = [counted(files, "attachment")] * bool(files)
    left_out += [counted(quoted, "line of quoted mail", "lines of quoted mail")] * bool(quoted)
    text = chat_text(messages) if kind is Kind.chat else "\n\n".join(texts) + "\n"
    return Document(name, text, kind, tuple(messages), tuple(left_out))


def _split(data: bytes) -> list[bytes]:
    """The mails of an mbox; ">From " at the start of a line was "From " once."""
    starts = [
        found
        for found in _FROM_LINE.finditer(data)
        if not found.start() or data[: found.start()].endswith((b"\n\n", b"\n\r\n"))
    ]
    if not starts:
        return [data]
    ends = [found.start() for found in starts[1:]] + [len(data)]
    return [
        re.sub(rb"^>(>*From )", rb"\1", data[found.end() : end], flags=re.MULTILINE)
        for found, end in zip(starts, ends, strict=True)
    ]


def _body(mail: EmailMessage) -> str:
    """The text part, else the HTML part as text."""
    try:
        part = mail.get_body(("plain", "html"))
        if part is None:
            return ""
        content = part.get_content()
    except (LookupError, ValueError, UnicodeError, AttributeError):
        return _undecoded(mail)
    if not isinstance(content, str):
        return ""
    if part.get_content_subtype() == "html":
        from mtp_cli.readers import html

        return html.text_of(content)
    return content.replace("\r\n", "\n")


def _undecoded(mail: EmailMessage) -> str:
    """A body in a character set that Python does not know, or that is damaged."""
    payload = mail.get_payload(decode=True)
    return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""


def without_quotes(body: str) -> tuple[str, int]:
    """(`body` without quoted mails and signature, lines left out). A body of quotes alone stays."""
    kept: list[str] = []
    dropped = 0
    lines = body.split("\n")
    for at, line in enumerate(lines):
        if line.startswith(">"):
            dropped += 1
            if kept and (cut := _attribution(kept)):
                del kept[-cut:]
                dropped += cut
        elif _ORIGINAL.match(line) or _SIGNATURE.match(line):
            dropped += sum(bool(rest.strip()) for rest in lines[at:]) if _ORIGINAL.match(line) else 0
            break
        else:
            kept.append(line)
    text = "\n".join(kept)
    return (text, dropped) if text.strip() else (body, 0)


def _attribution(kept: list[str]) -> int:
    """How many of the last lines are "On Monday, Kim wrote:"; blank lines behind it count."""
    blank = 0
    while blank < len(kept) and not kept[-1 - blank].strip():
        blank += 1
    for count in (1, 2, 3):
        lines = kept[len(kept) - blank - count : len(kept) - blank]
        if len(lines) == count and _ATTRIBUTION.fullmatch("\n".join(lines).strip()):
            return blank + count
    return 0


def _header(mail: EmailMessage, name: str) -> str:
    try:
        return one_line(str(mail[name] or ""))
    except (ValueError, LookupError, IndexError, AttributeError):  # headers that are broken beyond reading
        return ""


def _person(sender: str) -> str:
    """ "Kim Lee <kim@example.org>" -> "Kim Lee"."""
    named = re.match(r"\s*\"?([^\"<]*?)\"?\s*<[^>]*>", sender)
    return named[1] if named and named[1] else sender.strip("<> ")
