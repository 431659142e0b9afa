"""Well-edited sentences from documentation packages, one a line: what a proofreader should leave alone.

`python -m tests.jobs.clean_sentences --out FILE` fetches the packages with the package manager's own client
(see mtp_cli/train/corpora.toml) and draws from all of them alike. `mtp eval proofread --data FILE` counts
what is changed."""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from mtp_cli.catalog.cache import cache_dir
from mtp_cli.tasks.split import sentences
from mtp_cli.train.corpora import gather, load_corpora
from mtp_cli.train.documents import Document

REPORTED = ("debian-faq", "debian-handbook", "developers-reference", "gnome-help", "installation-guide")
"""What the figures in README are of."""
TUNED = ("debian-history", "gnu-standards", "securing-debian")
"""What thresholds were set with; no sentence of it is in the others."""
_WORDS = range(6, 41)
_WHOLE = re.compile(r"""[A-Z][^\n|{}<>\[\]=]*[a-z)"”][.?!]""")


def clean_sentences(documents: Iterable[Document], count: int, seed: int) -> list[str]:
    """`count` different whole sentences in random order, as many from each source as it has."""
    supply: dict[str, set[str]] = {}
    for document in documents:
        for paragraph in document.paragraphs:
            found = (sentence.strip() for sentence in sentences(paragraph))
            supply.setdefault(document.source, set()).update(filter(is_whole, found))
    rng = random.Random(seed)
    rows = [rng.sample(sorted(supply[source]), len(supply[source])) for source in sorted(supply)]
    mixed: list[str] = []
    while any(rows) and len(mixed) < count:
        mixed += [row.pop() for row in rows if row]
    return mixed[:count]


def is_whole(sentence: str) -> bool:
    """True for a sentence from capital to full stop that is no piece of a table or a listing."""
    return len(sentence.split()) in _WORDS and _WHOLE.fullmatch(sentence) is not None


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the sentences."""
    parser = argparse.ArgumentParser(prog="python -m tests.jobs.clean_sentences")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--tuning", action="store_true", help="from the packages that thresholds were set with"
    )
    parser.add_argument("--cache", type=Path, default=None, help="folder for the downloaded packages")
    options = parser.parse_args(arguments)
    known = load_corpora()
    names = TUNED if options.tuning else REPORTED
    documents, missing = gather([known[name] for name in names], options.cache or cache_dir() / "corpora")
    found = clean_sentences(documents, options.count, options.seed)
    options.out.write_text("".join(f"{sentence}\n" for sentence in found), "utf-8")
    sys.stderr.writelines(f"{line}\n" for line in missing)
    return 0 if len(found) == options.count else 1


if __name__ == "__main__":
    sys.exit(main())
