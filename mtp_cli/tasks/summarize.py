"""Summarise one text, in parts when it does not fit the context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from mtp_cli.engine import AUTO, GREEDY, Drafting, Engine, EngineError, Sampling
from mtp_cli.events import FinishReason
from mtp_cli.readers.document import Kind, speakers, talk_of
from mtp_cli.tasks.asking import Answer, Asker, Kept, Question
from mtp_cli.tasks.facts import Facts, unsupported
from mtp_cli.tasks.job import JobEvent, Part, PartDone, Plan
from mtp_cli.tasks.keylines import key_sentences, last_sentence
from mtp_cli.tasks.prompts import Prompt, Template
from mtp_cli.tasks.saying import Saying
from mtp_cli.tasks.split import beginning, lines, paragraphs, parts
from mtp_cli.tasks.summary_prompts import Asks
from mtp_cli.tasks.summary_wish import Length, Overflow, Style, Wish
from mtp_cli.tasks.wording import is_repeat, word_count

_LEAST_ROOM = 32
"""Fewest tokens of text a part must have room for."""
_PART_ROOM = 2048
"""Most tokens of a part: small models lose the thread of longer ones."""
_NOTE_TOKENS = 96
_NOTE_SENTENCES = 3
"""Most of the summary of one part: these summaries are summarised again."""
_TOKENS_A_WORD = 2
_SPARE_TOKENS = 32
_SECTION_WORDS = 45
"""Words of a summary that one answer is asked for when the whole is to be long."""
_MOST_SECTIONS = 12
_USUAL_SECTIONS = 3
_LEAST_SECTION_TOKENS = 48


class TextTooLong(Exception):
    """The text does not fit, and was not to be read in parts."""

    def __init__(self, tokens: int, room: int) -> None:
        super().__init__(f"the text has {tokens:,} tokens and {room:,} fit")


@dataclass(frozen=True, slots=True)
class Summary:
    """The result. `input_tokens` counts the text alone; `used_tokens` what of it the model has read.

    `extracted` sentences are the text's own: taken over because the model gave none, or not enough of them.
    `unfinished`: a last sentence met its limit and is left out."""

    text: str
    input_tokens: int
    used_tokens: int
    chunks: int
    finish_reason: FinishReason
    sentences: tuple[str, ...] = ()
    extracted: int = 0
    looped: bool = False
    unfinished: bool = False
    unsupported: Facts = field(default_factory=Facts)
    left_out: tuple[str, ...] = ()

    @property
    def truncated(self) -> bool:
        """Part of the text was not read; never so unless that was asked for."""
        return self.used_tokens < self.input_tokens

    @property
    def words(self) -> int:
        return word_count(self.text)


class Summarizer:
    """Summaries with one model. `listen` hears every JobEvent as it happens."""

    def __init__(
        self,
        engine: Engine,
        template: Template | Asks,
        *,
        wish: Wish | None = None,
        max_tokens: int = 0,
        sampling: Sampling = GREEDY,
        drafting: Drafting = AUTO,
        kept: Kept | None = None,
        listen: Callable[[JobEvent], None] = lambda event: None,
    ) -> None:
        asks = template if isinstance(template, Asks) else Asks(template, template, template)
        self._wish = wish or Wish()
        self._asker = Asker(engine, sampling=sampling, drafting=drafting, kept=kept, listen=listen)
        self._engine = engine
        self._whole = Prompt(engine, asks.whole)
        self._part = Prompt(engine, asks.part) if asks.part != asks.whole else self._whole
        self._notes = Prompt(engine, asks.notes) if asks.notes != asks.whole else self._whole
        self._max_tokens = self._most_tokens(max_tokens or asks.whole.max_tokens, bool(max_tokens))
        self._listen = listen
        self._saying = Saying(self._wish, listen)
        self._answers: list[Answer] = []

    def prompts(self, text: str) -> list[str]:
        """The prompts of the first round, as text."""
        pieces = self._pieces(text)
        prompt = self._whole if len(pieces) == 1 else self._part
        return [prompt.opened(self._opening(piece)).text(piece) for piece in pieces]

    def prompt_tokens(self, text: str) -> list[int]:
        """Token ids of the one prompt for the whole text, however long."""
        return self._whole.tokens(text)

    def run(self, text: str) -> Summary:
        """Text events carry the summary, a sentence at a time. Raises TextTooLong, EngineError,
        KeyboardInterrupt."""
        self._saying, self._answers = Saying(self._wish, self._listen, len(text.strip())), []
        total = self._asker.count(text)
        read = self._fitting(text, total)
        used = total if read is text else self._asker.count(read)
        pieces = self._pieces(read)
        self._listen(Plan(total, len(pieces)))
        if len(pieces) == 1:
            source = [pieces[0]]
            self._whole_text(pieces[0])
        else:
            source = self._part_notes(pieces, total)
            self._from_notes(source)
        modelled = len(self._saying.sentences)
        if not modelled:
            self._saying.fall_back(read)
        elif self._wish.length.strict and not self._wish.one_line:
            self._saying.fill(source)
        return self._summary(read, total, used, len(pieces), modelled)

    def _summary(self, text: str, total: int, used: int, chunks: int, modelled: int) -> Summary:
        last = self._answers[-1] if self._answers else None
        summary = self._saying.text
        return Summary(
            summary,
            total,
            used,
            chunks,
            last.reason if last else FinishReason.TOKEN_LIMIT,
            tuple(self._saying.sentences),
            len(self._saying.sentences) - modelled,
            any(answer.looped for answer in self._answers),
            bool(last and last.rest),
            unsupported(summary, text),
        )

    # -- one text that fits

    def _whole_text(self, text: str) -> None:
        length = self._wish.length
        if self._wish.one_line or not length.strict:
            self._answer(self._whole, text, self._share(length), show=True)
            return
        first = self._answer(self._whole, text, self._share(length), show=False)
        if word_count(first.text) < length.least:
            self._saying.say_fitting(self._sections(text, first), text)
        else:
            self._saying.say_fitting(first.sentences, text)

    def _sections(self, text: str, first: Answer) -> list[str]:
        """Longer than one answer: the text in parts, each summarised for its share of the words."""
        wanted = self._wish.length.words
        tokens = self._asker.count(text)
        usual = max(15, min(word_count(first.text), _SECTION_WORDS))
        number = min(-(-wanted // usual), tokens // _LEAST_SECTION_TOKENS, _MOST_SECTIONS)
        if number < 2:
            return list(first.sentences)
        found: list[str] = []
        share = Length("", -(-wanted // number))
        pieces = parts(text, -(-tokens // number) + 8, self._asker.count, self._units)
        for at, piece in enumerate(pieces, 1):
            self._listen(Part(at, len(pieces), "section"))
            found += self._answer(self._part, piece, share, show=False, said=found).sentences
        return found if word_count(" ".join(found)) > word_count(first.text) else list(first.sentences)

    # -- a text in parts

    def _part_notes(self, pieces: list[str], total: int) -> list[str]:
        """For each part its summary, with the sentence that says most where the summary lacks it."""
        notes: list[str] = []
        done = 0
        for number, piece in enumerate(pieces, 1):
            self._listen(Part(number, len(pieces), "part", done / (total * 1.1) if total else None))
            limit = min(self._max_tokens, _NOTE_TOKENS, max(16, self._asker.count(piece) // 2))
            question = Question(piece, limit, _NOTE_SENTENCES, opening=self._opening(piece))
            answer = self._asker.ask(self._part, question)
            tokens = self._asker.count(piece)
            done += tokens
            self._listen(
                PartDone(number, len(pieces), tokens, "\n".join(answer.sentences), answer.key, answer.kept)
            )
            found = list(answer.sentences)
            found += key_sentences(piece, 1, found)
            if number == len(pieces) and (end := last_sentence(piece)) and not is_repeat(end, found):
                found.append(end)
            notes.append(" ".join(found))
        return notes

    def _from_notes(self, notes: list[str]) -> None:
        room = self._room(self._notes)
        while self._asker.count("\n\n".join(notes)) > room:
            joined = "\n\n".join(notes)
            pieces = parts(joined, min(room, _PART_ROOM), self._asker.count)
            if len(pieces) >= len(notes):
                break  # notes as long as what they are of: it would go on for ever
            notes = self._part_notes(pieces, self._asker.count(joined))
        length = self._wish.length
        groups = self._groups(notes)
        share = self._share(length, len(groups))
        found: list[str] = []
        for number, group in enumerate(groups, 1):
            self._listen(Part(number, len(groups), "summary", (10 + (number - 1) / len(groups)) / 11))
            text = beginning(group, room, self._asker.count)
            show = not length.strict or self._wish.one_line
            found += self._answer(
                self._notes, text, share, show=show, said=found, groups=len(groups)
            ).sentences
        if length.strict and not self._wish.one_line:
            self._saying.say_fitting(found, "\n\n".join(notes))

    def _groups(self, notes: list[str]) -> list[str]:
        """The notes in as many groups as the summary has room for a word on each: the end of the text has its
        place in the summary like the beginning."""
        length = self._wish.length
        if self._wish.one_line or length.name == "short" or self._max_tokens < _NOTE_TOKENS:
            number = 1
        elif length.words:
            number = max(1, min(round(length.words / _SECTION_WORDS), _MOST_SECTIONS))
        else:
            number = _USUAL_SECTIONS
        number = min(number, len(notes))
        cuts = [round(len(notes) * at / number) for at in range(number + 1)]
        return ["\n\n".join(notes[start:end]) for start, end in pairwise(cuts)]

    # -- answers and what is said of them

    def _answer(
        self,
        prompt: Prompt,
        text: str,
        length: Length,
        *,
        show: bool,
        said: Sequence[str] = (),
        groups: int = 1,
    ) -> Answer:
        """Ask; `show`: say each sentence at once."""
        most = prompt.template.max_sentences
        if groups > 1 and not length.words:
            most = max(1, -(-(most + 2) // groups))
        opening = "" if prompt is self._notes and self._notes is not self._whole else self._opening(text)
        question = Question(
            text, self._max_tokens, most, length if length.words else None, tuple(said), opening
        )
        answer = self._asker.ask(prompt, question, self._saying.say if show else None)
        self._answers.append(answer)
        return answer

    def _opening(self, text: str) -> str:
        """A small model keeps to what was said when its answer begins with who talks."""
        if self._wish.kind is not Kind.chat or self._wish.style is Style.headline:
            return ""
        return talk_of(speakers(text))

    def _share(self, length: Length, groups: int = 1) -> Length:
        return Length("", -(-length.words // groups), 0, length.strict) if length.words else length

    # -- room

    def _most_tokens(self, usual: int, asked: bool) -> int:
        """Most tokens of an answer."""
        words = self._wish.length.most
        if asked or not words:
            return usual
        return min(words * _TOKENS_A_WORD + _SPARE_TOKENS, max(usual, self._engine.n_ctx // 3))

    @property
    def _units(self) -> Callable[[str], list[str]]:
        return lines if self._wish.kind in (Kind.chat, Kind.notifications) else paragraphs

    def _fitting(self, text: str, total: int) -> str:
        """`text`, or what of it is to be read."""
        room = self._room(self._whole)
        if total <= room or self._wish.overflow is Overflow.chunk:
            return text
        if self._wish.overflow is Overflow.error:
            raise TextTooLong(total, room)
        return beginning(text, room, self._asker.count)

    def _pieces(self, text: str) -> list[str]:
        text = text.strip()
        if self._asker.count(text) <= self._room(self._whole):
            return [text]
        return parts(text, min(self._room(self._part), _PART_ROOM), self._asker.count, self._units)

    def _room(self, prompt: Prompt) -> int:
        room = self._engine.n_ctx - prompt.overhead - self._max_tokens - 1
        if room >= _LEAST_ROOM:
            return room
        needed = prompt.overhead + self._max_tokens + _LEAST_ROOM + 1
        if needed > self._engine.info.n_ctx_train:
            raise EngineError(
                f"answers of {self._max_tokens} tokens are more than this model's context of "
                f"{self._engine.info.n_ctx_train} has room for; use a smaller --max-tokens"
            )
        raise EngineError(
            f"a context of {self._engine.n_ctx} tokens is too small for this prompt; "
            f"use --ctx {needed} or more, or a smaller --max-tokens"
        )
