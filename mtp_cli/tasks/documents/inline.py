"""Marks inside a paragraph: what the model does not get to see, and what it sees but must not change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from mtp_cli.tasks.documents.document import Span, Stretch
from mtp_cli.tasks.documents.lines import merged

_TARGET = r"\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
_MARKDOWN = re.compile(
    r"(?P<escape>\\(?:[!-/:-@\[-`{-~]|\r?\n))"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<math>\$\$.+?\$\$|\$(?=\S)[^$\n]*(?<=\S)\$(?!\d))"
    r"|(?P<comment><!--.*?-->)|(?P<auto><[A-Za-z][\w+.-]*:[^\s<>]*>|<[^\s<>@]+@[^\s<>@]+>)"
    r"|(?P<tag></?[A-Za-z][^<>]*>)"
    rf"|(?P<image>!\[[^\[\]]*\](?:{_TARGET}|\[[^\[\]]*\]))"
    r"|(?P<wiki>\[\[[^\[\]]+\]\])|(?P<note>\[[\^!@][^\[\]\s]+\]:?)"
    rf"|(?P<close>\](?:{_TARGET}|\[[^\[\]]*\]))|(?P<open>\[)|(?P<shut>\])"
    r"|(?P<stars>\*+|~~)|(?P<unders>(?<!\w)_+|_+(?!\w))"
    r"|(?P<bullet>(?:(?<=\n)|\A)[ \t]*[•·▪◦‣](?=\s))"
    r"|(?P<emoji>(?<![\w:]):[a-z0-9_+-]+:(?![\w:]))",
    re.DOTALL,
)
_HIDDEN = ("comment", "tag", "image", "bullet")
_FIXED = ("escape", "code", "math", "auto", "wiki", "note", "emoji")


@dataclass(slots=True)
class Marks:
    """Places in a text: `hidden` ones are left out, `fixed` ones stay."""

    hidden: list[Span] = field(default_factory=list)
    fixed: list[Span] = field(default_factory=list)


def markdown(text: str, labels: Collection[str] = ()) -> Marks:
    """The marks of a Markdown paragraph. `labels`: the upper-case labels that links refer to."""
    marks = Marks()
    opened: list[int] = []
    for found in _MARKDOWN.finditer(text):
        kind = found.lastgroup or ""
        if kind == "ticks":
            kind = "code"
        if kind in _HIDDEN:
            marks.hidden.append(found.span())
        elif kind in _FIXED:
            marks.fixed.append(found.span())
        elif kind == "open":
            opened.append(found.start())
        elif kind in ("close", "shut"):
            _close(text, found, kind, opened, labels, marks)
        elif kind in ("stars", "unders") and _is_delimiter(text, found.start(), found.end()):
            marks.hidden.append(found.span())
        elif kind in ("stars", "unders"):
            marks.fixed.append(found.span())
    return marks


def _close(
    text: str, found: re.Match[str], kind: str, opened: list[int], labels: Collection[str], marks: Marks
) -> None:
    """A link ends, or a bracket."""
    if not opened:
        if kind == "close":
            marks.fixed.append(found.span())
        return
    start = opened.pop()
    label = " ".join(text[start + 1 : found.start()].split()).upper()
    if kind == "shut":
        if label in labels:
            marks.fixed.append((start, found.end()))
    elif found.group() == "][]":
        marks.fixed.append((start, found.end()))
    else:
        marks.hidden += ((start, start + 1), found.span())


def _is_delimiter(text: str, start: int, end: int) -> bool:
    """True for marks around words (*so*), False for those between (2*3) and for lone ones."""
    left, right = text[start - 1 : start] if start else "", text[end : end + 1]
    inside = left.isalnum() and right.isalnum()
    lone = (not left or left.isspace()) and (not right or right.isspace())
    return not inside and not lone


_RST = re.compile(
    r"(?P<literal>``.+?``)|(?P<role>:[\w:+.-]+:`[^`]+`|`[^`]+`:[\w:+.-]+:)"
    r"|(?P<open>`)(?=[^`<>]*[^\s`<>]\s*<[^<>`]+>`__?)|(?P<target>\s*<[^<>`]+>`__?)"
    r"|(?P<ref>`[^`]+`(?:__?)?)|(?P<subst>\|[^|\s](?:[^|]*[^|\s])?\|_{0,2})"
    r"|(?P<note>\[[#*\w-]+\]_)|(?P<name>\b\w+__?(?!\w))|(?P<escape>\\.)"
    r"|(?P<stars>\*+)",
    re.DOTALL,
)


def rst(text: str) -> Marks:
    """The marks of a reStructuredText paragraph."""
    marks = Marks()
    for found in _RST.finditer(text):
        kind = found.lastgroup
        hidden = kind in ("open", "target") or (
            kind == "stars" and _is_delimiter(text, found.start(), found.end())
        )
        (marks.hidden if hidden else marks.fixed).append(found.span())
    return marks


def placed(source: str, spans: Sequence[Span], marks: Marks) -> tuple[tuple[Span, ...], list[Span]]:
    """(spans without what is hidden, fixed places) in the source, for marks in the text of `spans`."""
    stretch = Stretch(source, spans)
    shown = merged(_shown(stretch, sorted(marks.hidden)))
    fixed = [span for start, end in marks.fixed for span in stretch.slice(start, end).spans]
    return shown, fixed


def _shown(stretch: Stretch, hidden: Sequence[Span]) -> Iterator[Span]:
    at = 0
    for start, end in hidden:
        if start > at:
            yield from stretch.slice(at, start).spans
        at = max(at, end)
    if at < len(stretch.text):
        yield from stretch.slice(at, len(stretch.text)).spans
