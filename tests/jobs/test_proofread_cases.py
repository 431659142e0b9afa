"""Inputs that went wrong for users of other tools, on real models, through the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.proofread_cases import CASES, Case

pytestmark = [pytest.mark.model, pytest.mark.native, pytest.mark.slow]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("model", ["smollm2", "gemma3"])
def test_case(request: pytest.FixtureRequest, model: str, case: Case) -> None:
    path: Path = request.getfixturevalue(model)
    data = case.text.encode()
    command = [sys.executable, "-m", "mtp_cli", "proofread", "--helpers", "off", "--model", str(path)]
    done = subprocess.run(command, input=data, capture_output=True, check=False, cwd=path.parent)
    assert done.returncode == 0, done.stderr.decode()
    assert case.holds(done.stdout.decode()), done.stdout.decode()
