"""Our own vocabulary reader gives libllama's tokens, piece by piece and text by text."""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from .gguf_bytes import BOOL, STRING, U32, scalar, vocabulary
from .native_programs import compile_program

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)
FLAGS = (0, 1, 2, 3)
"""1: control tokens in the text count, 2: begin-of-text in front"""

FRAGMENTS = [
    *("<bos>", "<eos>", "</s>", "<b>", "</b>", "<s>", "<unused1>", "<unused12>", "<start_of_turn>"),
    *("<end_of_turn>", "[multimodal]", "<", "<h", "h1>", "<0x41>", "▁", "▁▁", "\t", "\t\t\t", "\r\n"),
    *("\n", "\n\n", "\n" * 31, "\n" * 33, " ", "  ", " " * 31, " " * 45, "\u200b\u00a0\u2028", "\ud7ff"),
    *("😀", "👩‍👩‍👧‍👦", "🇩🇪", "日本語", "العربية", "é", "e\u0301", "ﬁ", "'s", "don't", "1234567890"),
    *("3.14", "!!!???", "https://a.b/c?d=e&f=g", "int main(){}", "The", " the", " quick", " brown", "fox"),
    *("antidisestablishmentarianism", "aaaaaaaaaaaaaaaa"),
]  # fmt: skip
BROKEN = [b"\xff", b"\xfe\xff", b"\xf0\x9f", b"\xf0\x9f\x98", b"\xe2", b"\xe2\x96", b"\xc3", b"\x80"]
BLOCKS = ((32, 127), (0x80, 0x800), (0x2000, 0x3000), (0x4E00, 0x9FFF), (0x1F300, 0x1FA00), (0xE000, 1 << 20))


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program("test_tokenizer", tmp_path_factory.mktemp("tokenizer"))


def random_texts(count: int, seed: int) -> list[bytes]:
    """Words, control tokens, white space, any characters, any bytes; mixed and cut in the middle."""
    rng = random.Random(seed)
    out = [b"", b" ", b"\0", *BROKEN, *(fragment.encode() for fragment in FRAGMENTS)]
    while len(out) < count:
        length = rng.randrange(1, 40)
        kind = rng.random()
        if kind < 0.5:
            text = b"".join(rng.choice(FRAGMENTS).encode() for _ in range(length))
        elif kind < 0.65:
            text = "".join(chr(rng.randrange(*rng.choice(BLOCKS))) for _ in range(length)).encode()
        elif kind < 0.8:
            text = rng.randbytes(length)
        else:
            pieces = [rng.choice(FRAGMENTS).encode() if rng.random() < 0.8 else rng.choice(BROKEN)]
            text = b"".join(pieces * 2 + [rng.choice(FRAGMENTS).encode() for _ in range(length)])
        cut = rng.randrange(len(text) + 1) if rng.random() < 0.3 else 0
        out.append(text[cut:])
    return out


def compare(program: Path, model: Path, texts: Iterable[bytes] = ()) -> None:
    """Every token's bytes, then every text with all flags."""
    pieces = subprocess.run([program, model, "pieces"], capture_output=True, check=False)
    assert pieces.returncode == 0, pieces.stdout.decode(errors="replace")
    frames = [struct.pack("<BI", flags, len(text)) + text for text in texts for flags in FLAGS]
    done = subprocess.run([program, model], input=b"".join(frames), capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")
    assert done.stdout == f"equal {len(frames)}\n".encode()


def random_vocabulary(seed: int, with_bytes: bool) -> bytes:
    """Few letters, so that every choice of a merge matters: equal scores, gaps, overlapping literals."""
    rng = random.Random(seed)
    names: dict[bytes, tuple[float, int]] = {b"<unk>": (0, UNKNOWN)}
    names |= {b"<s>": (0, CONTROL), b"</s>": (0, CONTROL)}
    if with_bytes:
        names |= {f"<0x{i:02X}>".encode(): (0.0, BYTE) for i in range(256)}
    else:  # the bytes as texts of their own instead, which is the other way to write them
        names |= {bytes([i]): (-50.0, NORMAL) for i in range(1, 256)}
    letters = "ab▁<>é\n"
    for _ in range(rng.randrange(20, 200)):
        name = "".join(rng.choice(letters) for _ in range(rng.randrange(1, 6))).encode()
        kind = rng.choices((NORMAL, USER, CONTROL, UNUSED, UNKNOWN, 0), (20, 2, 1, 1, 0.3, 0.3))[0]
        names.setdefault(name, (rng.choice((0.0, -1.0, -2.5, rng.uniform(-20, 5))), kind))
    for name in (b"<eos>", b"<|im_end|>", b"<end_of_turn>", b"[EOS]"):
        if rng.random() < 0.3:
            names[name] = (0.0, rng.choice((NORMAL, CONTROL, USER)))
    ids = len(names)
    more = [scalar("tokenizer.ggml.bos_token_id", U32, rng.choice((1, 3, ids - 1, ids + 5)))]
    for key in ("add_bos_token", "add_space_prefix"):
        if rng.random() < 0.7:
            more.append(scalar(f"tokenizer.ggml.{key}", BOOL, rng.random() < 0.5))
    for key in ("eos", "eot", "eom", "unknown"):
        if rng.random() < 0.4:
            more.append(scalar(f"tokenizer.ggml.{key}_token_id", U32, rng.randrange(ids + 2)))
    return vocabulary([(name, *value) for name, value in names.items()], *more)


@pytest.mark.parametrize("seed", range(40))
def test_equal_on_random_vocabularies(program: Path, tmp_path: Path, seed: int) -> None:
    model = tmp_path / "random.gguf"
    with_bytes = seed % 5 != 0
    model.write_bytes(random_vocabulary(seed, with_bytes))
    rng = random.Random(seed)
    letters = ["a", "b", " ", "▁", "<", ">", "é", "\n", "<s>", "</s>", "ab", "  ", "<eos>", "x", "\0"]
    texts = ["".join(rng.choice(letters) for _ in range(rng.randrange(60))).encode() for _ in range(150)]
    texts += random_texts(100, seed)
    # Where there is no token for the byte 0, libllama refuses texts that hold it.
    compare(program, model, [text for text in texts if with_bytes or b"\0" not in text])


@pytest.mark.model
def test_equal_on_gemma3(program: Path, gemma3: Path) -> None:
    compare(program, gemma3, random_texts(1500, 1))


@pytest.mark.model
def test_loads_many_times_faster(program: Path, gemma3: Path) -> None:
    done = subprocess.run([program, gemma3, "load"], capture_output=True, text=True, check=True)
    own, reference = (float(part.split()[1]) for part in done.stdout.split(","))
    assert own < reference / 5


def load(program: Path, tmp_path: Path, content: bytes) -> list[str]:
    """What both readers say of this file."""
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    done = subprocess.run([program, path, "load"], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr
    assert not done.stderr
    return done.stdout.replace(f"{path}: ", "").splitlines()


BASE = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL), ("a", -1.0, NORMAL)]


def test_damaged_vocabularies(program: Path, tmp_path: Path) -> None:
    bad_file, unsupported = "1 damaged vocabulary: ", "2 "
    again = ": pull the file again"
    assert (
        load(program, tmp_path, vocabulary([*BASE, BASE[3]]))[:2]
        == [f"{bad_file}token 4 comes twice{again}"] * 2
    )
    nan = vocabulary([*BASE, ("b", float("nan"), NORMAL)])
    assert load(program, tmp_path, nan)[0] == f"{bad_file}a score is not a number{again}"
    assert load(program, tmp_path, vocabulary([]))[0] == f"{bad_file}no list of tokens{again}"
    assert load(program, tmp_path, vocabulary(BASE, model="bert"))[1] == f'{unsupported}tokenizer kind "bert"'
    pre = scalar("tokenizer.ggml.pre", STRING, "nothing-known")
    named = load(program, tmp_path, vocabulary(BASE, pre, model="gpt2"))[1]
    assert named.startswith("1 the vocabulary cannot be read: ")


def test_vocabularies_with_peculiarities_are_left_to_libllama(program: Path, tmp_path: Path) -> None:
    plain = load(program, tmp_path, vocabulary(BASE))
    assert len(plain) == 1
    for more in ("<|fim_prefix|>", "<|channel|>", "<PRE>", ""):
        first = load(program, tmp_path, vocabulary([*BASE, (more, 0.0, CONTROL)]))[0]
        assert first == "2 no own reader for this kind of vocabulary", more
