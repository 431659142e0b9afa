"""The man page says what the program says, and is installed."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".ci" / "man.py"
PAGE = ROOT / "mtp_cli" / "mtp.1"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="needs the whole repository")


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("man_page", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_that_of_the_program(maker: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTP_LENGTH", "long")  # a person's own settings are not in it
    page = maker.page()
    assert PAGE.read_text(encoding="utf-8") == page, "run python .ci/man.py"
    for said in (
        "mtp models pull",
        "\\-\\-on\\-overflow",
        "MTP_CACHE_DIR",
        ".SH EXIT STATUS",
        "Interrupted.",
    ):
        assert said in page


def test_text_is_no_command_of_the_formatter(maker: ModuleType) -> None:
    assert maker.roff(".srt, a\\b --x") == "\\&.srt, a\\eb \\-\\-x"
    assert maker.roff("'quoted'") == "\\&'quoted'"


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_formatter_has_nothing_to_say() -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-rLL=80n", str(PAGE)], capture_output=True, check=True
    )
    assert done.stderr == b""
    text = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout.decode())
    assert "mtp summarize [OPTIONS] [FILE]..." in text


def test_page_travels_in_the_package() -> None:
    """Looked at where a wheel is installed; a bare checkout has none."""
    try:
        installed = files("mtp-cli")
    except PackageNotFoundError:
        pytest.skip("mtp is not installed as a package")
    pages = [path for path in installed or () if path.name == "mtp.1"]
    if installed and not any(path.name.startswith("_native") for path in installed):
        pytest.skip("mtp is installed in another way")
    assert [path.parts[-4:-1] for path in pages] == [("share", "man", "man1")]
