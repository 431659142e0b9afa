"""Shared by the drafting tests: the compiled parts, and tiny models that end where a test wants it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from numerics.tiny_gguf import TinySpec, write_tiny

from .native_parts import Parts


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """The compiled test program."""
    return Parts(tmp_path_factory.mktemp("parts"))


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """tiny(spec, end=ID) -> path of a model file; `end` takes the place of its end-of-text token."""
    folder = tmp_path_factory.mktemp("tiny")

    def make(spec: TinySpec, end: int | None = None) -> Path:
        path = folder / f"{spec.label()}-{end}.gguf"
        if not path.exists():
            write_tiny(path, spec)
            if end is not None:
                path.write_bytes(_with_end(path.read_bytes(), end))
        return path

    return make


def _with_end(data: bytes, end: int) -> bytes:
    key = b"tokenizer.ggml.eos_token_id"
    at = data.index(key) + len(key)
    assert struct.unpack_from("<I", data, at) == (4,), "not a 32-bit number"
    return data[: at + 4] + struct.pack("<I", end) + data[at + 8 :]
