"""The shipped model descriptions, reading them, and turning what a person types into a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.catalog_fakes import Shop, toml_text
from mtp_cli import catalog
from mtp_cli.catalog import cache
from mtp_cli.catalog.entry import read_entry
from mtp_cli.catalog.errors import CatalogError, ModelMissingError, UnknownModelError


def test_shipped_catalog() -> None:
    known = catalog.load_catalog()
    assert next(iter(known)) == "smollm2-135m" == catalog.default_entry().name
    small, gemma = known["smollm2-135m"], known["gemma3-270m"]
    assert (small.kind, small.size, small.licence.name) == ("instruct", 98_362_432, "Apache-2.0")
    assert (gemma.kind, gemma.size, len(gemma.parts)) == ("base", 253_113_024, 4)
    assert gemma.sha256 == "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
    assert "Gemma Terms of Use" in gemma.licence.note
    assert gemma.licence.url.startswith("https://")
    for entry in known.values():
        # Packages are compressed: never much bigger than what they hold.
        assert 0.5 * entry.size < entry.download_bytes < 1.01 * entry.size


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("schema = 1", "schema = 9", "schema 9"),
        ('name = "tiny"', 'name = "other"', "name must equal"),
        ('kind = "base"', 'kind = "chat"', "kind must be"),
        ('name = "tiny.gguf"', 'name = "../tiny.gguf"', "plain name"),
        ('name = "tiny.gguf"', 'name = "tiny.bin"', "plain name"),
        ("size = 5", "size = -5", "size must be"),
        ("size = 5", 'size = "5"', "size must be"),
        ("a" * 64, "z" * 64, "sha256"),
        ('title = "A tiny model"', "", "'title' is missing"),
        ("schema = 1", "schema = = 1", "cannot read"),
    ],
)
def test_bad_description_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = toml_text("a" * 64, 5, [7])
    assert old in text
    path = tmp_path / "tiny.toml"
    path.write_text(text)
    assert read_entry(path).size == 5
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(CatalogError, match=r"tiny\.toml") as caught:
        read_entry(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value).strip()


def test_exactly_one_default(tmp_path: Path) -> None:
    text = toml_text("a" * 64, 5, [7])
    (tmp_path / "tiny.toml").write_text(text.replace("default = true", "default = false"))
    with pytest.raises(CatalogError, match="exactly one"):
        catalog.load_catalog(tmp_path)


def test_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTP_CACHE_DIR", str(tmp_path / "own"))
    assert cache.cache_dir() == tmp_path / "own"
    monkeypatch.delenv("MTP_CACHE_DIR")
    monkeypatch.setattr("sys.platform", "linux")
    assert cache.cache_dir() == tmp_path / "xdg-cache" / "mtp"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.cache_dir() == tmp_path / ".cache" / "mtp"


def test_local_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF")
    found = catalog.resolve(str(path))
    assert (found.path, found.entry) == (path, None)


def test_local_copy_of_a_known_model_is_recognised(shop: Shop, tmp_path: Path) -> None:
    path = tmp_path / "renamed.gguf"
    path.write_bytes(shop.content)
    found = catalog.resolve(str(path))
    assert found.entry is not None
    assert found.entry.name == "tiny"


@pytest.mark.parametrize(
    ("reference", "kind", "said"),
    [
        ("smollm2-135", UnknownModelError, "did you mean smollm2-135m?"),
        ("gemma", UnknownModelError, "gemma3-270m"),
        ("zzz", UnknownModelError, "known models: smollm2-135m, gemma3-270m"),
        ("", UnknownModelError, "empty"),
        ("no/such/file.gguf", ModelMissingError, "there is no file no/such/file.gguf"),
        ("typo.gguf", ModelMissingError, "there is no file typo.gguf"),
        ("hf:owner/name", UnknownModelError, "hf:OWNER/NAME/FILE.gguf"),
        ("hf:owner/name/../../x.gguf", UnknownModelError, "hf:OWNER/NAME/FILE.gguf"),
        ("hf:../name/x.gguf", UnknownModelError, "hf:OWNER/NAME/FILE.gguf"),
        ("hf:owner/name//x.gguf", UnknownModelError, "hf:OWNER/NAME/FILE.gguf"),
    ],
)
def test_what_is_not_there_is_said(reference: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as caught:
        catalog.resolve(reference)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="is a folder"):
        catalog.resolve(str(tmp_path))


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_offline_refuses_and_says_what_to_do(how: str, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "variable":
        monkeypatch.setenv("MTP_OFFLINE", "1")
    with pytest.raises(ModelMissingError, match="mtp models pull tiny"):
        catalog.resolve(offline=how == "flag")
    assert shop.calls == []
    assert not catalog.cache_dir().exists()


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (98_362_432, "98.4 MB"), (999_960_000, "1.0 GB")],
)
def test_size_text(count: int, text: str) -> None:
    assert catalog.size_text(count) == text
