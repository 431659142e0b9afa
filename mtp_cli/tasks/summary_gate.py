"""What of a model's answer belongs to a summary: whole sentences, each one once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtp_cli.readers.document import one_line
from mtp_cli.tasks.gate import first_sentence_end, is_looping, strip_preamble
from mtp_cli.tasks.summary_wish import Length
from mtp_cli.tasks.wording import finished, is_circling, is_cut, is_finished, is_repeat, unquoted, word_count

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THINKING = re.compile(r"<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?\Z|<think(?:ing)?>", re.IGNORECASE)
_MARKER = re.compile(r"(?:[-*+•–·▪]\s+|\(?\d{1,2}[.)]\s+|#{1,6}\s+)+")
_NUMBER = re.compile(r"\s*\(?\d{1,2}[.)](?=\s)")
_WORD = r"(?:sure|certainly|of course|okay|ok|absolutely|yes|no problem)"
_HERE = r"(?:here(?:'s|’s| is| are)|below (?:is|are)|the following (?:is|are)|this is)"
_TALK = re.compile(
    rf"(?:{_WORD}[!.,]*|(?:{_WORD}[!.,]\s*)?{_HERE}\s(?:[\w-]+\s){{0,6}}?"
    r"(?:summary|overview|headline|notification|digest|version|points|sentences?|text|answer)\b[^.:]{0,80}[.:]?)\Z",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:in (?:summary|short|conclusion),\s+|to summari[sz]e,\s+|"
    r"(?:summary|headline|title|tl;?dr|in short|notification|answer|output|(?:key|main) points?)\s*:\s*)",
    re.IGNORECASE,
)
_FAREWELL = re.compile(
    r"(?:let me know|i hope (?:this|that)|feel free|is there anything|would you like|do you want me|"
    r"if you (?:have|need) any|please note that this|note: this|i'm sorry|i cannot|as an ai)\b",
    re.IGNORECASE,
)
_ROLE = re.compile(r"(?:user|assistant|human|system)\s*(?::|\Z)|###?\s*\w+:?\Z|<\|?\w+\|?>", re.IGNORECASE)
_LABEL_WORDS = 10
_MOST_REPEATS = 1
_AHEAD = 5
"""Characters that show whether a line begins with the mark of a list."""


class SummaryGate:
    """A TextGate (see generate.py) that lets through whole sentences only.

    Left out: thoughts, talk about the summary, labels, list marks, and sentences that repeat an earlier one
    (`said` are earlier ones of other answers). The answer ends at a stop text, when it goes in circles, after
    `max_sentences` (0: no limit), and when `length` is reached. What is not yet a sentence is `rest`."""

    def __init__(
        self,
        stops: Sequence[str] = (),
        *,
        max_sentences: int = 0,
        length: Length | None = None,
        opening: str = "",
        said: Sequence[str] = (),
        thinking: bool = False,
    ) -> None:
        self.stopped = False
        self.looped = False
        self.sentences: list[str] = []
        self._stops = [stop for stop in stops if stop]
        self._max_sentences = max_sentences
        self._length = length if length is not None and length.words else None
        self._said = list(said)
        self._repeats = 0
        self._words = 0
        self._buffer = f"{opening} " if opening else ""
        self._opening = len(self._buffer)
        self._begun = False
        if thinking:
            self._buffer = "<think>"

    @property
    def rest(self) -> str:
        """What has come since the last whole sentence."""
        return "" if self.stopped or len(self._buffer) <= self._opening else one_line(self._buffer)

    def feed(self, text: str) -> str:
        """See TextGate."""
        if self.stopped:
            return ""
        self._buffer += text
        before = len(self.sentences)
        if "<" in self._buffer:
            self._buffer = _THOUGHT.sub("", self._buffer)
            if _THINKING.search(self._buffer):
                return ""
        cut = self._first_stop()
        if cut >= 0:
            self._buffer = self._buffer[:cut]
        self._take_whole_sentences()
        if cut >= 0 and not self.stopped:
            self.close(complete=True)
        elif is_looping(self._buffer[-256:]):
            self.stopped = self.looped = True
        return "".join(f" {sentence}" for sentence in self.sentences[before:])

    def _first_stop(self) -> int:
        """Where the first stop text begins, or -1. White space before the first word is none."""
        if not self._begun:
            head, body = self._buffer[: self._opening], self._buffer[self._opening :].lstrip()
            self._buffer = head + body
        return min((at for at in map(self._buffer.find, self._stops) if at >= self._opening), default=-1)

    def finish(self) -> str:
        """See TextGate. Whether `rest` counts is said by `close`."""
        return ""

    def close(self, *, complete: bool) -> None:
        """The answer is over; `complete`: the model, or a stop text, ended it, and no limit."""
        self._buffer = _THOUGHT.sub("", self._buffer).partition("<think")[0]
        self._take_whole_sentences(ahead=1)
        complete = complete or self._buffer.endswith("\n")
        rest, self._buffer, self._opening = self.rest, "", 0
        if rest and not self.stopped and (finished(rest) == rest or (complete and not is_cut(rest))):
            self._take(rest)
        self.stopped = True

    def _take_whole_sentences(self, ahead: int = _AHEAD) -> None:
        while not self.stopped:
            marker = _NUMBER.match(self._buffer)  # its full stop ends no sentence
            start = marker.end() if marker else 0
            end = start + self._sentence_end(start, ahead)
            if end == start:
                return
            sentence, self._buffer, self._opening = self._buffer[:end], self._buffer[end:], 0
            self._begun = self._begun or bool(sentence.strip())
            self._take(sentence)

    def _sentence_end(self, start: int, ahead: int) -> int:
        """Where the first sentence of the buffer ends, counted from `start`; 0: not yet. At the end of a line
        that ends no sentence, the next `ahead` characters tell whether the line was only broken, as those of
        the text may be."""
        while end := first_sentence_end(self._buffer[start:]):
            line, after = self._buffer[start : start + end], self._buffer[start + end :]
            if is_finished(line) or not after.startswith("\n"):
                return end
            if len(after.strip()) < ahead and after.count("\n") < 2:
                return 0
            rest = after.lstrip()
            if after[: len(after) - len(rest)].count("\n") > 1 or not _goes_on(line, rest):
                return end
            self._buffer = f"{self._buffer[: start + end].rstrip()} {rest}"
        return 0

    def _take(self, sentence: str) -> None:
        text = self._cleaned(sentence)
        if (
            not any(map(str.isalnum, text))
            or _TALK.match(text)
            or (text.endswith(":") and word_count(text) <= _LABEL_WORDS)
        ):
            return
        if _ROLE.match(text) or (self.sentences and _FAREWELL.match(text)):
            self.stopped = True
        elif is_circling(text):
            self.stopped = self.looped = True
        elif is_cut(text):
            return
        elif is_repeat(text, [*self._said, *self.sentences]):
            self._repeats += 1
            self.stopped = self.looped = self._repeats > _MOST_REPEATS
        else:
            self._add(finished(text))

    def _cleaned(self, sentence: str) -> str:
        text = one_line(sentence)
        text = _MARKER.sub("", text, count=1) if _MARKER.match(text) else text
        text = re.sub(r"(\*\*|__)(.*?)\1", r"\2", text).strip("*_ ")
        if not self.sentences:
            bare = strip_preamble(text)
            label = _LABEL.match(bare)
            bare = bare[label.end() :] if label and label.end() < len(bare) else bare
            text = text if bare == text else bare[:1].upper() + bare[1:]
        return unquoted(text, first=not self.sentences)

    def _add(self, sentence: str) -> None:
        words = word_count(sentence)
        if self._length is not None and self.sentences:
            over = self._words + words - self._length.words
            if self._words + words > self._length.most and over > self._length.words - self._words:
                self.stopped = True
                return
        self.sentences.append(sentence)
        self._words += words
        if self._max_sentences and len(self.sentences) >= self._max_sentences:
            self.stopped = True
        if (
            self._length is not None
            and self._words + self._words // len(self.sentences) // 2 >= self._length.words
        ):
            self.stopped = True


def _goes_on(line: str, after: str) -> bool:
    """True when `after` is the rest of the sentence that `line` begins."""
    return after[:1].islower() or (is_cut(line) and not _MARKER.match(after))
