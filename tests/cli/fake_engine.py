"""An engine without weights: its answers are written beforehand. A token is a word piece or a single byte."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtp_cli.engine import (
    AUTO,
    GREEDY,
    ContextFullError,
    Drafting,
    EngineError,
    HeadFileError,
    HeadInfo,
    ModelInfo,
    Progress,
    Sampling,
    Step,
)
from mtp_cli.events import FinishReason, Source
from mtp_cli.work import Work

END, BOS = 0, 1
_PIECE = re.compile(rb"<\|[a-z_]+\|>| ?[A-Za-z]+|[\x00-\xff]", re.DOTALL)

WRONG = frozenset(b"teh mesages mroe closd take dont Its color Jonh".split())
"""Words that the engine finds unlikely."""

Script = Callable[[str], str]
"""The prompt as text -> the answer."""


class FakeEngine:
    """Implements `mtp_cli.engine.Engine`. Words are single tokens, all else (emoji too) goes byte by byte.

    `window`: positions a roll back can reach, as in a sliding-window cache. `fail` is raised by the decode
    pass number `fail_at`. `drafts`: tokens that a pass drafts rightly, with a wrong one after them; with a
    lenient rule the last right one counts as lenient. `calls` notes every prefill as (n_past, tokens),
    `starts` what every answer was asked with."""

    def __init__(
        self,
        answer: Script,
        *,
        n_ctx: int = 512,
        chat: bool = True,
        window: int = 0,
        fail: BaseException | None = None,
        fail_at: int = 0,
        pause: float = 0.0,
        drafts: int = 0,
    ) -> None:
        self._answer = answer
        self._n_ctx = n_ctx
        self._chat = chat
        self._window = window
        self._fail, self._fail_at, self._pause = fail, fail_at, pause
        self._ids: dict[bytes, int] = {b"<end>": END, b"<bos>": BOS}
        self._bytes: list[bytes] = [b"", b""]
        self.cache: list[int] = []
        self._script: list[int] = []
        self.calls: list[tuple[int, list[int]]] = []
        self.passes = 0
        self.columns = 0
        self._drafts = drafts
        self.starts: list[tuple[list[int], Sampling, Drafting]] = []
        self._next_token = END
        self._pending = END
        self._left = 0
        self._drafting = AUTO
        self.head: HeadInfo | None = None

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(Path("fake.gguf"), "fake", "fake", 1, 1, 1, 1, 1, 4096, {}, "scalar", self._chat)

    @property
    def n_ctx(self) -> int:
        return self._n_ctx

    @property
    def n_past(self) -> int:
        return len(self.cache)

    @property
    def n_threads(self) -> int:
        return 1

    @property
    def work(self) -> Work | None:
        """Every pass reads 1,000 bytes and multiplies 100 times for each token, in a core second."""
        return Work(self.passes, self.columns, 1e3 * self.passes, 100.0 * self.columns, float(self.passes))

    def tokenize(self, text: str, *, special: bool = False, bos: bool = False) -> list[int]:
        row = [BOS] if bos else []
        for piece in _PIECE.findall(text.encode()):
            parts = [piece] if special or not piece.startswith(b"<|") else [bytes([byte]) for byte in piece]
            for part in parts:
                if part not in self._ids:
                    self._ids[part] = len(self._bytes)
                    self._bytes.append(part)
                row.append(self._ids[part])
        return row

    def piece(self, token: int) -> bytes:
        return self._bytes[token]

    def is_end(self, token: int) -> bool:
        return token == END

    def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        if not self._chat:
            raise EngineError("the model has no chat template")
        return "".join(f"<|{role}|>{text}<|end|>" for role, text in messages) + "<|assistant|>"

    def prefill(self, tokens: Sequence[int], progress: Progress | None = None) -> int:
        self._room(len(tokens))
        self.calls.append((self.n_past, list(tokens)))
        self.cache += tokens
        if progress is not None:
            progress(len(tokens), len(tokens))
        prompt = b"".join(self._bytes[token] for token in self.cache).decode()
        self._script = [*self.tokenize(self._answer(prompt)), END]
        self._next_token = self._next()
        return self._next_token

    def decode(self, tokens: Sequence[int]) -> list[int]:
        self._room(len(tokens))
        self.passes += 1
        if self._fail is not None and self.passes == self._fail_at:
            raise self._fail
        time.sleep(self._pause)
        self.columns += len(tokens)
        self.cache += tokens
        return [self._next() for _ in tokens]

    def logits(self, tokens: Sequence[int]) -> Any:
        """What follows is what was to be expected, unless it is one of WRONG."""
        self._room(len(tokens))
        self.cache += tokens
        rows = np.zeros((len(tokens), len(self._bytes) + 512), np.float32)
        for row, token in zip(rows, tokens[1:], strict=False):
            row[token] = -40.0 if self._bytes[token].strip() in WRONG else 20.0
        return rows

    def open_head(self, path: Path) -> None:
        if path.read_bytes() != b"head":
            raise HeadFileError(f"{path}: is not a draft head")
        self.head = HeadInfo(4, 4, 4, [[0]], 8)

    def start(
        self,
        prompt: Sequence[int],
        *,
        max_tokens: int,
        source: Sequence[int] = (),
        sampling: Sampling = GREEDY,
        drafting: Drafting = AUTO,
    ) -> Step:
        assert self.cache == list(prompt), "start needs the prompt, all of it, in the cache"
        self.starts.append((list(source), sampling, drafting))
        self._left, self._drafting = max_tokens, drafting
        if max_tokens <= 0:
            return Step((), (), 0, 0, 0, (), FinishReason.TOKEN_LIMIT, 0.0)
        return self._commit([self._next_token], 0, 0)

    def step(self) -> Step:
        room = min(self._drafts, self._left - 1, self._n_ctx - self.n_past - 1)
        right = self._script[:room] if self._drafting.mode != "off" and room > 0 else []
        if END in right:
            right = right[: right.index(END)]
        answers = self.decode([self._pending, *right])
        return self._commit(answers, len(right), len(right) + (len(right) == room > 0))

    def _commit(self, answers: list[int], right: int, drafted: int) -> Step:
        """Take the tokens of one pass into the answer; the first `right` of them were drafted."""
        tokens = answers[:-1] if answers[-1] == END else answers
        self._left -= len(tokens)
        self._pending = answers[-1]
        sources: tuple[Source, ...] = ("copy",) * right + ("backbone",) * (len(tokens) - right)
        finish = FinishReason.END_TOKEN if answers[-1] == END else None
        if finish is None and self._left <= 0:
            finish = FinishReason.TOKEN_LIMIT
        elif finish is None and self.n_past >= self._n_ctx:
            finish = FinishReason.CONTEXT_FULL
        lenient = 1 if right and self._drafting.lenient else 0
        return Step(tuple(tokens), sources, drafted, right, lenient, ("copy",) * drafted, finish, 0.0)

    def rollback(self, n_past: int) -> None:
        if n_past and self._window and self.n_past - n_past > self._window:
            raise EngineError("these positions are gone")
        del self.cache[n_past:]

    def abort(self) -> None:
        """Nothing runs for long."""

    def close(self) -> None:
        """Nothing to free."""

    def _next(self) -> int:
        return self._script.pop(0) if self._script else END

    def _room(self, count: int) -> None:
        if self.n_past + count > self._n_ctx:
            raise ContextFullError(f"the context of {self._n_ctx} tokens is full")


def last_text(prompt: str) -> str:
    """The text that the proofreading prompt of the default chat template asks about."""
    return prompt.rpartition("<|user|>Text: ")[2].partition("<|end|>")[0]


def fixing(**words: str) -> Script:
    """A proofreader that replaces words and copies the rest."""

    def answer(prompt: str) -> str:
        text = last_text(prompt)
        for wrong, right in words.items():
            text = re.sub(rf"\b{wrong}\b", right, text)
        return " " + text

    return answer
