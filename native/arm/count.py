#!/usr/bin/env python3
"""Count the instructions of the Arm kernels' inner loops, from the objects that run_tests.py built.

    python3 native/arm/count.py [FOLDER]        default: build/arm/tests; prints the table of KERNELS.md

An inner loop takes one block of 32 columns of 8 rows against k columns of activations. The bound counts
what no order of work can avoid, 16 bytes at a time: loading weights, scales and activations, bringing what
is packed to bytes and scales to float, the multiplications, and for each 4 results conversion, scale and
addition (the bits of every other kernel set ask for these in float, block by block). What a super-block
asks for once in 8 blocks counts fully.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MULTIPLY = {
    "neon": (8, ("smull", "smull2", "smlal", "smlal2")),
    "dotprod": (16, ("sdot",)),
    "i8mm": (32, ("smmla", "usmmla")),
}
"""Of each set: multiply-adds of an instruction, and the instructions."""
FORMATS = (
    "q4_0",
    "q4_1",
    "q5_0",
    "q5_1",
    "q8_0",
    "q4_k",
    "q5_k",
    "q6_k",
)  # Format's order, after three of floats
ROWS, BLOCK = 8, 32
_FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
_LINE = re.compile(r"^\s*([0-9a-f]+):\t(\S+)(?:\s+(.*))?$")
_TILE = re.compile(r"::(group_|panel_)?tile<\(mtp::Format\)(\d+), (\d+)[,>]")


def main(arguments: list[str]) -> int:
    """The exit code."""
    folder = Path(arguments[0]) if arguments else ROOT / "build" / "arm" / "tests"
    print(
        "| set | format | k | instructions a block | per 1000 multiply-adds | multiplying | bound | ratio |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, (width, words) in MULTIPLY.items():
        objects = sorted(folder.rglob(f"set_{name}.cpp.o"))
        if not objects:
            print(f"no object of set {name} under {folder}", file=sys.stderr)
            return 1
        for (form, k, many), loop in sorted(inner_loops(objects[0], words).items()):
            multiplies = sum(loop[word] for word in words)
            if not multiplies or (k not in (1, 2, 4) if not many else k != 4):
                continue
            useful = ROWS * BLOCK * k
            total, least = sum(loop.values()), bound(FORMATS[form - 3], k, many, name, width)
            cells = [
                name,
                FORMATS[form - 3].upper(),
                f"{k}{' of many' if many else ''}",
                str(total),
                f"{1000 * total / useful:.0f}",
            ]
            cells += [
                f"{1000 * multiplies / useful:.0f}",
                f"{1000 * least / useful:.0f}",
                f"{total / least:.2f}",
            ]
            print("| " + " | ".join(cells) + " |")
    return 0


def bound(form: str, k: int, many: bool, name: str, width: int) -> float:
    """Least instructions for one block of 8 rows and k columns; `many`: those are decoded."""
    slot = 2 if name == "i8mm" else 1  # columns that an instruction takes
    slots = -(-k // slot)
    bits = 8 if form == "q8_0" else 6 if form == "q6_k" else 5 if form[1] == "5" else 4
    weights = ROWS * BLOCK * bits / 8 / 16
    # nibbles and their joined planes: an operation a vector; fives: 1 for five vectors in eight, 3, 3 and 5
    # for those that lie in several bytes; sixes: 3
    decode = {4: 16, 8: 16, 5: 32, 6: 48}[bits]
    has_min = form in ("q4_1", "q5_1", "q4_k", "q5_k")
    # f16: a load and two conversions; bytes: a load, three steps wider, two to float, two products
    scales = 16 if form.endswith("k") else 6 if has_min else 3
    if many:
        weights, decode = ROWS * BLOCK / 16, 0
        scales = ROWS * slot / 4 * ((2 if form == "q6_k" else 1) + has_min)
    # neon: four columns of an activation must be spread over a register, sums of 16 bits be widened, after 8,
    # 4 or 2 vectors pair by pair, then from two lanes a row to one
    spread, widen = slots * slot * BLOCK / 16, 0
    if name == "neon":
        spread = slots * BLOCK / 4
        widen = slots * {4: 6, 5: 6, 6: 12, 8: 18}[bits]
    activations = spread + slots
    multiplies = ROWS * BLOCK * slots * slot / width
    results = ROWS * slots * slot / 4 * ((6 if form == "q6_k" else 3) + has_min + (form == "q4_0"))
    return weights + decode + scales + activations + multiplies + widen + results


def inner_loops(path: Path, words: tuple[str, ...]) -> dict[tuple[int, int, bool], Counter[str]]:
    """(format, columns) -> instructions of the loop that holds the multiplications."""
    text = subprocess.run(
        ["aarch64-linux-gnu-objdump", "-d", "-C", "--no-show-raw-insn", str(path)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found: dict[tuple[int, int, bool], Counter[str]] = {}
    tile, lines = None, []
    for line in [*text.splitlines(), "0 <end>:"]:
        if start := _FUNCTION.match(line):
            if tile:
                loop, key = _loop(lines, words), (int(tile[2]), int(tile[3]), tile[1] == "panel_")
                found[key] = max(found.get(key, loop), loop, key=lambda body: sum(body[w] for w in words))
            tile, lines = _TILE.search(start[1]), []
        elif tile and (match := _LINE.match(line)):
            lines.append((int(match[1], 16), match[2], match[3] or ""))
    return found


def _loop(lines: list[tuple[int, str, str]], words: tuple[str, ...]) -> Counter[str]:
    """The shortest loop with the most multiplications."""
    best: tuple[int, int, Counter[str]] = (0, 0, Counter())
    for at, word, operands in lines:
        target = re.search(r"\b([0-9a-f]+) <", operands)
        if not (word == "b" or word.startswith(("b.", "cb", "tb"))) or not target or int(target[1], 16) > at:
            continue
        body = Counter(w for a, w, _ in lines if int(target[1], 16) <= a <= at)
        best = max(best, (sum(body[w] for w in words), -sum(body.values()), body), key=lambda item: item[:2])
    return best[2]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
