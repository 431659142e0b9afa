"""Real English for the tests on real models."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEWS = ROOT.parent / "shared" / "data" / "spec_bench_sum.jsonl"


def english() -> str:
    """News articles where the evaluation data lies beside the checkout, else the project's own prose."""
    if NEWS.exists():
        lines = NEWS.read_text(encoding="utf-8").splitlines()
        return "\n\n".join(json.loads(line)["turns"][0].removeprefix("Summarize: ") for line in lines)
    prose = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("LICENSE*"))]
    return "\n\n".join(path.read_text(encoding="utf-8") for path in prose)
