"""hf:OWNER/NAME/FILE.gguf, with a stand-in for huggingface_hub."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mtp_cli import catalog
from mtp_cli.catalog import pull
from mtp_cli.catalog.errors import (
    FetchError,
    ModelDamagedError,
    ModelMissingError,
    NetworkError,
    UnknownModelError,
)
from mtp_cli.catalog.report import PullDone, PullEvent, PullStart

CONTENT = b"GGUF" + bytes(range(256)) * 40
REFERENCE = "hf:owner/name/sub/model.gguf"


class Hub(ModuleType):
    """The few names of huggingface_hub that are used."""

    def __init__(self) -> None:
        super().__init__("huggingface_hub")
        self.utils = SimpleNamespace(disable_progress_bars=lambda: None)
        self.delivered = CONTENT
        self.promised = hashlib.sha256(CONTENT).hexdigest()
        self.error: Exception | None = None
        self.downloads = 0

    def hf_hub_url(self, repository: str, inner: str) -> str:
        return f"https://example.org/{repository}/{inner}"

    def get_hf_file_metadata(self, url: str) -> Any:
        if self.error is not None:
            raise self.error
        return SimpleNamespace(size=len(CONTENT), etag=self.promised)

    def model_info(self, repository: str) -> Any:
        return SimpleNamespace(card_data={"license": "mit"})

    def hf_hub_download(self, repository: str, inner: str, local_dir: str) -> str:
        self.downloads += 1
        path = Path(local_dir) / inner
        path.parent.mkdir(parents=True)
        path.write_bytes(self.delivered)
        return str(path)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    made = Hub()
    monkeypatch.setitem(sys.modules, "huggingface_hub", made)
    return made


def _files() -> list[Path]:
    return [path for path in (catalog.cache_dir() / "models").rglob("*") if path.is_file()]


def test_fetched_once_then_used_offline(hub: Hub) -> None:
    events: list[PullEvent] = []
    found = catalog.resolve(REFERENCE, report=events.append)
    assert found.path.read_bytes() == CONTENT
    assert found.path == catalog.cache_dir() / "models/hf/owner/name/sub/model.gguf"
    assert isinstance(events[0], PullStart)
    assert (events[0].licence_name, events[0].file_bytes) == ("mit", len(CONTENT))
    assert isinstance(events[-1], PullDone)
    assert catalog.resolve(REFERENCE, offline=True).path == found.path
    assert hub.downloads == 1
    assert pull.hub_files() == [REFERENCE]
    assert pull.verify(REFERENCE)
    found.path.write_bytes(CONTENT[:-1])
    assert not pull.verify(REFERENCE)
    pull.remove(REFERENCE)
    assert pull.hub_files() == [] == _files()


@pytest.mark.parametrize("delivered", [CONTENT[:-1], CONTENT[:-1] + b"?"])
def test_damaged_file_is_not_kept(hub: Hub, delivered: bytes) -> None:
    hub.delivered = delivered
    with pytest.raises(ModelDamagedError, match="came damaged"):
        catalog.resolve(REFERENCE)
    assert _files() == []


def test_offline(hub: Hub) -> None:
    with pytest.raises(ModelMissingError, match="offline"):
        catalog.resolve(REFERENCE, offline=True)


def test_extra_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ModelMissingError, match="pip install huggingface_hub"):
        catalog.resolve(REFERENCE)


def _named(*names: str) -> Exception:
    """An exception whose class and bases carry these names, as the hub's client has them."""
    kind: type[Exception] = Exception
    for name in reversed(names):
        kind = type(name, (kind,), {})
    return kind("first line\nsecond line")


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (_named("GatedRepoError", "RepositoryNotFoundError"), FetchError, "accept terms"),
        (_named("RepositoryNotFoundError"), UnknownModelError, "the hub has no"),
        (_named("RemoteEntryNotFoundError", "EntryNotFoundError"), UnknownModelError, "the hub has no"),
        (_named("LocalEntryNotFoundError", "EntryNotFoundError"), NetworkError, "cannot reach the hub"),
        (_named("ConnectError"), NetworkError, "cannot reach the hub"),
        (_named("SomethingElse"), FetchError, "first line"),
    ],
)
def test_errors_of_the_client(hub: Hub, error: Exception, kind: type[Exception], said: str) -> None:
    hub.error = error
    with pytest.raises(kind) as caught:
        catalog.resolve(REFERENCE)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
