"""The Engine protocol on top of the native module."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

# Threads meet after every step of a pass. They spin for some 20 us, then sleep: spinning on would stop a
# machine that has other work to do. The OpenMP runtime reads this when it is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "2000")

from mtp_cli import _native  # noqa: E402
from mtp_cli.engine import ContextFullError, EngineError, ModelFileError, ModelInfo, Progress  # noqa: E402
from mtp_cli.threads import default_threads  # noqa: E402

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_ERRORS: dict[str, type[EngineError]] = {
    "bad_file": ModelFileError,
    "unsupported": ModelFileError,
    "context_full": ContextFullError,
}


def _raise(error: Exception) -> NoReturn:
    """A native error as the exception that `mtp_cli.engine` documents."""
    code, message = error.args
    raise _ERRORS.get(code, EngineError)(message.decode("utf-8", "replace")) from None


class NativeEngine:
    """See `mtp_cli.engine.Engine`."""

    def __init__(self, path: Path, *, n_ctx: int, n_threads: int, kernel: str, progress: Progress | None) -> None:
        self._path = path
        threads = n_threads if n_threads != 0 else default_threads()
        try:
            self._native = _native.Engine(str(path), n_ctx, threads, kernel, progress)
        except _native.Error as error:
            _raise(error)
        found = self._native.info()
        self._info = ModelInfo(
            path=path,
            architecture=found["architecture"].decode("utf-8", "replace"),
            name=found["name"].decode("utf-8", "replace"),
            file_bytes=found["file_bytes"],
            parameters=found["parameters"],
            n_layer=found["n_layer"],
            n_embd=found["n_embd"],
            n_vocab=found["n_vocab"],
            n_ctx_train=found["n_ctx_train"],
            weight_types=found["weight_types"],
            kernel=found["kernel"],
            has_chat_template=found["has_chat_template"],
        )

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def n_ctx(self) -> int:
        return self._native.n_ctx

    @property
    def n_past(self) -> int:
        return self._native.length

    @property
    def n_threads(self) -> int:
        return self._native.n_threads

    def tokenize(self, text: str, *, special: bool = False, bos: bool = False) -> list[int]:
        try:
            return self._native.tokenize(text.encode("utf-8", "surrogateescape"), bos, special)
        except _native.Error as error:
            _raise(error)

    def piece(self, token: int) -> bytes:
        return self._native.piece(token)

    def is_end(self, token: int) -> bool:
        return self._native.is_end(token)

    def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        encoded = [(role.encode(), content.encode("utf-8", "surrogateescape")) for role, content in messages]
        try:
            return self._native.chat_prompt(encoded).decode("utf-8", "surrogateescape")
        except _native.Error as error:
            _raise(error)

    def prefill(self, tokens: Sequence[int], progress: Progress | None = None) -> int:
        try:
            return self._native.prefill(list(tokens), progress)
        except _native.Error as error:
            _raise(error)

    def decode(self, tokens: Sequence[int]) -> list[int]:
        try:
            return self._native.decode(list(tokens))
        except _native.Error as error:
            _raise(error)

    def logits(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        try:
            return self._native.logits(list(tokens))
        except _native.Error as error:
            _raise(error)

    def rollback(self, n_past: int) -> None:
        try:
            self._native.rollback(n_past)
        except _native.Error as error:
            _raise(error)

    def abort(self) -> None:
        self._native.abort()

    def close(self) -> None:
        self._native.close()
