"""Answers of a frozen backbone to prompt texts, greedy: what its head learns to foresee."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from mtp_cli.bench.prompts import asked
from mtp_cli.bench.stops import Stops
from mtp_cli.engine import Engine
from mtp_cli.events import StepEvent
from mtp_cli.tasks.session import Session
from mtp_cli.train.prompt_texts import PromptText

MOST_TOKENS = {"summarize": 112, "proofread": 96}
"""Tokens of an answer that are worth learning from; later ones are like them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The backbone's answer to one prompt text; `ids` includes the token that ended it by its text."""

    task: str
    split: str
    source: str
    text: str
    ids: list[int]


class Answerer:
    """Asks one model. `model` is its file, which decides on the prompts."""

    def __init__(self, engine: Engine, model: Path) -> None:
        self._engine = engine
        self._model = model
        self._session = Session(engine)

    def answer(self, item: PromptText) -> Answer | None:
        """None: the text does not fit the context with its answer."""
        question = asked(self._engine, item.text, item.task, self._model)
        most = MOST_TOKENS[item.task]
        if len(question.tokens) + most >= self._engine.n_ctx:
            return None
        events = self._session.ask(
            question.tokens, max_tokens=most, source=question.source, gate=Stops(question.stops)
        )
        ids = [event.token for event in events if isinstance(event, StepEvent)]
        return Answer(item.task, item.split, item.source, item.text, ids)


def read_answers(path: Path) -> list[Answer]:
    """All whole lines of an answer file; a line that was cut off by a crash is left out."""
    if not path.exists():
        return []
    found: list[Answer] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("\n"):
                break
            found.append(Answer(**json.loads(line)))
    return found


def write_answers(
    answerer: Answerer, items: Iterable[PromptText], path: Path, done: int
) -> Iterator[Answer]:
    """Answer `items` and append each to `path`, which holds `done` answers already, in the same order.

    Yields each new answer once it is on disk; too long texts give an empty one, to keep the order."""
    _cut(path, done)
    with path.open("a", encoding="utf-8") as out:
        for at, item in enumerate(items):
            if at < done:
                continue
            answer = answerer.answer(item) or Answer(item.task, item.split, item.source, item.text, [])
            _append(out, answer)
            yield answer


def _append(out: IO[str], answer: Answer) -> None:
    out.write(json.dumps(asdict(answer)) + "\n")
    out.flush()


def _cut(path: Path, lines: int) -> None:
    """Drop a last line that was not written whole."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        for _ in range(lines):
            file.readline()
        file.truncate()
