"""A damaged model file gives one clear line that names what is wrong, whatever the damage."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .gguf_bytes import (
    ARRAY,
    BOOL,
    F32,
    F64,
    I32,
    STRING,
    U16,
    U32,
    U64,
    Gguf,
    array,
    scalar,
    tensor,
    text,
    vocabulary,
)
from .native_programs import compile_program

ARCHITECTURE = scalar("general.architecture", STRING, "llama")
HUGE = 2**63 - 1


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program("test_gguf", tmp_path_factory.mktemp("gguf"))


Opener = Callable[[bytes], str]


@pytest.fixture
def opened(program: Path, tmp_path: Path) -> Opener:
    """Gives what opening a file of these bytes says, without the path."""

    def run(content: bytes) -> str:
        path = tmp_path / "model.gguf"
        path.write_bytes(content)
        return look(program, path).replace(f"{path}: ", "")

    return run


def look(program: Path, path: Path) -> str:
    done = subprocess.run([program, path], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    (line,) = done.stdout.splitlines()
    return line


def keys(*more: bytes) -> Gguf:
    return Gguf(keys=[ARCHITECTURE, *more])


def with_tensors(*tensors: bytes, data: bytes = bytes(32)) -> Gguf:
    return Gguf(tensors=list(tensors), data=data)


def test_a_proper_file_opens(opened: Opener) -> None:
    assert opened(Gguf().build()) == "ok llama 1 1"
    assert opened(Gguf(version=2).build()) == "ok llama 1 1"
    assert (
        opened(keys(scalar("b", U16, 7), array("c", STRING, ["x", ""]), array("d", F64, [])).build())
        == "ok llama 4 1"
    )
    far = with_tensors(tensor("a", [8]), tensor("b", [32, 2], kind=8, offset=32), data=bytes(32 + 68))
    assert opened(far.build()) == "ok llama 1 2"
    aligned = Gguf(keys=[ARCHITECTURE, scalar("general.alignment", U32, 64)], alignment=64)
    assert opened(aligned.build()) == "ok llama 2 1"


WRONG_HEADER = {
    "magic": (Gguf(magic=b"GGML"), 'bad_file not a GGUF file (it starts with "GGML")'),
    "zip": (Gguf(magic=b"PK\3\4"), 'bad_file not a GGUF file (it starts with "PK??")'),
    "version 1": (Gguf(version=1), "unsupported GGUF version 1; only 2 and 3 are read"),
    "version 4": (Gguf(version=4), "unsupported GGUF version 4; only 2 and 3 are read"),
    "version 0": (Gguf(version=0), "unsupported GGUF version 0; only 2 and 3 are read"),
    "big endian": (
        Gguf(version=3 << 24),
        "unsupported a big-endian GGUF file",
    ),
    "keys": (
        Gguf(n_keys=HUGE),
        "file: 9,223,372,036,854,775,807 metadata keys claimed in 160 bytes",
    ),
    "more keys": (Gguf(n_keys=2**64 - 1), "metadata keys claimed"),
    "one key more": (Gguf(n_keys=2), "bad_file "),
    "tensors": (Gguf(n_tensors=2**61), "bad_file damaged file: 2,305,843,009,213,693,952 tensors claimed"),
    "one tensor more": (Gguf(n_tensors=2, data=b""), "bad_file damaged"),
    "no architecture": (Gguf(keys=[scalar("a", U32, 1)]), "bad_file damaged file: no architecture named"),
    "a number": (
        Gguf(keys=[scalar("general.architecture", U32, 1)]),
        "bad_file damaged file: no architecture named",
    ),
    "split": (keys(scalar("split.count", U16, 3)), "unsupported one part of a split model"),
}

WRONG_KEYS = {
    "type": (text("k") + struct.pack("<I", 13) + bytes(8), 'metadata key "k" has unknown type 13'),
    "twice": (scalar("general.architecture", U32, 5), 'metadata key "general.architecture" comes twice'),
    "no name": (scalar("", U32, 5), "metadata key with 0 bytes"),
    "long name": (scalar("k" * 1025, U32, 5), "metadata key with 1,025 bytes"),
    "name past the end": (text("k", HUGE), "runs past the end"),
    "name wraps": (text("k", 2**64 - 8), "runs past the end"),
    "string past the end": (text("k") + struct.pack("<I", STRING) + text("x", 10**6), "runs past the end"),
    "array of arrays": (array("k", ARRAY, [], 1), 'metadata key "k" is an array of unknown type 9'),
    "array of nothing known": (array("k", 99, [], 1), "is an array of unknown type 99"),
    "array count": (array("k", U64, [1], HUGE), 'key "k", which claims 9,223,372,036,854,775,807 elements'),
    "array count wraps": (array("k", U64, [1], 2**61), "which claims 2,305,843,009,213,693,952 elements"),
    "strings count": (array("k", STRING, ["x"], 2**60), "which claims 1,152,921,504,606,846,976 elements"),
    "strings break off": (array("k", STRING, ["x"], 9), 'metadata key "k"'),
    "bool array": (array("k", BOOL, [True], HUGE), "which claims"),
    "alignment 0": (scalar("general.alignment", U32, 0), "general.alignment is not a power of two"),
    "alignment 48": (scalar("general.alignment", U32, 48), "general.alignment is not a power of two"),
    "alignment huge": (scalar("general.alignment", U32, 2**31), "general.alignment is not a power of two"),
    "alignment text": (scalar("general.alignment", STRING, "32"), "general.alignment is not a power of two"),
    "hidden control bytes": (scalar("a\x1b[31m\n", 12, 1.0) * 2, 'metadata key "a?[31m?" comes twice'),
}  # fmt: skip

WRONG_TENSORS = {
    "dims 0": (tensor("a", [], dims=0), 'tensor "a" has 0 dimensions, not 1 to 4'),
    "dims 5": (tensor("a", [1] * 5), 'tensor "a" has 5 dimensions, not 1 to 4'),
    "dims huge": (tensor("a", [8], dims=2**32 - 1), "has 4,294,967,295 dimensions"),
    "empty": (tensor("a", [8, 0]), "has an empty or negative dimension"),
    "negative": (tensor("a", [2**64 - 8]), "has an empty or negative dimension"),
    "product": (tensor("a", [2**31, 2**31, 2**31]), "has an impossible size"),
    "product wraps to 0": (tensor("a", [2**32, 2**32]), "has an impossible size"),
    "bytes wrap": (tensor("a", [2**62]), "has an impossible size"),
    "block": (
        tensor("a", [48], kind=8),
        "has rows of 48 values, not a multiple of 32 as q8_0 needs",
    ),
    "block of 256": (tensor("a", [288], kind=12), "not a multiple of 256 as q4_K needs"),
    "offset": (tensor("a", [8], offset=4), 'tensor "a" starts at an unaligned offset'),
    "offset wraps": (tensor("a", [8], offset=2**64 - 32), 'tensor "a" starts at an impossible offset'),
    "no name": (tensor("", [8]), "tensor name with 0 bytes"),
    "long name": (tensor("t" * 1025, [8]), "tensor name with 1,025 bytes"),
    "twice": (tensor("a", [8]) + tensor("a", [8], offset=32), 'tensor "a" comes twice'),
    "overlap": (tensor("a", [16]) + tensor("b", [8], offset=32), 'tensors "a" and "b" overlap'),
}


@pytest.mark.parametrize("name", WRONG_HEADER)
def test_wrong_header(opened: Opener, name: str) -> None:
    file, said = WRONG_HEADER[name]
    assert said in opened(file.build())


@pytest.mark.parametrize("name", WRONG_KEYS)
def test_wrong_metadata(opened: Opener, name: str) -> None:
    key, said = WRONG_KEYS[name]
    answer = opened(Gguf(keys=[ARCHITECTURE, key], n_keys=3 if name.startswith("hidden") else 2).build())
    assert answer.startswith("bad_file damaged")
    assert said in answer


@pytest.mark.parametrize("name", WRONG_TENSORS)
def test_wrong_tensor(opened: Opener, name: str) -> None:
    described, said = WRONG_TENSORS[name]
    count = 2 if name in ("twice", "overlap") else 1
    answer = opened(Gguf(tensors=[described], n_tensors=count, data=bytes(128)).build())
    assert answer.startswith("bad_file damaged file: ")
    assert said in answer


@pytest.mark.parametrize("kind", [4, 5, 31, 36, 37, 38, 200, 2**31, 2**32 - 1])
def test_unknown_weight_type_is_named(opened: Opener, kind: int) -> None:
    answer = opened(with_tensors(tensor("blk.0.x", [256], kind=kind)).build())
    assert answer == f'unsupported tensor "blk.0.x" has unknown weight type {kind}'


def test_incomplete_file_names_both_sizes(opened: Opener) -> None:
    whole = with_tensors(tensor("a", [1 << 20]), data=bytes(4 << 20)).build()
    for percent in (50, 90, 99):
        found = len(whole) * percent // 100
        said = f"bad_file incomplete file: tensors need {len(whole):,} bytes, found {found:,}: pull it again"
        assert opened(whole[:found]) == said
    assert opened(whole[:-1]).startswith("bad_file incomplete file")
    assert opened(whole) == "ok llama 1 1"


def test_cut_anywhere(program: Path, tmp_path: Path) -> None:
    """Every shorter file is refused, with a line of its own."""
    whole = Gguf(
        keys=[
            ARCHITECTURE,
            array("s", STRING, ["one", "two"]),
            array("i", I32, [1, 2]),
            scalar("f", F32, 1.0),
        ],
        tensors=[tensor("a", [8]), tensor("b", [2, 2], offset=32)],
        data=bytes(48),
    ).build()
    paths = []
    for length in range(1, len(whole)):
        paths.append(tmp_path / str(length))
        paths[-1].write_bytes(whole[:length])
    done = subprocess.run([program, *paths], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(paths)
    for path, line in zip(paths, lines, strict=True):
        assert line.startswith(f"bad_file {path}: ")


def test_what_is_no_file(program: Path, tmp_path: Path) -> None:
    assert look(program, tmp_path / "none") == f"bad_file {tmp_path / 'none'}: no such file"
    assert look(program, tmp_path) == f"bad_file {tmp_path}: a folder, not a model file"
    empty = tmp_path / "empty"
    empty.touch()
    assert look(program, empty) == f"bad_file {empty}: empty file"
    assert look(program, empty / "below") == f"bad_file {empty / 'below'}: no such file"
    assert look(program, Path(os.devnull)) == f"bad_file {os.devnull}: not a plain file"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert look(program, pipe) == f"bad_file {pipe}: not a plain file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_no_permission(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(Gguf().build())
    path.chmod(0)
    assert look(program, path) == f"bad_file {path}: no permission to read it"


def test_random_damage(program: Path, tmp_path: Path) -> None:
    """No damage ends the process, and every refusal is one line."""
    tokens = [
        ("<unk>", 0.0, 2),
        ("<s>", 0.0, 3),
        ("</s>", 0.0, 3),
        *[(f"<0x{i:02X}>", 0.0, 6) for i in range(256)],
    ]
    tokens += [("The", -1.0, 1), ("▁", -2.0, 1), ("<b>", 0.0, 4)]
    path = tmp_path / "small.gguf"
    path.write_bytes(vocabulary(tokens))
    done = subprocess.run([program, "--fuzz", path, "3000", "5"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "done 3000" in done.stdout
    seen = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines()[:-1])
    # The damage is neither always deadly nor always harmless.
    assert int(seen["bad_file"]) > 100
    assert int(seen["tokenizer ok"]) > 100


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="counts pages as Linux does")
def test_released_pages_do_not_count(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.gguf"
    path.write_bytes(with_tensors(tensor("a", [4 << 20]), data=bytes(16 << 20)).build())
    done = subprocess.run([program, "--pages", path], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert before - after > 15 << 10


@pytest.mark.native
def test_the_engine_refuses_with_its_own_error(tmp_path: Path) -> None:
    from mtp_cli.engine import ModelFileError, open_engine

    path = tmp_path / "model.gguf"
    whole = with_tensors(tensor("a", [64]), data=bytes(256)).build()
    for content, said in (
        (b"", "empty file"),
        (b"GGML" + whole[4:], "not a GGUF"),
        (whole[:-8], "incomplete"),
    ):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=said) as caught:
            open_engine(path)
        assert "\n" not in str(caught.value)
