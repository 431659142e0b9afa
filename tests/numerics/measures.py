"""How far apart two sets of logits are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def nmse(got: Array, want: Array) -> float:
    """Squared error over squared size; 0 is equal. NaN anywhere gives inf."""
    got64, want64 = np.asarray(got, np.float64), np.asarray(want, np.float64)
    value = float(np.square(got64 - want64).sum() / np.square(want64).sum())
    return value if np.isfinite(value) else float("inf")


def kl_divergence(want: Array, got: Array) -> Array:
    """KL(want || got) of each row of logits, in nats. Sums are in float64, the rest as the input is."""
    p = want - want.max(axis=-1, keepdims=True)
    q = got - got.max(axis=-1, keepdims=True)
    apart = p - q
    log_total_q = np.log(np.exp(q, out=q).sum(axis=-1, dtype=np.float64))
    total_p = np.exp(p, out=p).sum(axis=-1, dtype=np.float64)
    np.multiply(p, apart, out=apart)
    return np.asarray(apart.sum(axis=-1, dtype=np.float64) / total_p - np.log(total_p) + log_total_q)


def same_bits(a: Array, b: Array) -> bool:
    """True when two float arrays are equal bit for bit."""
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
