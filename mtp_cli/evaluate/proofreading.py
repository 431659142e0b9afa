"""How well a proofreader does on sentences with references, and how quiet it is on clean ones."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtp_cli.evaluate.gleu import gleu
from mtp_cli.evaluate.tokens import as_written, tokenised
from mtp_cli.exits import UserError
from mtp_cli.inputs import read_text_file
from mtp_cli.tasks.pieces import pieces


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence. Without references it is taken to be right."""

    source: str
    references: tuple[str, ...]

    @property
    def written(self) -> str:
        """What is proofread. Sentences with references come in tokens, and nobody writes like that."""
        return as_written(self.source) if self.references else self.source


@dataclass(slots=True)
class Scores:
    """What came out. Shares are None where nothing was counted."""

    sentences: int = 0
    changed: int = 0
    clean: int = 0
    clean_changed: int = 0
    spans: int = 0
    spans_kept: int = 0
    seconds: float = 0.0
    gleu_unchanged: float | None = None
    gleu: float | None = None
    changes: list[tuple[str, str]] = field(default_factory=list)
    """(source, result) of clean sentences that were changed"""

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "sentences": self.sentences,
            "changed": self.changed,
            "gleu_unchanged": _rounded(self.gleu_unchanged),
            "gleu": _rounded(self.gleu),
            "clean_sentences": self.clean,
            "clean_changed": self.clean_changed,
            "clean_changed_share": _rounded(self.clean_changed / self.clean if self.clean else None),
            "protected_spans": self.spans,
            "protected_spans_kept": self.spans_kept,
            "seconds": round(self.seconds, 2),
            "clean_changes": [{"source": source, "result": result} for source, result in self.changes],
        }


def read_items(path: Path, limit: int) -> list[Item]:
    """JSON lines with "source" (or "text") and maybe "references", or plain lines of right sentences.

    Raises UserError."""
    lines = read_text_file(str(path)).splitlines()
    items = [_item(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not items:
        raise UserError(f"{path}: there is nothing in it")
    return items[:limit] if limit else items


def _item(path: Path, number: int, line: str) -> Item:
    if not line.startswith("{"):
        return Item(line.strip(), ())
    try:
        row = json.loads(line)
        source = str(row["source"] if "source" in row else row["text"])
        return Item(" ".join(source.split()), tuple(str(ref) for ref in row.get("references", ())))
    except (ValueError, KeyError, TypeError):
        raise UserError(f'{path}: line {number} is no JSON object with "source" or "text"') from None


def evaluate(items: Sequence[Item], correct: Callable[[str], str], tell: Callable[[int], None]) -> Scores:
    """Correct each sentence; `tell` hears how many are done. Raises what `correct` raises."""
    scores = Scores()
    results: list[str] = []
    began = time.perf_counter()
    for number, item in enumerate(items, 1):
        result = correct(item.written)
        results.append(result)
        _count(scores, item, result)
        tell(number)
    scores.seconds = time.perf_counter() - began
    scored = [(item, result) for item, result in zip(items, results, strict=True) if item.references]
    if scored:
        sources = [item.source for item, _ in scored]
        references = [item.references for item, _ in scored]
        scores.gleu_unchanged = gleu(sources, sources, references)
        scores.gleu = gleu(sources, [tokenised(result) for _, result in scored], references)
    return scores


def _count(scores: Scores, item: Item, result: str) -> None:
    scores.sentences += 1
    changed = result != item.written
    scores.changed += changed
    if not item.references:
        scores.clean += 1
        scores.clean_changed += changed
        if changed:
            scores.changes.append((item.source, result))
    kept = [piece.text for piece in pieces(result) if piece.fixed]
    for piece in pieces(item.written):
        if piece.fixed:
            scores.spans += 1
            if piece.text in kept:
                kept.remove(piece.text)
                scores.spans_kept += 1


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
