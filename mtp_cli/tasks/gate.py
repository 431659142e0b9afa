"""When an answer has said enough: stop texts, a limit of sentences, and an end to going in circles."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtp_cli.tasks.split import ends_in_abbreviation

_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|(?<=\S)(?=\n)|[。！？]")
_PREAMBLE = re.compile(
    r"\s*(?:(?:sure|certainly|of course|okay|ok)\b[^\n:]{0,40}?[.!:,]\s*)?"
    r"(?:(?:here(?:'s|’s| is| are)|below is|the following is)\b[^\n:.]{0,70}:|summary(?: of the text)?:)?\s*",
    re.IGNORECASE,
)
_CHATTY = re.compile(r"\s*(?:sure|certainly|of course|ok|here|below|the following|summary)", re.IGNORECASE)
_CHATTY_LEAST = 13
_PREAMBLE_MOST = 120
_KEY_LEAST = 12
"""Shorter sentences ("Yes.") may come again."""
_LOOP_PERIODS = range(2, 33)
_LOOP_LEAST_CHARS = 48
_LOOP_REPEATS = 4


def strip_preamble(text: str) -> str:
    """`text` without leading white space and without a chatty opening ("Here is a summary:")."""
    found = _PREAMBLE.match(text)
    return text[found.end() :] if found and text[found.end() :].strip() else text.lstrip()


def is_looping(text: str) -> bool:
    """True when the end of `text` is one short run of characters over and over."""
    for period in _LOOP_PERIODS:
        length = max(period * _LOOP_REPEATS, _LOOP_LEAST_CHARS)
        tail = text[-length:]
        if len(tail) == length and tail[period:] == tail[:-period] and not tail.isspace():
            return True
    return False


class AnswerGate:
    """A TextGate (see generate.py) for one answer.

    Text of a sentence is held back while it only repeats the beginning of an earlier sentence; a whole
    repeated sentence ends the answer and is not shown. `stops` end the answer and are not shown. After
    `max_sentences` sentences (0: no limit) the answer ends, with its last sentence shown. White space
    is shown only when more text follows it, and never at the beginning. `opening` is shown first;
    `preamble` looks for a chatty opening and leaves it out."""

    def __init__(
        self, stops: Sequence[str] = (), *, max_sentences: int = 0, preamble: bool = False, opening: str = ""
    ) -> None:
        self.stopped = False
        self._stops = [stop for stop in stops if stop]
        self._max_sentences = max_sentences
        self._opened = not preamble
        self._open = opening  # the sentence that is being said, from its first character
        self._sent = 0  # how much of it has been shown
        self._tail = ""  # end of all that has been shown
        self._earlier: list[str] = []

    def feed(self, text: str) -> str:
        """See TextGate."""
        if self.stopped:
            return ""
        self._open += text
        if not self._opened and not self._can_open():
            return ""
        return self._drain(final=False)

    def finish(self) -> str:
        """See TextGate."""
        return "" if self.stopped else self._drain(final=True)

    def _can_open(self) -> bool:
        """True when it is clear whether the answer has a chatty opening."""
        if len(self._open) < _CHATTY_LEAST:
            return False
        chatty = _CHATTY.match(self._open) and len(self._open) < _PREAMBLE_MOST
        return not chatty or re.search(r":\s*\S", self._open) is not None

    def _drain(self, *, final: bool) -> str:
        """Move what may be shown out of the open sentence."""
        if not self._opened:
            self._open = strip_preamble(self._open)
            self._opened = True
        if not self._tail and not self._sent:
            self._open = self._open.lstrip()
        cut = min((at for at in map(self._open.find, self._stops) if at >= 0), default=-1)
        if cut >= 0:
            self._open, final = self._open[:cut], True
        out = ""
        while not self.stopped and (end := first_sentence_end(self._open)):
            out += self._close_sentence(end)
        if not self.stopped:
            out += self._partial(final)
        self._tail = (self._tail + out)[-256:]
        if cut >= 0 or is_looping(self._tail):
            self.stopped = True
        return out

    def _close_sentence(self, end: int) -> str:
        key = _key(self._open[:end])
        if len(key) > _KEY_LEAST and key in self._earlier:
            self.stopped = True
            return ""
        text = self._open[self._sent : end]
        self._earlier.append(key)
        self._open, self._sent = self._open[end:], 0
        if self._max_sentences and len(self._earlier) >= self._max_sentences:
            self.stopped = True
        return text

    def _partial(self, final: bool) -> str:
        """The open sentence: shown as far as it is no repetition and cannot become a stop text."""
        keep = 0 if final else max((_overlap(self._open, stop) for stop in self._stops), default=0)
        ready = self._open[: len(self._open) - keep].rstrip()
        key = _key(ready)
        if not self._sent and any(earlier.startswith(key) for earlier in self._earlier):
            return ""
        text = ready[self._sent :]
        self._sent = max(self._sent, len(ready))
        return text


def _key(sentence: str) -> str:
    """What makes two sentences the same."""
    return " ".join(sentence.split()).lower()


def first_sentence_end(text: str) -> int:
    """Where the first sentence of `text` ends, or 0."""
    for found in _SENTENCE_END.finditer(text):
        if text[: found.end()].strip() and not ends_in_abbreviation(text[: found.end()]):
            return found.end()
    return 0


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that begins `stop`."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
