"""GGUF files byte by byte, so that a test can write what no proper writer would."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
_FORMATS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q",
            I64: "q", F64: "d"}  # fmt: skip


def text(value: str | bytes, length: int | None = None) -> bytes:
    """A string; `length` claims another one than it has."""
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw


def _content(kind: int, value: object) -> bytes:
    if kind == STRING:
        assert isinstance(value, str | bytes)
        return text(value)
    return struct.pack("<" + _FORMATS[kind], value)


def scalar(key: str | bytes, kind: int, value: object) -> bytes:
    return text(key) + struct.pack("<I", kind) + _content(kind, value)


def array(key: str, kind: int, values: Sequence[object], count: int | None = None) -> bytes:
    """An array; `count` claims another number of elements than it has."""
    n = len(values) if count is None else count
    head = text(key) + struct.pack("<IIQ", ARRAY, kind, n)
    return head + b"".join(_content(kind, value) for value in values)


def tensor(
    name: str | bytes, extents: Sequence[int], kind: int = 0, offset: int = 0, dims: int | None = None
) -> bytes:
    """A tensor's description; `dims` claims another number of dimensions."""
    n = len(extents) if dims is None else dims
    return text(name) + struct.pack(f"<I{len(extents)}QIQ", n, *extents, kind, offset)


@dataclass
class Gguf:
    """A file to be: proper by default, with a way to make each part wrong."""

    keys: list[bytes] = field(default_factory=lambda: [scalar("general.architecture", STRING, "llama")])
    tensors: list[bytes] = field(default_factory=lambda: [tensor("a", [8])])
    data: bytes = bytes(32)
    magic: bytes = b"GGUF"
    version: int = 3
    n_keys: int | None = None
    n_tensors: int | None = None
    alignment: int = 32

    def build(self) -> bytes:
        n_keys = len(self.keys) if self.n_keys is None else self.n_keys
        n_tensors = len(self.tensors) if self.n_tensors is None else self.n_tensors
        head = self.magic + struct.pack("<IQQ", self.version, n_tensors, n_keys)
        head += b"".join(self.keys) + b"".join(self.tensors)
        return head + bytes(-len(head) % self.alignment) + self.data


def vocabulary(tokens: Sequence[tuple[str | bytes, float, int]], *more: bytes, model: str = "llama") -> bytes:
    """A file without tensors whose vocabulary is (text, score, type) each."""
    keys = [
        scalar("general.architecture", STRING, "llama"),
        scalar("tokenizer.ggml.model", STRING, model),
        array("tokenizer.ggml.tokens", STRING, [t[0] for t in tokens]),
        array("tokenizer.ggml.scores", F32, [t[1] for t in tokens]),
        array("tokenizer.ggml.token_type", I32, [t[2] for t in tokens]),
        *more,
    ]
    return Gguf(keys=keys, tensors=[], data=bytes(32)).build()
