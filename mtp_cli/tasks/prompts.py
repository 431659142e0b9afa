"""Prompt templates: the [prompts] part of models/*.toml -> token ids.

A template is rendered once around a placeholder. The text takes the placeholder's place as plain tokens,
so that nothing in it can act as a control token, and what stands before it is the same for every text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from mtp_cli.engine import Engine

_PLACE = "@@mtp:text@@"
_END_OF_TEXT = 2
"""Tokens behind a text that tell it has ended."""


@dataclass(frozen=True, slots=True)
class Template:
    """How one task is put to one model. Keys of a [prompts.TASK] table in models/*.toml:

    style       "chat" (the model's own template) or "completion" (plain text)
    system      chat: the system message, or ""; completion: text in front of everything
    user        one request; {text} stands for the text
    answer      one answer; {text} stands for it. What is before {text} opens the answer of the model
    shots       worked examples: [[text, answer], ...]
    stop        texts that end an answer
    keep_answer_opening   the opening is part of the result
    max_tokens, max_sentences   limits of an answer; max_sentences 0: none
    """

    style: str
    user: str
    system: str = ""
    answer: str = "{text}"
    shots: tuple[tuple[str, str], ...] = ()
    stop: tuple[str, ...] = ()
    keep_answer_opening: bool = False
    max_tokens: int = 256
    max_sentences: int = 0

    @property
    def opening(self) -> str:
        """What the answer opens with, without white space at its end (that belongs to the next token)."""
        return self.answer.partition("{text}")[0].rstrip()


DEFAULTS: Mapping[str, Mapping[str, Template]] = {
    "chat": {
        "summarize": Template(
            "chat", "Summarize the following text in two or three sentences.\n\n{text}", max_sentences=5
        ),
        "proofread": Template(
            "chat",
            "Text: {text}",
            system="You correct spelling and grammar. You never answer. You change nothing else.",
            answer="Corrected text: {text}",
            shots=(("What is you're opinion about this ideas?", "What is your opinion about these ideas?"),),
            stop=("\n",),
        ),
    },
    "completion": {
        "summarize": Template(
            "completion",
            "{text}\n\nIn short,",
            answer=" this text is about{text}",
            keep_answer_opening=True,
            stop=("\n",),
            max_sentences=3,
        ),
        "proofread": Template(
            "completion",
            "Text: {text}\n",
            answer="Corrected text: {text}",
            shots=(
                ("What is you're opinion about this ideas?", "What is your opinion about these ideas?"),
                ("The weather is nice today.", "The weather is nice today."),
            ),
            stop=("\n",),
        ),
    },
}
"""For model files that no models/*.toml describes, by style."""


def template_for(task: str, prompts: Mapping[str, Any] | None, *, chat: bool) -> Template:
    """The template of `task` in a model's own prompts, else the default for a model with or without a chat
    template. Raises ValueError for a table that is not valid."""
    own = (prompts or {}).get(task)
    if own is None:
        return DEFAULTS["chat" if chat else "completion"][task]
    return parse_template(task, own)


def parse_template(task: str, table: Mapping[str, Any]) -> Template:
    """A [prompts.TASK] table. Raises ValueError for one that is not valid."""
    values = dict(table)
    try:
        values["shots"] = tuple((str(text), str(answer)) for text, answer in values.get("shots", ()))
        values["stop"] = tuple(str(stop) for stop in values.get("stop", ()))
        template = Template(**values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"prompts.{task}: {error}") from None
    if template.style not in DEFAULTS or template.user.count("{text}") != 1:
        raise ValueError(
            f"prompts.{task}: style must be chat or completion, and user must hold {{text}} once"
        )
    return template


class Prompt:
    """A template made ready for one model: tokens around any text."""

    def __init__(self, engine: Engine, template: Template) -> None:
        self.template = template
        self._engine = engine
        head, _, tail = _render(engine, template).partition(_PLACE)
        stem = head.rstrip(" ")
        self.lead = head[len(stem) :]  # a blank in front of a word is part of that word's token
        self.before = stem
        self.after = tail
        self._before = engine.tokenize(stem, special=True, bos=True)
        self._after = engine.tokenize(tail, special=True)
        self._firsts: dict[str, int] = {}

    def opened(self, words: str) -> Prompt:
        """The same with `words` as the beginning of the answer; "" changes nothing."""
        if not words:
            return self
        prompt = copy(self)
        prompt.after = f"{self.after}{' ' * bool(self.template.opening)}{words}"
        prompt._after = self._engine.tokenize(prompt.after, special=True)
        return prompt

    @property
    def overhead(self) -> int:
        """Tokens around the text."""
        return len(self._before) + len(self._after)

    def tokens(self, text: str) -> list[int]:
        """The whole prompt around `text`, which is taken without white space at its ends."""
        return self._before + self._engine.tokenize(self.lead + text.strip()) + self._after

    @property
    def before_tokens(self) -> int:
        """Tokens in front of the text, the same for every text."""
        return len(self._before)

    def as_text(self, text: str) -> list[int]:
        """The prompt up to the end of `text`, with the beginning of what follows it."""
        return self.tokens(text)[: -len(self._after) or None] + self._after[:_END_OF_TEXT]

    def first_token(self, words: str) -> int:
        """The first token of a text in the middle of a line."""
        if words not in self._firsts:
            self._firsts[words] = self._engine.tokenize(words)[0]
        return self._firsts[words]

    def repeated(self, text: str) -> list[int]:
        """Tokens of an answer that is `text` itself."""
        opening = self.template.answer.partition("{text}")[0]
        blank = opening[len(opening.rstrip()) :]
        return self._engine.tokenize(blank + text.strip())

    def text(self, text: str) -> str:
        """The same as a person would read it."""
        return f"{self.before}{self.lead}{text.strip()}{self.after}"


def _render(engine: Engine, template: Template) -> str:
    """The prompt with `_PLACE` for the text and the answer opened."""
    if template.style == "chat":
        messages: list[tuple[str, str]] = [("system", template.system)] if template.system else []
        for text, answer in template.shots:
            messages.append(("user", _fill(template.user, text)))
            messages.append(("assistant", _fill(template.answer, answer)))
        messages.append(("user", _fill(template.user, _PLACE)))
        return engine.chat_prompt(messages) + template.opening
    shots = [f"{_fill(template.user, t)}{_fill(template.answer, a)}\n\n" for t, a in template.shots]
    return template.system + "".join(shots) + _fill(template.user, _PLACE) + template.opening


def _fill(form: str, text: str) -> str:
    return form.replace("{text}", text)


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of what both begin with."""
    length = min(len(left), len(right))
    return next((at for at in range(length) if left[at] != right[at]), length)
