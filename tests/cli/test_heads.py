"""Which draft head is used, and what is said when it is no good. Without weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtp_cli.catalog.heads import find_heads, head_record, trained_head_path
from mtp_cli.engine import HeadFileError
from mtp_cli.heads import attach_head

from .fake_engine import FakeEngine


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(lambda prompt: "yes")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "some.gguf"
    path.write_bytes(b"model")
    return path


def put(path: Path, content: bytes = b"head") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_no_head_is_fine_unless_one_is_needed(engine: FakeEngine, model: Path) -> None:
    for mode in ("auto", "off", "copy"):
        assert attach_head(engine, model, None, mode=mode, head=None) is None
    for mode in ("head", "copy+head"):
        with pytest.raises(HeadFileError, match=r"no draft head for some\.gguf; `mtp train` makes one"):
            attach_head(engine, model, None, mode=mode, head=None)
    assert engine.head is None


def test_trained_goes_before_beside(engine: FakeEngine, model: Path) -> None:
    beside = put(model.with_name("some.head.gguf"))
    assert [(h.path, h.origin) for h in find_heads(model, None)] == [(beside, "beside")]
    trained = put(trained_head_path(model, None))
    assert [h.path for h in find_heads(model, None)] == [trained, beside]
    assert attach_head(engine, model, None, mode="auto", head=None) is None
    assert engine.head is not None


@pytest.mark.parametrize("mode", ["off", "copy"])
def test_modes_without_a_head_open_none(mode: str, engine: FakeEngine, model: Path) -> None:
    put(model.with_name("some.head.gguf"))
    assert attach_head(engine, model, None, mode=mode, head=None) is None
    assert engine.head is None


def test_a_bad_head_is_a_warning_or_an_error(engine: FakeEngine, model: Path, tmp_path: Path) -> None:
    bad = put(model.with_name("some.head.gguf"), b"nonsense")
    warning = attach_head(engine, model, None, mode="auto", head=None)
    assert warning is not None and str(bad) in warning and "\n" not in warning
    with pytest.raises(HeadFileError):
        attach_head(engine, model, None, mode="head", head=None)
    with pytest.raises(HeadFileError):  # asked for by name
        attach_head(engine, model, None, mode="auto", head=bad)
    assert engine.head is None
    assert attach_head(engine, model, None, mode="auto", head=put(tmp_path / "good.gguf")) is None
    assert engine.head is not None


def test_record_of_what_is_no_head(tmp_path: Path) -> None:
    assert head_record(tmp_path / "none.gguf") is None
    assert head_record(put(tmp_path / "bad.gguf", b"x" * 100)) is None
