"""The typed face of the native module: one loaded model with its KV cache and tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mtp_cli.events import FinishReason, Source
from mtp_cli.work import PassShape, Work

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_WIDTH = 16
"""Most tokens that one decode pass takes."""

Progress = Callable[[int, int], None]
"""Called with (done, total); units are bytes while loading and tokens in a prefill."""


class EngineError(Exception):
    """Anything the native engine refuses. The message is one line for a person."""


class ModelFileError(EngineError):
    """The model file is missing, damaged, incomplete or of a kind that is not supported (exit code 3)."""


class HeadFileError(EngineError):
    """The draft head is missing, damaged, or belongs to another model."""


class ContextFullError(EngineError):
    """More tokens than the KV cache has room for."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the file says about itself, and what was chosen for this machine."""

    path: Path
    architecture: str
    name: str
    file_bytes: int
    parameters: int
    n_layer: int
    n_embd: int
    n_vocab: int
    n_ctx_train: int
    weight_types: dict[str, int]
    """bytes by weight type, e.g. {"Q4_1": 66000000}"""
    kernel: str
    """kernel set in use: scalar | avx2 | avx_vnni | avx512_vnni"""
    has_chat_template: bool
    shape: PassShape | None = None
    """what a pass reads and multiplies; None: not told"""


@dataclass(frozen=True, slots=True)
class HeadInfo:
    """An open draft head. sources: backbone layers whose cache each of its layers reads; weight_bytes and
    buffer_bytes: all the memory it adds; draft_vocabulary: tokens it can draft, those of the prompt apart."""

    file_bytes: int
    weight_bytes: int
    buffer_bytes: int
    sources: list[list[int]]
    draft_vocabulary: int


DRAFT_MODES = ("auto", "off", "copy", "head", "copy+head")
"""auto: whatever drafters there are, gated by what they cost here; off: plain decoding."""
LENIENT_RULES = ("chow", "diff", "opt", "token-v1", "token-v2", "token-v3")
MAX_DRAFT = MAX_WIDTH - 1


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a token is taken from a row of logits. Temperature 0 is the arg-max.

    In order: repetition penalty over the last `repeat_last` tokens, top-k (0: all), top-p (of what top-k
    left), min-p, temperature, one draw that depends on seed and position only."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    repeat_last: int = 64
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Drafting:
    """How tokens are drafted. `fixed`: always that many, without the gate. `lenient`: one of LENIENT_RULES,
    or "": with a rule the text may differ from the model's own."""

    mode: str = "auto"
    longest: int = MAX_DRAFT
    fixed: int | None = None
    lenient: str = ""
    alpha: float = 0.0


GREEDY = Sampling()
AUTO = Drafting()


@dataclass(frozen=True, slots=True)
class Step:
    """What one backbone pass gave: committed tokens and where each came from.

    drafted, accepted: tested drafts and those kept, up to the end of the answer; lenient: of those accepted,
    the ones that the model would not have chosen. draft_sources: who drafted each tested token; head_steps,
    head_seconds: what the head was asked for; asked: tokens of the pass beside the pending one. finish:
    None while the answer goes on."""

    tokens: tuple[int, ...]
    sources: tuple[Source, ...]
    drafted: int
    accepted: int
    lenient: int
    draft_sources: tuple[Source, ...]
    finish: FinishReason | None
    seconds: float
    head_steps: int = 0
    head_seconds: float = 0.0
    asked: int = 0


class Engine(Protocol):
    """One sequence on one model. Not thread safe, except `abort`.

    The KV cache holds positions [0, n_past). Every call that feeds tokens appends at n_past.
    """

    @property
    def info(self) -> ModelInfo: ...
    @property
    def n_ctx(self) -> int: ...
    @property
    def n_past(self) -> int: ...
    @property
    def n_threads(self) -> int: ...
    @property
    def work(self) -> Work | None:
        """What has been computed since the engine was opened; None where it is not counted."""
        ...

    def tokenize(self, text: str, *, special: bool = False, bos: bool = False) -> list[int]:
        """Token ids of `text`. `special` parses control tokens such as <|im_start|>; `bos` puts the
        model's begin-of-text token in front, if the model wants one and the text does not have it."""
        ...

    def piece(self, token: int) -> bytes:
        """The bytes of one token (maybe a part of a UTF-8 character); b"" for control tokens."""
        ...

    def is_end(self, token: int) -> bool:
        """True for end-of-text and end-of-turn tokens."""
        ...

    def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        """The model's own chat template over (role, content) pairs, answer opened.

        Raises EngineError when the model has none."""
        ...

    def prefill(self, tokens: Sequence[int], progress: Progress | None = None) -> int:
        """Feed any number of tokens in chunks; returns the arg-max token after the last one.

        KeyboardInterrupt and `abort` leave n_past at the last finished chunk."""
        ...

    def decode(self, tokens: Sequence[int]) -> list[int]:
        """One pass over 1..MAX_WIDTH tokens; returns the arg-max after each. All are appended: use
        `rollback` to drop those that were wrong."""
        ...

    def logits(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        """Like decode, for any number of tokens; returns [len(tokens), n_vocab]."""
        ...

    def open_head(self, path: Path) -> None:
        """Draft with this head from now on. Raises HeadFileError: it is missing, damaged, or another model's;
        the engine then has the head that it had."""
        ...

    @property
    def head(self) -> HeadInfo | None:
        """The open head, if there is one."""
        ...

    def start(
        self,
        prompt: Sequence[int],
        *,
        max_tokens: int,
        source: Sequence[int] = (),
        sampling: Sampling = GREEDY,
        drafting: Drafting = AUTO,
    ) -> Step:
        """Begin an answer to `prompt`, all of which is in the cache by a `prefill` that ended there.

        `source`: tokens that the answer is expected to repeat with edits. The first token needs no pass."""
        ...

    def step(self) -> Step:
        """One more pass: draft, verify, commit. The last committed token is not in the cache."""
        ...

    def rollback(self, n_past: int) -> None:
        """Forget positions from n_past on. Copies nothing. Raises EngineError when a sliding window has
        already dropped positions that n_past would need."""
        ...

    def abort(self) -> None:
        """Make the running call raise EngineError("aborted") soon. Any thread may call it."""
        ...

    def close(self) -> None: ...


def open_engine(
    path: Path,
    *,
    n_ctx: int = 0,
    n_threads: int = 0,
    kernel: str = "auto",
    progress: Progress | None = None,
) -> Engine:
    """Load a GGUF file. n_ctx 0: the model's own, at most 4096; n_threads 0: the performance cores.

    Raises ModelFileError, EngineError (bad option) or KeyboardInterrupt."""
    from mtp_cli.engine_native import NativeEngine

    return NativeEngine(path, n_ctx=n_ctx, n_threads=n_threads, kernel=kernel, progress=progress)


def kernel_sets() -> dict[str, Any]:
    """{"compiled": [...], "usable": [...], "features": [...]} of this build and CPU."""
    from mtp_cli import _native

    found: dict[str, Any] = _native.kernel_sets()
    return found
