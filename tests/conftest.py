"""What every test gets: cache folders of its own, no network by accident, and models where asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from cli.catalog_fakes import Shop

# how long an example takes says more about the machine than about the code
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

_REAL_CACHE = os.environ.get("MTP_TEST_CACHE_DIR") or os.environ.get("MTP_CACHE_DIR")
"""The cache that model tests may use, as it was before the isolation below; None: the platform's."""


@pytest.fixture(autouse=True)
def isolated(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the person's own cache, except those marked `model`."""
    for name in ("MTP_OFFLINE", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MTP_CONFIG", "")
    monkeypatch.setattr("mtp_cli.meters.sources.find.ROOT", tmp_path / "no-sensors")
    monkeypatch.setattr("mtp_cli.meters.thermal.ROOT", tmp_path / "no-sensors")
    if request.node.get_closest_marker("model"):
        if _REAL_CACHE:
            monkeypatch.setenv("MTP_CACHE_DIR", _REAL_CACHE)
        return
    monkeypatch.setenv("MTP_CACHE_DIR", str(tmp_path / "mtp-cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg-cache"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip `native` tests, with the reason, where the module is not built."""
    try:
        import mtp_cli._native  # noqa: F401
    except ImportError as error:
        mark = pytest.mark.skip(reason=f"the native module is not built: {error}")
        for item in items:
            if item.get_closest_marker("native"):
                item.add_marker(mark)


def _real_model(name: str) -> Path:
    """The verified file of a known model, fetched when need be; skips the test when that cannot be done.

    MTP_TEST_REQUIRE_MODELS=1 turns the skip into a failure."""
    from mtp_cli import catalog

    try:
        with pytest.MonkeyPatch.context() as patch:
            if _REAL_CACHE:
                patch.setenv("MTP_CACHE_DIR", _REAL_CACHE)
            return catalog.resolve(name).path
    except catalog.ModelError as error:
        if os.environ.get("MTP_TEST_REQUIRE_MODELS", "0") == "1":
            raise
        pytest.skip(f"no model {name}: {error}")


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """Path of the real smollm2-135m."""
    return _real_model("smollm2-135m")


@pytest.fixture(scope="session")
def gemma3() -> Path:
    """Path of the real gemma3-270m."""
    return _real_model("gemma3-270m")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A catalog of one tiny model, and a stand-in for pip that delivers it."""
    from cli.catalog_fakes import open_shop

    return open_shop(tmp_path, monkeypatch)
