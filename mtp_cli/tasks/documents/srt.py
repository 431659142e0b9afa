"""Subtitles (.srt): the text of the cues; a sentence may go over several of them."""

from __future__ import annotations

import re

from mtp_cli.tasks.documents.document import Block, Document, Span
from mtp_cli.tasks.documents.inline import Marks, placed
from mtp_cli.tasks.documents.lines import content, lines, merged

_TIME = re.compile(r"\s*\d+:\d\d:\d\d[,.]\d+\s*-->\s*\d+:\d\d:\d\d[,.]\d+.*")
_SPEAKER = re.compile(r"\s*[-–—]\s*")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|\{\\[^{}]*\}")
_ENDS = re.compile(r"[.!?…♪)\]]['\"”’]?\s*(?:</?\w[^<>]*>)*\s*")


def read(text: str) -> Document:
    """See document.Reader. Numbers, times and tags are no prose."""
    blocks: list[Block] = []
    block: list[Span] = []

    def end() -> None:
        marks = Marks([found.span() for found in _TAG.finditer("".join(text[a:b] for a, b in block))])
        shown, _ = placed(text, merged(iter(block)), marks)
        if shown:
            blocks.append(Block(shown, sentence=False))
        block.clear()

    rows = lines(text)
    in_cue = False
    for at, row in enumerate(rows):
        line = content(text, row)
        if not line.strip():
            in_cue = False
        elif _TIME.fullmatch(line):
            in_cue = True
        elif in_cue and not (at + 1 < len(rows) and _TIME.fullmatch(content(text, rows[at + 1]))):
            speaker = _SPEAKER.match(line)
            before = text[block[-1][0] : block[-1][1]] if block else ""
            if speaker or (block and _ENDS.search(before) and _ENDS.search(before).end() == len(before)):  # type: ignore[union-attr]
                end()
            block.append((row[0] + (speaker.end() if speaker else 0), row[1]))
    end()
    return Document(text, tuple(blocks))
