"""Proofread one text, sentence by sentence; its layout stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mtp_cli.engine import AUTO, GREEDY, Drafting, Engine, EngineError, Sampling
from mtp_cli.events import EndEvent, FinishReason, StepEvent
from mtp_cli.tasks.clean import clean_answer
from mtp_cli.tasks.gate import AnswerGate
from mtp_cli.tasks.guard import Change, check
from mtp_cli.tasks.job import JobEvent, Part, Plan, Reading, Text
from mtp_cli.tasks.layout import Unit, units
from mtp_cli.tasks.prompts import Prompt, Template
from mtp_cli.tasks.session import Session

_GROWTH = 1.5
_SPARE_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Correction:
    """The result. Changes have character positions in the whole source."""

    text: str
    input_tokens: int
    sentences: int
    edits: tuple[Change, ...]
    refused: tuple[Change, ...]


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
        listen: Callable[[JobEvent], None] = lambda event: None,
    ) -> None:
        self._engine = engine
        self._session = Session(engine, sampling=sampling, drafting=drafting)
        self._prompt = Prompt(engine, template)
        self._max_tokens = max_tokens
        self._listen = listen

    def prompts(self, text: str) -> list[str]:
        """The prompts for the sentences of `text`, as text."""
        return [self._prompt.text(_flat(unit.text)) for unit in units(text) if unit.prose]

    def prompt_tokens(self, text: str) -> list[int]:
        """Token ids of the prompt for `text` taken as one sentence."""
        return self._prompt.tokens(_flat(text))

    def run(self, text: str) -> Correction:
        """Text events carry the corrected text in order. Raises EngineError, KeyboardInterrupt."""
        todo = list(units(text))
        wanted = sum(unit.prose for unit in todo)
        counts = [len(self._engine.tokenize(_flat(unit.text))) if unit.prose else 0 for unit in todo]
        self._listen(Plan(sum(counts), wanted))
        out: list[str] = []
        edits: list[Change] = []
        refused: list[Change] = []
        at = number = 0
        for unit, tokens in zip(todo, counts, strict=True):
            result = unit.text
            if unit.prose:
                number += 1
                self._listen(Part(number, wanted, "sentence"))
                checked = check(unit.text, self._answer(unit, tokens), prose=unit.sentence)
                result = checked.text
                edits += (_moved(change, at) for change in checked.taken)
                refused += (_moved(change, at) for change in checked.refused)
            at += len(unit.text)
            out.append(result)
            if result:
                self._listen(Text(result))
        return Correction("".join(out), sum(counts), wanted, tuple(edits), tuple(refused))

    def _answer(self, unit: Unit, tokens: int) -> str:
        source = _flat(unit.text)
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


def _whole_words(answer: str) -> str:
    """An answer that was cut off, without its last word: half a word would look like a correction."""
    return answer.rpartition(" ")[0]


def _flat(text: str) -> str:
    """One line with single spaces, as the model gets it."""
    return " ".join(text.split())


def _moved(change: Change, by: int) -> Change:
    return Change(change.start + by, change.end + by, change.before, change.after, change.reason)
