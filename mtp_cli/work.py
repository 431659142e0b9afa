"""Counted work: what the engine's passes read and multiplied, as far as their shapes tell."""

from __future__ import annotations

from dataclasses import dataclass

PREFILL_CHUNK = 192
"""Tokens of a prefill pass (kMaxWidth in native/src/graph/workspace.h)."""
LOGITS_CHUNK = 16
"""Most tokens of a pass that leaves logits for each of them."""
_F16_BYTES = 2


@dataclass(frozen=True, slots=True)
class PassShape:
    """One pass of a model: weight bytes (read once a pass), multiply-adds (of each token), attention.

    screened_bytes: of the output matrix, where stored bounds spare the rest of it. query_width, key_width:
    numbers in a layer's queries and keys of one token. Sliding layers see at most `window` positions."""

    layer_bytes: int
    layer_products: int
    output_bytes: int
    screened_bytes: int
    output_products: int
    vocabulary: int
    query_width: int
    key_width: int
    full_layers: int
    sliding_layers: int
    window: int


@dataclass(slots=True)
class Work:
    """Totals. passes over the weights; columns: tokens that they computed; bytes of weights and of the KV
    cache; multiply-adds; core_seconds: CPU time, over all threads. Not frozen: it is made anew in every pass,
    and frozen ones take four times as long."""

    passes: int = 0
    columns: int = 0
    bytes: float = 0.0
    multiply_adds: float = 0.0
    core_seconds: float = 0.0

    def __add__(self, other: Work) -> Work:
        return self.plus(other, 1)

    def __sub__(self, other: Work) -> Work:
        return self.plus(other, -1)

    def plus(self, other: Work, sign: int) -> Work:
        """Written out: it stands in the decode loop."""
        return Work(
            self.passes + sign * other.passes,
            self.columns + sign * other.columns,
            self.bytes + sign * other.bytes,
            self.multiply_adds + sign * other.multiply_adds,
            self.core_seconds + sign * other.core_seconds,
        )


def a_pass(shape: PassShape, past: int, width: int, rows: int, *, screened: bool = False) -> Work:
    """One pass over `width` tokens behind `past` positions, with logits for the last `rows` of them."""
    seen, read = _positions(past, width, 0)
    near, near_read = _positions(past, width, shape.window)
    full, sliding = shape.full_layers, shape.sliding_layers
    # scores and the weighted sum of values: a multiply-add each for every number of a query and position
    attention = 2.0 * shape.query_width * (full * seen + sliding * near)
    cache = 2.0 * _F16_BYTES * shape.key_width * (full * read + sliding * near_read)
    output = (shape.screened_bytes if screened else shape.output_bytes) if rows else 0
    products = shape.layer_products * width + shape.output_products * rows
    return Work(1, width, shape.layer_bytes + output + cache, products + attention)


def _positions(past: int, width: int, window: int) -> tuple[int, int]:
    """(positions attended to, summed over the tokens; positions read), the token's own included."""
    if not window or past + width <= window:
        return width * past + width * (width + 1) // 2, past + width
    seen = sum(min(past + i + 1, window) for i in range(width))
    return seen, min(past + width, window + width - 1)


def in_chunks(shape: PassShape, past: int, tokens: int, chunk: int, *, all_rows: bool) -> Work:
    """Several passes of at most `chunk` tokens each; logits for all of them, else for the last one only."""
    total = Work()
    for start in range(0, tokens, chunk):
        width = min(chunk, tokens - start)
        rows = width if all_rows else int(start + width == tokens)
        total += a_pass(shape, past + start, width, rows)
    return total


def head_steps(shape: PassShape, weight_bytes: int, draft_vocabulary: int, steps: int) -> Work:
    """Draft steps: the head's own weights (a byte each) and the output rows of its vocabulary. What it reads
    of the cache is not counted."""
    share = min(1.0, draft_vocabulary / shape.vocabulary)
    read = weight_bytes + share * shape.output_bytes
    return Work(0, 0, steps * read, steps * (weight_bytes + share * shape.output_products))
