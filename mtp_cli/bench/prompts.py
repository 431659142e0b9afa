"""Texts to measure on: from a JSON-lines file or built in, and what the product makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mtp_cli.bench.client import BenchError

if TYPE_CHECKING:
    from mtp_cli.engine import Engine
    from mtp_cli.tasks.job import JobEvent
    from mtp_cli.tasks.proofread import Proofreader
    from mtp_cli.tasks.summarize import Summarizer

TASKS = ("summarize", "proofread", "free")
FIELDS = ("turns", "prompt", "text", "source")


@dataclass(frozen=True, slots=True)
class Text:
    """One text and where it comes from."""

    name: str
    text: str


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


def job(
    engine: Engine, task: str, model: Path, listen: Callable[[JobEvent], None]
) -> Summarizer | Proofreader:
    """The product's own job for `task`, with the prompts that suit the model file.

    Raises BenchError for an unknown task, or for prompts in models/*.toml that are not valid."""
    from mtp_cli.catalog import ModelError, entry_for_file
    from mtp_cli.tasks.prompts import template_for
    from mtp_cli.tasks.proofread import Proofreader
    from mtp_cli.tasks.summarize import Summarizer

    makers: dict[str, type[Summarizer] | type[Proofreader]] = {
        "summarize": Summarizer,
        "proofread": Proofreader,
    }
    if task not in makers:
        raise BenchError(f"there is no task {task!r}; known tasks: {', '.join(TASKS)}")
    try:
        entry = entry_for_file(model)
        prompts = entry.prompts if entry else None
        template = template_for(task, prompts, chat=engine.info.has_chat_template)
    except (ModelError, ValueError) as error:
        raise BenchError(str(error)) from error
    return makers[task](engine, template, listen=listen)
