"""Summarise one text, in parts when it does not fit the context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mtp_cli.engine import AUTO, GREEDY, Drafting, Engine, EngineError, Sampling
from mtp_cli.events import EndEvent, FinishReason, StepEvent
from mtp_cli.tasks.gate import AnswerGate
from mtp_cli.tasks.job import JobEvent, Part, Plan, Reading, Text
from mtp_cli.tasks.prompts import Prompt, Template
from mtp_cli.tasks.session import Session
from mtp_cli.tasks.split import parts

_LEAST_ROOM = 32
"""Fewest tokens of text a part must have room for."""
_PART_TOKENS = 96
"""Most tokens of the summary of one part: these summaries are summarised again."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The result. `input_tokens` counts the text alone; `used_tokens` what of it the model has read."""

    text: str
    input_tokens: int
    used_tokens: int
    chunks: int
    finish_reason: FinishReason

    @property
    def truncated(self) -> bool:
        """Always False: every part is read."""
        return self.used_tokens < self.input_tokens


class Summarizer:
    """Summaries with one model. `listen` hears every JobEvent as it happens."""

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
        self._max_tokens = max_tokens or template.max_tokens
        self._listen = listen

    def prompts(self, text: str) -> list[str]:
        """The prompts of the first round, as text."""
        return [self._prompt.text(part) for part in self._split(text)]

    def prompt_tokens(self, text: str) -> list[int]:
        """Token ids of the one prompt for the whole text, however long."""
        return self._prompt.tokens(text)

    def run(self, text: str) -> Summary:
        """Text events carry the summary while it is written. Raises EngineError, KeyboardInterrupt."""
        total = self._count(text)
        pieces = self._split(text)
        chunks = len(pieces)
        self._listen(Plan(total, chunks))
        while len(pieces) > 1:
            joined = "\n\n".join(self._part_summaries(pieces))
            smaller = self._split(joined)
            if len(smaller) >= len(pieces):  # summaries as long as their texts: it would go on for ever
                self._listen(Text(joined))
                return Summary(joined, total, total, chunks, FinishReason.TOKEN_LIMIT)
            pieces = smaller
        shown, reason = self._answer(pieces[0], self._max_tokens, show=True)
        return Summary(shown, total, total, chunks, reason)

    def _part_summaries(self, pieces: list[str]) -> Iterator[str]:
        for number, piece in enumerate(pieces, 1):
            self._listen(Part(number, len(pieces), "part"))
            limit = min(self._max_tokens, _PART_TOKENS, max(16, self._count(piece) // 2))
            yield self._answer(piece, limit, show=False)[0]

    def _answer(self, text: str, limit: int, *, show: bool) -> tuple[str, FinishReason]:
        template = self._prompt.template
        tokens = self._prompt.tokens(text)
        limit = max(1, min(limit, self._engine.n_ctx - len(tokens)))
        opening = template.opening.lstrip() if template.keep_answer_opening else ""
        gate = AnswerGate(
            template.stop, max_sentences=template.max_sentences, preamble=not opening, opening=opening
        )
        shown: list[str] = []
        reason = FinishReason.TOKEN_LIMIT
        for event in self._session.ask(tokens, max_tokens=limit, gate=gate, progress=self._reading):
            self._listen(event)
            if isinstance(event, StepEvent):
                piece = event.text
            elif isinstance(event, EndEvent):
                piece, reason = event.tail, event.reason
            else:
                continue
            if piece:
                shown.append(piece)
                if show:
                    self._listen(Text(piece))
        return "".join(shown), reason

    def _reading(self, done: int, total: int) -> None:
        self._listen(Reading(done, total))

    def _split(self, text: str) -> list[str]:
        room = self._engine.n_ctx - self._prompt.overhead - self._max_tokens - 1
        if room < _LEAST_ROOM:
            needed = self._prompt.overhead + self._max_tokens + _LEAST_ROOM + 1
            if needed > self._engine.info.n_ctx_train:
                raise EngineError(
                    f"answers of {self._max_tokens} tokens are more than this model's context of "
                    f"{self._engine.info.n_ctx_train} has room for; use a smaller --max-tokens"
                )
            raise EngineError(
                f"a context of {self._engine.n_ctx} tokens is too small for this prompt; "
                f"use --ctx {needed} or more, or a smaller --max-tokens"
            )
        return parts(text.strip(), room, self._count)

    def _count(self, text: str) -> int:
        return len(self._engine.tokenize(text))
