"""When an answer has said enough: stop texts, a limit of sentences, and an end to going in circles."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtp_cli.tasks.split import ends_in_abbreviation

_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|\n+|[。！？]")
_PREAMBLE = re.compile(
    r"\s*(?:(?:sure|certainly|of course|okay|ok)\b[^\n:]{0,40}[.!:,]\s*)?"
    r"(?:(?:here(?:'s|’s| is| are)|below is|the following is)\b[^\n:.]{0,70}:|summary(?: of the text)?:)?\s*",
    re.IGNORECASE,
)
_PREAMBLE_MOST = 120
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
    is shown only when more text follows it."""

    def __init__(
        self, stops: Sequence[str] = (), *, max_sentences: int = 0, preamble: bool = False, opening: str = ""
    ) -> None:
        self.stopped = False
        self.said = 0
        """sentences shown in full"""
        self._stops = [stop for stop in stops if stop]
        self._max_sentences = max_sentences
        self._opened = not preamble
        self._held = opening
        self._shown = ""
        self._sentence = ""  # what of the open sentence has been shown
        self._earlier: list[str] = []

    def feed(self, text: str) -> str:
        if self.stopped:
            return ""
        self._held += text
        if not self._opened:
            if len(self._held) < _PREAMBLE_MOST and not _SENTENCE_END.search(self._held.lstrip()):
                return ""
            self._open()
        return self._drain(final=False)

    def finish(self) -> str:
        if self.stopped:
            return ""
        if not self._opened:
            self._open()
        return self._drain(final=True)

    def _open(self) -> None:
        self._held = strip_preamble(self._held)
        self._opened = True

    def _drain(self, *, final: bool) -> str:
        """Move what may be shown out of `_held`."""
        cut = min((at for at in map(self._held.find, self._stops) if at >= 0), default=-1)
        if cut >= 0:
            self._held, final = self._held[:cut], True
        out = ""
        while not self.stopped and (end := _first_sentence_end(self._sentence, self._held)):
            out += self._close_sentence(self._held[:end])
            self._held = self._held[end:]
        if not self.stopped:
            out += self._partial(final)
        self._shown = (self._shown + out)[-256:]
        if cut >= 0 or is_looping(self._shown):
            self.stopped = True
        return out

    def _close_sentence(self, text: str) -> str:
        whole = self._sentence + text
        key = " ".join(whole.split()).lower()
        if len(key) > 12 and key in self._earlier:
            self.stopped = True
            return ""
        self._sentence = ""
        if key:
            self._earlier.append(key)
            self.said += 1
        if self._max_sentences and self.said >= self._max_sentences:
            self.stopped = True
            text = text.rstrip()
        return text

    def _partial(self, final: bool) -> str:
        """The open sentence: shown as far as it is no repetition and cannot become a stop text."""
        keep = 0 if final else max((_overlap(self._held, stop) for stop in self._stops), default=0)
        ready = self._held[: len(self._held) - keep].rstrip()
        key = " ".join(ready.split()).lower()
        if not self._sentence and any(earlier.startswith(key) for earlier in self._earlier):
            return ""
        self._held = self._held[len(ready) :]
        self._sentence += ready
        return ready


def _first_sentence_end(shown: str, held: str) -> int:
    """Where the first sentence of `held` ends, or 0. `shown` is the part of it that was shown before."""
    for found in _SENTENCE_END.finditer(held):
        if not ends_in_abbreviation(shown + held[: found.end()]):
            return found.end()
    return 0


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that begins `stop`."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
