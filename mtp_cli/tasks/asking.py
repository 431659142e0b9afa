"""One question of a summary to the model, answered in whole sentences; what was kept is not asked again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from mtp_cli.engine import AUTO, GREEDY, Drafting, Engine, Sampling
from mtp_cli.events import EndEvent, FinishReason
from mtp_cli.tasks.job import JobEvent, Reading
from mtp_cli.tasks.prompts import Prompt
from mtp_cli.tasks.session import Session
from mtp_cli.tasks.summary_gate import SummaryGate
from mtp_cli.tasks.summary_wish import Length


class Kept(Protocol):
    """Answers of an earlier run."""

    def get(self, key: str) -> str | None:
        """The sentences of the answer with that key, one a line; None: not kept."""
        ...


class NothingKept:
    """Every question is asked."""

    def get(self, key: str) -> str | None:
        return None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `limit`: most tokens of the answer; 0 sentences: no limit."""

    text: str
    limit: int
    sentences: int = 0
    length: Length | None = None
    said: tuple[str, ...] = ()
    opening: str = ""
    """what the answer is made to begin with"""


@dataclass(frozen=True, slots=True)
class Answer:
    """Whole sentences. `rest` is one that was left unfinished."""

    sentences: tuple[str, ...]
    reason: FinishReason
    rest: str = ""
    looped: bool = False
    key: str = ""
    kept: bool = False

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


class Asker:
    """Asks one engine. `listen` hears the events of the decode loop."""

    def __init__(
        self,
        engine: Engine,
        *,
        sampling: Sampling = GREEDY,
        drafting: Drafting = AUTO,
        kept: Kept | None = None,
        listen: Callable[[JobEvent], None] = lambda event: None,
    ) -> None:
        self.engine = engine
        self._session = Session(engine, sampling=sampling, drafting=drafting)
        self._kept = kept if kept is not None else NothingKept()
        self._listen = listen
        info = engine.info
        self._same = [info.name, info.file_bytes, repr(sampling), drafting.lenient, drafting.alpha]

    def count(self, text: str) -> int:
        """Tokens of `text`."""
        return len(self.engine.tokenize(text))

    def ask(self, prompt: Prompt, question: Question, show: Callable[[str], None] | None = None) -> Answer:
        """`show` gets each sentence once it is whole; when the run is interrupted, what there is of the next
        one too. Raises EngineError, KeyboardInterrupt."""
        prompt = prompt.opened(question.opening)
        tokens = prompt.tokens(question.text)
        limit = max(1, min(question.limit, self.engine.n_ctx - len(tokens)))
        key = self._key(tokens, limit, question)
        kept = self._kept.get(key)
        if kept is not None:
            answer = Answer(tuple(kept.splitlines()), FinishReason.STOP_TEXT, key=key, kept=True)
            for sentence in answer.sentences if show else ():
                show(sentence)  # type: ignore[misc]
            return answer
        return self._ask(prompt, tokens, limit, question, key, show)

    def _ask(
        self,
        prompt: Prompt,
        tokens: Sequence[int],
        limit: int,
        question: Question,
        key: str,
        show: Callable[[str], None] | None,
    ) -> Answer:
        template = prompt.template
        opening = template.opening.lstrip() if template.keep_answer_opening else ""
        gate = SummaryGate(
            template.stop,
            max_sentences=question.sentences,
            length=question.length,
            opening=f"{opening} {question.opening}".strip(),
            said=question.said,
            thinking=prompt.after.rstrip().endswith(("<think>", "<thinking>")),
        )
        reason = FinishReason.TOKEN_LIMIT
        shown = 0

        def show_new() -> int:
            for sentence in gate.sentences[shown:] if show else ():
                show(sentence)  # type: ignore[misc]
            return len(gate.sentences)

        try:
            for event in self._session.ask(tokens, max_tokens=limit, gate=gate, progress=self._reading):
                self._listen(event)
                if isinstance(event, EndEvent):
                    reason = event.reason
                shown = show_new()
        except BaseException:
            if show and gate.rest:
                show(gate.rest)
            raise
        rest = gate.rest
        gate.close(complete=reason in (FinishReason.END_TOKEN, FinishReason.STOP_TEXT))
        show_new()
        unfinished = rest if reason in (FinishReason.TOKEN_LIMIT, FinishReason.CONTEXT_FULL) else ""
        return Answer(tuple(gate.sentences), reason, unfinished, gate.looped, key)

    def _reading(self, done: int, total: int) -> None:
        self._listen(Reading(done, total))

    def _key(self, tokens: Sequence[int], limit: int, question: Question) -> str:
        """Names everything that the answer depends on."""
        length = question.length
        parts = [self._same, list(tokens), limit, question.sentences, question.said]
        parts.append([length.words, length.strict] if length else None)
        return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()[:32]
