"""Texts to measure on: from a JSON-lines file or built in, and what the product makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mtp_cli.bench.client import BenchError

if TYPE_CHECKING:
    from mtp_cli.engine import Engine
    from mtp_cli.tasks.job import JobEvent
    from mtp_cli.tasks.prompts import Template
    from mtp_cli.tasks.proofread import Proofreader
    from mtp_cli.tasks.summarize import Summarizer

FREE = "free"
TASKS = ("summarize", "proofread", FREE)
MIXED = "mixed"
"""The tasks in turn, one text each."""
FIELDS = ("turns", "prompt", "text", "source")


@dataclass(frozen=True, slots=True)
class Text:
    """One text and where it comes from. `task` "" leaves the choice to the benchmark."""

    name: str
    text: str
    task: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A text as a model gets it: prompt ids, ids that the answer is expected to repeat, texts that end it."""

    tokens: list[int]
    source: list[int]
    stops: list[str]


def _text_of(record: object) -> str | None:
    if not isinstance(record, dict):
        return None
    for field in FIELDS:
        value = record.get(field)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, str) and value.strip():
            return value
    return None


def read_texts(path: Path, limit: int | None = None) -> list[Text]:
    """Texts of a JSON-lines file; of each line the first of `turns[0]`, `prompt`, `text`, `source`.

    Raises BenchError when the file cannot be read, a line has none of them, or there is no line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise BenchError(f"{path} is not UTF-8 text; --prompts wants one JSON object a line") from None
    except OSError as error:
        raise BenchError(f"cannot read {path}: {error.strerror or error}") from None
    found: list[Text] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if limit is not None and len(found) >= limit:
            break
        try:
            text = _text_of(json.loads(line))
        except ValueError:
            raise BenchError(f"{path}, line {number}: not JSON; --prompts wants one object a line") from None
        if text is None:
            raise BenchError(f"{path}, line {number}: needs one of the fields " + ", ".join(FIELDS))
        found.append(Text(f"{path.name}:{number}", text))
    if not found:
        raise BenchError(f"{path} holds no prompt")
    return found


def built_in(limit: int | None = None) -> list[Text]:
    """Four short English texts."""
    from mtp_cli.bench.texts import BUILT_IN

    return [Text(name, text) for name, text in BUILT_IN.items()][:limit]


def with_tasks(texts: Sequence[Text], task: str) -> list[Text]:
    """Each text with a task of its own: the one it has, else `task` (MIXED: all tasks in turn)."""
    return [
        text if text.task else replace(text, task=TASKS[at % len(TASKS)] if task == MIXED else task)
        for at, text in enumerate(texts)
    ]


def _template(engine: Engine, task: str, model: Path) -> Template:
    """The product's template of `task` for this model file. Raises BenchError."""
    from mtp_cli.catalog import ModelError, entry_for_file
    from mtp_cli.tasks.prompts import template_for

    if task not in TASKS or task == FREE:
        raise BenchError(f"there is no task {task!r}; known tasks: {', '.join(TASKS)}")
    try:
        entry = entry_for_file(model)
        return template_for(task, entry.prompts if entry else None, chat=engine.info.has_chat_template)
    except (ModelError, ValueError) as error:
        raise BenchError(str(error)) from error


def asked(engine: Engine, text: str, task: str, model: Path) -> Asked:
    """What the product asks the model for `text`, taken whole. "free": the text is what the person says, in
    the model's chat template where it has one. Raises BenchError."""
    from mtp_cli.tasks.prompts import Prompt, Template

    if task == FREE:
        if engine.info.has_chat_template:
            return Asked(Prompt(engine, Template("chat", "{text}")).tokens(text), [], [])
        return Asked(engine.tokenize(text, bos=True), [], [])
    template = _template(engine, task, model)
    prompt = Prompt(engine, template)
    if task == "proofread":
        line = " ".join(text.split())
        return Asked(prompt.tokens(line), prompt.repeated(line), list(template.stop))
    return Asked(prompt.tokens(text), [], list(template.stop))


def job(
    engine: Engine, task: str, model: Path, listen: Callable[[JobEvent], None]
) -> Summarizer | Proofreader:
    """The product's own job for `task`, with the prompts that suit the model file.

    Raises BenchError for an unknown task, or for prompts in models/*.toml that are not valid."""
    from mtp_cli.tasks.proofread import Proofreader
    from mtp_cli.tasks.summarize import Summarizer

    template = _template(engine, task, model)
    if task == "proofread":
        return Proofreader(engine, template, listen=listen)
    return Summarizer(engine, template, listen=listen)
