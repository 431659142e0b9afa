"""README says what the program says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".ci" / "help.py"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="needs the whole repository")


@pytest.fixture(scope="module")
def helper() -> ModuleType:
    spec = importlib.util.spec_from_file_location("help_blocks", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_help_texts_are_those_of_the_program(helper: ModuleType) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "<!-- help: mtp summarize -->" in text
    assert helper.renewed(text) == text, "run python .ci/help.py"


def test_blocks_are_replaced_between_their_markers(helper: ModuleType) -> None:
    text = helper.renewed("a\n<!-- help: mtp config -->\nold\n<!-- end of help -->\nb\n")
    assert re.fullmatch(
        r"a\n<!-- help: mtp config -->\n```text\nUsage: mtp config .*\n```\n<!-- end of help -->\nb\n",
        text,
        re.DOTALL,
    )
    assert helper.renewed(text) == text
