"""Shared by the numerics tests: tiny model files, made once, and one llama.cpp worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .reference_llama import LlamaReference
from .tiny_gguf import TinySpec, write_tiny


@pytest.fixture(scope="session")
def llama() -> Iterator[LlamaReference]:
    """The llama.cpp worker process."""
    with LlamaReference() as worker:
        yield worker


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[TinySpec], Path]:
    """tiny(spec) -> path of the model file, written on first use."""
    folder = tmp_path_factory.mktemp("tiny")
    made: dict[TinySpec, Path] = {}

    def make(spec: TinySpec) -> Path:
        if spec not in made:
            made[spec] = write_tiny(folder / f"{len(made)}-{spec.label()}.gguf", spec)
        return made[spec]

    return make
