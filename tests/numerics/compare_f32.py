"""How near the engine and llama.cpp come to an f32 evaluation of the same file, on real text.

python -m tests.numerics.compare_f32 --model smollm2-135m --text FILE --positions 2048
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .measures import kl_divergence
from .reference_f32 import ReferenceF32
from .reference_llama import LlamaReference
from .texts import english

Rows = npt.NDArray[np.float32]
BLOCK = 64


@dataclass
class Comparison:
    """Means over the positions: KL in nats, agreement of the arg-max as a share of 1."""

    positions: int
    kl_native: float | None
    kl_llama: float
    kl_native_ci95: tuple[float, float] | None = field(default=None)
    kl_difference_ci95: tuple[float, float] | None = field(default=None)
    """95 % interval of KL(f32||native) - KL(f32||llama.cpp), paired by position"""
    native_f32: float | None = None
    llama_f32: float = 0.0
    native_llama: float | None = None


def _interval(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Normal 95 % interval of the mean."""
    mean, half = float(values.mean()), 1.96 * float(values.std(ddof=1)) / float(np.sqrt(len(values)))
    return mean - half, mean + half


def _native_rows(path: Path, tokens: Sequence[int], kernel: str) -> Iterator[Rows]:
    """Logits of the engine, BLOCK positions at a time."""
    from mtp_cli.engine import open_engine

    engine = open_engine(path, n_ctx=len(tokens), kernel=kernel)
    try:
        for start in range(0, len(tokens), BLOCK):
            yield engine.logits(tokens[start : start + BLOCK])
    finally:
        engine.close()


def compare(
    path: Path, tokens: Sequence[int], *, llama: LlamaReference, kernel: str | None = "auto"
) -> Comparison:
    """All three on the same tokens. kernel None leaves the engine out."""
    stock = llama.logits(path, tokens, threads=2)
    native = _native_rows(path, tokens, kernel) if kernel else None
    kl_native: list[float] = []
    kl_llama: list[float] = []
    best: list[tuple[int, int, int]] = []
    for start, truth in ReferenceF32(path).logit_blocks(tokens, BLOCK):
        other = np.asarray(stock[start : start + BLOCK])
        kl_llama += kl_divergence(truth, other).tolist()
        own = next(native) if native else other
        if native:
            kl_native += kl_divergence(truth, own).tolist()
        best += zip(*(rows.argmax(axis=1).tolist() for rows in (truth, other, own)), strict=True)
    exact, theirs, ours = np.array(best).T
    result = Comparison(
        len(tokens), None, float(np.mean(kl_llama)), llama_f32=float(np.mean(theirs == exact))
    )
    if native:
        native.close()  # type: ignore[attr-defined]
        result.kl_native = float(np.mean(kl_native))
        result.kl_native_ci95 = _interval(np.array(kl_native))
        result.kl_difference_ci95 = _interval(np.array(kl_native) - np.array(kl_llama))
        result.native_f32 = float(np.mean(ours == exact))
        result.native_llama = float(np.mean(ours == theirs))
    return result


def text_tokens(path: Path, text: str, positions: int, llama: LlamaReference) -> list[int]:
    """The first `positions` tokens of the text, begin-of-text included where the model wants it."""
    tokens = llama.tokenize(path, text[: positions * 12])[:positions]
    if len(tokens) < positions:
        raise ValueError(f"the text has only {len(tokens)} tokens")
    return tokens


def model_path(name: str) -> Path:
    """A path as it is; a known name through the catalog."""
    if Path(name).exists():
        return Path(name)
    from mtp_cli import catalog

    return catalog.resolve(name).path


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison as lines or JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="known model or path of a GGUF file")
    parser.add_argument("--text", type=Path, help="text file; default: news or the project's prose")
    parser.add_argument("--positions", type=int, default=2048)
    parser.add_argument(
        "--kernel", default="auto", help="kernel set of the engine; 'none' leaves the engine out"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    text = options.text.read_text(encoding="utf-8") if options.text else english()
    path = model_path(options.model)
    with LlamaReference() as llama:
        tokens = text_tokens(path, text, options.positions, llama)
        found = compare(
            path, tokens, llama=llama, kernel=None if options.kernel == "none" else options.kernel
        )
    if options.json:
        print(json.dumps(asdict(found)))
        return 0
    print(f"positions                     {found.positions}")
    print(f"mean KL(f32 || llama.cpp)     {found.kl_llama:.6f}")
    print(f"arg-max llama.cpp = f32       {100 * found.llama_f32:.2f} %")
    if found.kl_native is not None and found.kl_difference_ci95 is not None:
        low, high = found.kl_difference_ci95
        print(f"mean KL(f32 || native)        {found.kl_native:.6f}")
        print(f"  minus llama.cpp's, 95 %     {low:+.6f} .. {high:+.6f}")
        print(f"arg-max native = f32          {100 * (found.native_f32 or 0):.2f} %")
        print(f"arg-max native = llama.cpp    {100 * (found.native_llama or 0):.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
