"""Model files from the Hugging Face hub, hf:OWNER/NAME/FILE.gguf; needs the optional huggingface_hub."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtp_cli.catalog.cache import biggest_file, models_root
from mtp_cli.catalog.errors import (
    FetchError,
    ModelMissingError,
    NetworkError,
    UnknownModelError,
    from_os_error,
)

_REFERENCE = re.compile(r"hf:([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)/([^\s\\]+\.gguf)", re.IGNORECASE)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_POLL_SECONDS = 0.1
_NO_NETWORK = frozenset(
    {"ConnectError", "ConnectionError", "TimeoutException", "Timeout", "TransportError", "ProxyError"}
)
"""Class names of the HTTP clients that huggingface_hub has used."""


@dataclass(frozen=True, slots=True)
class HubFile:
    """A parsed reference; `inner` may hold folders."""

    owner: str
    name: str
    inner: str

    @property
    def repository(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def text(self) -> str:
        return f"hf:{self.owner}/{self.name}/{self.inner}"

    @property
    def path(self) -> Path:
        """Where the file lies once it has been fetched."""
        return models_root() / "hf" / self.owner / self.name / self.inner


@dataclass(frozen=True, slots=True)
class HubFacts:
    """What the hub says before the download. sha256 is "" and size 0 when it does not say."""

    size: int
    sha256: str
    licence: str


def parse(reference: str) -> HubFile:
    """Raises UnknownModelError when the text is not hf:OWNER/NAME/FILE.gguf."""
    match = _REFERENCE.fullmatch(reference)
    dots = {"", ".", ".."}
    if match is None or dots & set(match[0][3:].split("/")):
        raise UnknownModelError(f"{reference!r} is not of the form hf:OWNER/NAME/FILE.gguf")
    return HubFile(match[1], match[2], match[3])


def _hub() -> Any:
    """The huggingface_hub module. Raises ModelMissingError when the extra is not installed."""
    try:
        import huggingface_hub
    except ImportError:
        raise ModelMissingError(
            "hf: models need the optional package huggingface_hub; install it with "
            "`pip install huggingface_hub`, or give a model name or the path of a GGUF file"
        ) from None
    return huggingface_hub


def facts(file: HubFile) -> HubFacts:
    """Size, checksum and licence of a file on the hub. Raises ModelError."""
    hub = _hub()
    try:
        meta = hub.get_hf_file_metadata(hub.hf_hub_url(file.repository, file.inner))
        card = hub.model_info(file.repository).card_data
    except Exception as error:
        raise _explain(error, file) from None
    etag = str(meta.etag or "")
    licence = (card.get("license") if card is not None else None) or "unknown"
    return HubFacts(int(meta.size or 0), etag if _SHA256.fullmatch(etag) else "", str(licence))


def fetch(file: HubFile, folder: Path, progress: Callable[[int], None]) -> Path:
    """Download into `folder`; returns the path of the file there. Raises ModelError."""
    hub = _hub()
    hub.utils.disable_progress_bars()
    result: list[str | BaseException] = []

    def work() -> None:
        try:
            result.append(hub.hf_hub_download(file.repository, file.inner, local_dir=str(folder)))
        except BaseException as error:
            result.append(error)

    # In a thread, so that Ctrl-C and the progress do not wait for the network.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_POLL_SECONDS)
        progress(biggest_file(folder))
    outcome = result[0]
    if isinstance(outcome, BaseException):
        raise _explain(outcome, file, folder) from None
    return Path(outcome)


def _explain(error: BaseException, file: HubFile, folder: Path | None = None) -> BaseException:
    """The ModelError that an exception of the hub's client means; told by class names along its bases,
    since the client's own dependencies differ between versions."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if "GatedRepoError" in names:
        return FetchError(f"{file.text}: its owner asks you to accept terms on the hub and to log in first")
    if names & {"RepositoryNotFoundError", "EntryNotFoundError", "RevisionNotFoundError"}:
        if "LocalEntryNotFoundError" in names:
            return NetworkError(f"cannot reach the hub to fetch {file.text}; check the connection")
        return UnknownModelError(f"the hub has no {file.text}; check owner, name and file")
    if names & _NO_NETWORK:
        return NetworkError(f"cannot reach the hub to fetch {file.text}; check the connection")
    if isinstance(error, OSError) and error.errno is not None and folder is not None:
        return from_os_error(error, folder.parent)
    if isinstance(error, Exception):
        first = str(error).strip().splitlines() or [type(error).__name__]
        return FetchError(f"cannot fetch {file.text}: {first[0]}", str(error))
    return error
