"""Summaries against references: ROUGE, the length that was asked for, and faults that can be counted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtp_cli.exits import UserError
from mtp_cli.inputs import read_text_file
from mtp_cli.readers import Kind
from mtp_cli.readers.document import one_line
from mtp_cli.readers.plain import messages
from mtp_cli.tasks.gate import strip_preamble
from mtp_cli.tasks.split import sentences
from mtp_cli.tasks.summary_wish import Wish
from mtp_cli.tasks.wording import content_words, has_false_end, is_circling, is_finished, is_repeat

TEXT_FIELDS = ("dialogue", "article", "text", "document", "source", "turns", "prompt")
REFERENCE_FIELDS = ("summary", "reference", "highlights", "summaries", "references")
MEASURES = ("rouge1", "rouge2", "rougeL")
_ASKED = re.compile(r"\s*summari[sz]e(?: the following[^:\n]*)?:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """A text with its references, of which there may be none."""

    text: str
    references: tuple[str, ...]
    kind: Kind


def read_items(path: Path, limit: int, kind: Kind | None) -> list[Item]:
    """Lines of a JSON-lines file. Raises UserError."""
    lines = read_text_file(str(path)).splitlines()
    found: list[Item] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or (limit and len(found) >= limit):
            continue
        try:
            row = json.loads(line)
        except ValueError:
            raise UserError(f"{path}, line {number}: not JSON; one object a line is read") from None
        text = _first(row, TEXT_FIELDS) if isinstance(row, dict) else []
        if not text:
            raise UserError(f"{path}, line {number}: needs one of the fields {', '.join(TEXT_FIELDS)}")
        plain = _ASKED.sub("", text[0], count=1) if _ASKED.match(text[0]) else text[0]
        guessed = Kind.chat if messages(plain) else Kind.article
        found.append(Item(plain, tuple(_first(row, REFERENCE_FIELDS)), kind or guessed))
    if not found:
        raise UserError(f"{path} has no lines")
    return found


def _first(row: dict[str, Any], fields: Iterable[str]) -> list[str]:
    for name in fields:
        value = row.get(name)
        texts = value if isinstance(value, list) else [value]
        if texts and all(isinstance(text, str) and text.strip() for text in texts):
            return [str(text) for text in texts]
    return []


def lead(item: Item, count: int = 3) -> str:
    """What a person reads first: the first lines of a chat, the first sentences of anything else."""
    if item.kind is Kind.chat:
        return " ".join(item.text.strip().splitlines()[:count])
    return " ".join(" ".join(sentence.split()) for sentence in sentences(item.text.strip())[:count])


def lexrank(item: Item, count: int = 3) -> str | None:
    """The `count` lines of a chat, or sentences of anything else, that sumy's LexRank finds the weightiest.
    None: sumy is not installed."""
    try:
        from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
        from sumy.summarizers.lex_rank import LexRankSummarizer
    except ImportError:
        return None
    rows = item.text.splitlines() if item.kind is Kind.chat else sentences(item.text)
    flat = [one_line(row) for row in rows if row.strip()]
    document = ObjectDocumentModel([Paragraph([Sentence(row, _Words()) for row in flat])])
    return " ".join(str(sentence) for sentence in LexRankSummarizer()(document, count))


class _Words:
    """What sumy asks of a tokenizer; its own one needs data from the net."""

    def to_words(self, text: str) -> tuple[str, ...]:
        return tuple(content_words(text))


class Rouge:
    """F-measures by rouge-score. `available` False: it is not installed."""

    def __init__(self) -> None:
        self._scorer: Any = None
        try:
            from rouge_score.rouge_scorer import RougeScorer
        except ImportError:
            return
        self._scorer = RougeScorer(list(MEASURES), use_stemmer=False)

    @property
    def available(self) -> bool:
        return self._scorer is not None

    def mean(self, pairs: Sequence[tuple[str, Item]]) -> dict[str, float] | None:
        """Mean over texts with references, the mean over the references of each. None: nothing to compare."""
        scored = [self._one(summary, item.references) for summary, item in pairs if item.references]
        if not scored or not self.available:
            return None
        return {name: round(sum(row[name] for row in scored) / len(scored), 4) for name in MEASURES}

    def _one(self, summary: str, references: Sequence[str]) -> dict[str, float]:
        if not self.available:
            return {}
        rows = [self._scorer.score(reference, summary) for reference in references]
        return {name: sum(row[name].fmeasure for row in rows) / len(rows) for name in MEASURES}


def faults(records: Sequence[dict[str, Any]], wish: Wish) -> dict[str, Any]:
    """Counted over the JSON records of `mtp summarize`."""
    texts = [str(record["summary"]) for record in records]
    last = [re.split(r"\n", text)[-1] for text in texts]
    length = wish.length
    kept = [
        length.kept(record["words"], len(sentences(text)))
        for record, text in zip(records, texts, strict=True)
    ]
    return {
        "texts": len(records),
        "mean_words": round(sum(record["words"] for record in records) / len(records), 1),
        "length_kept": None if None in kept else sum(map(bool, kept)),
        "unfinished": (
            sum(
                not is_finished(line) or any(map(has_false_end, sentences(text)))
                for line, text in zip(last, texts, strict=True)
            )
            if not wish.one_line
            else None
        ),
        "preambles": sum(strip_preamble(text) != text for text in texts),
        "loops": sum(_loops(text) for text in texts),
        "own_sentences_of_the_text": sum(record["extracted_sentences"] > 0 for record in records),
        "with_unsupported_names": sum(bool(record["unsupported"]["names"]) for record in records),
        "with_unsupported_numbers": sum(bool(record["unsupported"]["numbers"]) for record in records),
    }


def _loops(text: str) -> bool:
    rows = [row.strip("- ") for row in sentences(text)]
    return any(is_circling(row) or is_repeat(row, rows[:at]) for at, row in enumerate(rows))


def report(
    items: Sequence[Item], records: Sequence[dict[str, Any]], wish: Wish, seconds: float
) -> dict[str, Any]:
    """Everything, for JSON."""
    rouge = Rouge()
    said = [str(record["summary"]) for record in records]
    made: dict[str, list[str]] = {"mtp": said, "lead-3": [lead(item) for item in items]}
    if any(item.references for item in items) and rouge.available:
        ranked = [text for text in map(lexrank, items) if text is not None]
        made |= {"LexRank-3": ranked} if len(ranked) == len(items) else {}
    return {
        "rouge": {name: rouge.mean(list(zip(texts, items, strict=True))) for name, texts in made.items()},
        "rouge_available": rouge.available,
        **faults(records, wish),
        "seconds": round(seconds, 2),
        "summaries": list(records),
    }
