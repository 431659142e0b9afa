"""Proofread one document, sentence by sentence; its layout stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mtp_cli.engine import AUTO, GREEDY, Drafting, Engine, EngineError, Sampling
from mtp_cli.events import EndEvent, FinishReason, StepEvent
from mtp_cli.tasks.clean import clean_answer
from mtp_cli.tasks.documents import plain
from mtp_cli.tasks.documents.document import Document, Reader, Sentence, Span
from mtp_cli.tasks.documents.verify import settled
from mtp_cli.tasks.edits import Edit, apply
from mtp_cli.tasks.gate import AnswerGate
from mtp_cli.tasks.guard import Frame, edits_of
from mtp_cli.tasks.helpers import ready
from mtp_cli.tasks.job import JobEvent, Part, Plan, Reading, Text
from mtp_cli.tasks.judge import Judge
from mtp_cli.tasks.language import is_english
from mtp_cli.tasks.pieces import word_count
from mtp_cli.tasks.prompts import Prompt, Template
from mtp_cli.tasks.review import Reviewer
from mtp_cli.tasks.session import Session
from mtp_cli.tasks.vocabulary import Vocabulary

_GROWTH = 1.5
_SPARE_TOKENS = 16
_LEAST_WORDS = 2
_LEAST_SENTENCE = 4
"""Words of a sentence that may want a full stop."""
_LONGEST_WORD = 300


@dataclass(frozen=True, slots=True)
class Rules:
    """What a person wants: `keep`, terms that stay as they are; `dialect`, us, gb or "" for whatever the text
    has; `unsafe`, apply unsafe edits too; `judged`, the model judges every edit and looks for more;
    `helpers`, who else proposes some (see tasks/helpers); `answers`, when the model is asked to write the
    sentence anew: always, never, or where that helps (auto)."""

    keep: tuple[str, ...] = ()
    dialect: str = ""
    unsafe: bool = False
    judged: bool = False
    helpers: tuple[str, ...] = ()
    answers: str = "auto"


@dataclass(frozen=True, slots=True)
class Correction:
    """The result. `edits` have their places in `source`, in order; they do not overlap."""

    source: str
    edits: tuple[Edit, ...]
    input_tokens: int = 0
    sentences: int = 0
    unsafe: bool = False
    chosen: frozenset[Edit] | None = None
    """what a person took of the edits, when there was one to ask"""

    @property
    def applied(self) -> tuple[Edit, ...]:
        """What the result has of the edits."""
        return tuple(edit for edit in self.edits if self._has(edit))

    @property
    def refused(self) -> tuple[Edit, ...]:
        """The other edits."""
        return tuple(edit for edit in self.edits if not self._has(edit))

    def _has(self, edit: Edit) -> bool:
        if self.chosen is not None:
            return edit in self.chosen
        return edit.safe or (self.unsafe and edit.possible)

    @property
    def text(self) -> str:
        """The corrected text."""
        return apply(self.source, self.applied)


def has_prose(document: Document) -> bool:
    """True when there is something for a model to read."""
    return any(_is_prose(sentence) for sentence in document.sentences())


class Proofreader:
    """Corrections with one model. `listen` hears every JobEvent as it happens."""

    def __init__(
        self,
        engine: Engine,
        template: Template,
        *,
        max_tokens: int = 0,
        sampling: Sampling = GREEDY,
        drafting: Drafting = AUTO,
        rules: Rules | None = None,
        listen: Callable[[JobEvent], None] = lambda event: None,
    ) -> None:
        self._engine = engine
        self._session = Session(engine, sampling=sampling, drafting=drafting)
        self._prompt = Prompt(engine, template)
        self._max_tokens = max_tokens
        self._rules = rules or Rules()
        self._terms = _terms(self._rules.keep)
        self._reviewers: dict[bool, Reviewer] = {}
        self._listen = listen
        self.warnings: list[str] = []
        """What a person should hear at the end; others may add to it."""
        self._unjudged = False

    def prompts(self, document: Document) -> list[str]:
        """The prompts for its sentences, as text."""
        return [
            self._prompt.text(_flat(sentence.stretch.text))
            for sentence in document.sentences()
            if _is_prose(sentence)
        ]

    def prompt_tokens(self, text: str) -> list[int]:
        """Token ids of the prompt for `text` taken as one sentence."""
        return self._prompt.tokens(_flat(text))

    def run(self, text: str | Document, read: Reader | None = plain.read) -> Correction:
        """Text events carry the corrected text: plain text as it comes, other documents at the end,
        when it is sure that they are built as before (`read` None: they are by nature). Raises EngineError,
        KeyboardInterrupt."""
        document = text if isinstance(text, Document) else (read or plain.read)(text)
        todo = [sentence for sentence in document.sentences() if _is_prose(sentence)]
        counts = [len(self._engine.tokenize(_flat(sentence.stretch.text))) for sentence in todo]
        self._listen(Plan(sum(counts), len(todo)))
        flowing = read is plain.read
        reviewer = self._reviewer(document.text) if self._rules.judged and todo else None
        edits: list[Edit] = []
        at = 0
        for number, (sentence, tokens) in enumerate(zip(todo, counts, strict=True), 1):
            self._listen(Part(number, len(todo), "sentence"))
            found = list(self._edits(sentence, tokens, reviewer))
            if flowing:
                end = sentence.stretch.spans[-1][1]
                found = _settled_lines(document.text, sentence, found)
                self._say(document.text[at:end], found, at)
                at = end
            edits += found
        if flowing:
            self._say(document.text[at:], (), at)
            return Correction(document.text, tuple(edits), sum(counts), len(todo), self._rules.unsafe)
        checked = settled(read, document, edits) if read else tuple(edits)
        result = Correction(document.text, checked, sum(counts), len(todo), self._rules.unsafe)
        self._listen(Text(result.text))
        return result

    def _say(self, text: str, edits: Sequence[Edit], at: int) -> None:
        here = [edit.moved(edit.start - at, edit.end - at) for edit in edits]
        shown = Correction(text, tuple(here), unsafe=self._rules.unsafe).text
        if shown:
            self._listen(Text(shown))

    def _reviewer(self, text: str) -> Reviewer:
        """One for English and one for other languages."""
        english = is_english(text)
        if english not in self._reviewers:
            vocabulary = Vocabulary(self._engine) if english else None
            helpers = ready(self._rules.helpers, self._rules.dialect) if english else []
            self._reviewers[english] = Reviewer(vocabulary, helpers, _flat)
        self._reviewers[english].read(text)
        return self._reviewers[english]

    def _edits(self, sentence: Sentence, tokens: int, reviewer: Reviewer | None) -> Iterator[Edit]:
        """The edits of one sentence, with their places in the document."""
        stretch = sentence.stretch
        frame = Frame(_wants_end_mark(sentence), self._fixed(sentence), stretch.gaps, self._rules.dialect)
        judge = self._judge(_flat(stretch.text)) if reviewer else None
        others = list(reviewer.opinions(stretch.text, frame, judge)) if reviewer and judge else []
        found: list[Edit] = []
        if self._wants_answer(reviewer, judge):
            found = edits_of(stretch.text, self._answer(stretch.text, tokens), frame)
        if reviewer and judge:
            found = reviewer.review(stretch.text, found, others, judge)
        for edit in found:
            place = stretch.place(edit.start, edit.end)
            if place is None:  # a whole answer that was no correction, over a gap
                place = stretch.spans[0][0], stretch.spans[-1][1]
            yield edit.moved(*place)

    def _judge(self, text: str) -> Judge | None:
        """None where the text is too long for one, and where NumPy, which it reads the model's logits with,
        does not load (said once)."""
        if self._unjudged or not Judge.fits(self._prompt, text, self._engine.n_ctx):
            return None
        try:
            import numpy  # noqa: F401

            return Judge(self._session, self._prompt, text)
        except ImportError as error:
            reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
            warning = f"NumPy does not load ({reason[0]}): edits are not judged, as with --no-judge"
            if warning not in self.warnings:
                self.warnings.append(warning)
            self._unjudged = True
            return None

    def _wants_answer(self, reviewer: Reviewer | None, judge: Judge | None) -> bool:
        """Writing an answer takes longest. It is of use where nobody else can propose anything."""
        if self._rules.answers == "auto":
            return not (reviewer and reviewer.knows and judge)
        return self._rules.answers == "always"

    def _fixed(self, sentence: Sentence) -> tuple[Span, ...]:
        if self._terms is None:
            return sentence.fixed
        own = [found.span() for found in self._terms.finditer(sentence.stretch.text)]
        return _without_overlap([*sentence.fixed, *own])

    def _answer(self, text: str, tokens: int) -> str:
        source = _flat(text)
        prompt = self._prompt.tokens(source)
        limit = int(tokens * _GROWTH) + _SPARE_TOKENS
        if self._max_tokens:
            limit = min(limit, self._max_tokens)
        if len(prompt) + tokens >= self._engine.n_ctx:
            raise EngineError(
                f"a context of {self._engine.n_ctx} tokens is too small for this prompt and a sentence of "
                f"{tokens} tokens; use --ctx {len(prompt) + limit + 1} or more"
            )
        limit = min(limit, self._engine.n_ctx - len(prompt))
        gate = AnswerGate(self._prompt.template.stop)
        said: list[str] = []
        reason = FinishReason.END_TOKEN
        for event in self._session.ask(
            prompt,
            max_tokens=limit,
            source=self._prompt.repeated(source),
            gate=gate,
            progress=self._reading,
        ):
            self._listen(event)
            if isinstance(event, StepEvent):
                said.append(event.text)
            elif isinstance(event, EndEvent):
                said.append(event.tail)
                reason = event.reason
        answer = clean_answer("".join(said), source)
        if reason in (FinishReason.TOKEN_LIMIT, FinishReason.CONTEXT_FULL):
            answer = _whole_words(answer)
        return answer or source

    def _reading(self, done: int, total: int) -> None:
        self._listen(Reading(done, total))


def _wants_end_mark(sentence: Sentence) -> bool:
    """False for titles and the like, for a few words ("Best, Kim") and between tags."""
    text = sentence.stretch.text
    return sentence.full and "<" not in text and word_count(text, sentence.fixed) >= _LEAST_SENTENCE


def _is_prose(sentence: Sentence) -> bool:
    text = sentence.stretch.text
    if word_count(text, sentence.fixed) < _LEAST_WORDS:
        return False
    return max(map(len, text.split())) <= _LONGEST_WORD


def _settled_lines(text: str, sentence: Sentence, edits: list[Edit]) -> list[Edit]:
    """The same as `settled` for plain text, where the lines that a sentence stands on are enough to see."""
    if not edits:
        return edits
    first, last = sentence.block
    start = text.rfind("\n", 0, first) + 1
    part = plain.read(text[start:last])
    here = [edit.moved(edit.start - start, edit.end - start) for edit in edits]
    return [edit.moved(edit.start + start, edit.end + start) for edit in settled(plain.read, part, here)]


def _terms(keep: Sequence[str]) -> re.Pattern[str] | None:
    """Finds the terms to keep as whole words; longer ones go first."""
    words = sorted((term.strip() for term in keep if term.strip()), key=len, reverse=True)
    if not words:
        return None
    forms = "|".join(r"\s+".join(map(re.escape, word.split())) for word in words)
    return re.compile(rf"(?<!\w)(?:{forms})(?!\w)")


def _without_overlap(places: Sequence[Span]) -> tuple[Span, ...]:
    """In order; those that overlap become one."""
    found: list[Span] = []
    for start, end in sorted(places):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return tuple(found)


def _whole_words(answer: str) -> str:
    """An answer that was cut off, without its last word: half a word would look like a correction."""
    return answer.rpartition(" ")[0]


def _flat(text: str) -> str:
    """One line with single spaces, as the model gets it."""
    return " ".join(text.split())
