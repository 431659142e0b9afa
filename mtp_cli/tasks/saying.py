"""The sentences of one summary, as they are said: their style, and the words that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mtp_cli.readers.document import one_line
from mtp_cli.tasks.facts import unsupported
from mtp_cli.tasks.job import JobEvent, Text
from mtp_cli.tasks.keylines import key_sentences
from mtp_cli.tasks.summary_wish import Style, Wish
from mtp_cli.tasks.wording import finished, fit, shortened, word_count

_HEADLINE_WORDS, _LINE_WORDS = 14, 28
_WORDS_A_SENTENCE = 8
_LEAST_TEXT = 300
"""Characters of a text that a summary of more than a sentence is expected to be shorter than."""


class Saying:
    """Collects sentences; `listen` hears a Text event for each, which joined are `text`. Unless a length was
    asked for, what would make the summary as long as its text of `room` characters (0: unknown) is left
    out."""

    def __init__(self, wish: Wish, listen: Callable[[JobEvent], None], room: int = 0) -> None:
        self._wish = wish
        self._room = room if room >= _LEAST_TEXT and not wish.length.words else 0
        self._listen = listen
        self.sentences: list[str] = []

    @property
    def text(self) -> str:
        """All that was said, in its style."""
        if self._wish.style is Style.bullets:
            return "\n".join(f"- {sentence}" for sentence in self.sentences)
        return " ".join(self.sentences)

    def say(self, sentence: str) -> None:
        """One more sentence of the result."""
        before = len(self.text)
        if self._room and self.sentences and before + len(sentence) >= self._room - 1:
            return
        self.sentences.append(self._line(sentence) if self._wish.one_line else sentence)
        self._listen(Text(self.text[before:]))

    def _line(self, sentence: str) -> str:
        headline = self._wish.style is Style.headline
        line = shortened(sentence, self._wish.length.most or (_HEADLINE_WORDS if headline else _LINE_WORDS))
        return line.strip("\"“”'`").removesuffix(".") if headline else line

    def say_fitting(self, sentences: Sequence[str], source: str) -> None:
        """What of `sentences` meets the length. Those with names or numbers that `source` lacks are left out
        where there are enough others."""
        length = self._wish.length
        sure = [sentence for sentence in sentences if not unsupported(sentence, source).count]
        enough = word_count(" ".join(sure)) >= length.least
        chosen = fit(sure if enough else sentences, length.words, length.most)
        if len(chosen) == 1:
            chosen = [shortened(chosen[0], length.most, length.least)]
        for sentence in chosen:
            self.say(sentence)

    def fall_back(self, text: str) -> None:
        """The model said nothing that can be shown: the text's own words."""
        for sentence in key_sentences(text, 1) or [finished(" ".join(one_line(text).split()[:_LINE_WORDS]))]:
            self.say(sentence)

    def fill(self, source: Sequence[str]) -> None:
        """Fewer words than asked for: sentences of the source, the weightiest first, until they are met."""
        length = self._wish.length
        words = word_count(" ".join(self.sentences))
        missing, room = length.words - words, length.most - words
        if words >= length.least:
            return
        text = "\n\n".join(source)
        chosen: list[str] = []
        for more in (1, 2, 4, 8):  # the weightiest few may be too long or too short together
            count = more * -(-missing // _WORDS_A_SENTENCE)
            found = key_sentences(text, count, self.sentences)
            least = length.least - words
            chosen = [row for row in fit(found, missing, room) if word_count(row) <= room]
            chosen = (
                chosen
                or [row for row in (shortened(row, room, least) for row in found) if word_count(row) <= room][
                    :1
                ]
            )
            if word_count(" ".join(chosen)) >= least:
                break
        for sentence in chosen:
            self.say(sentence)
