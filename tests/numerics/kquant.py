"""Plain quantisers for Q4_K, Q5_K and Q6_K, which the `gguf` package can read but not write.

They are made for tests: simple round-to-nearest, no search for the best scales. Every bit field of the
formats gets used, as long as the weights vary in size from block to block.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

SUPER = 256
"""Weights in one super-block."""


def _f16(x: Floats) -> Floats:
    """Round to half precision, as the file stores it."""
    return x.astype(np.float16).astype(np.float32)


def _inverse(x: Floats) -> Floats:
    """1/x, and 0 where x is 0."""
    return np.divide(1.0, x, out=np.zeros_like(x), where=x != 0)


def _pack_scales(scale: Bytes, minimum: Bytes) -> Bytes:
    """Two [n, 8] arrays of 6-bit numbers -> the 12 bytes that Q4_K and Q5_K share."""
    low = (scale[:, :4] & 63) | ((scale[:, 4:] >> 4) << 6)
    mid = (minimum[:, :4] & 63) | ((minimum[:, 4:] >> 4) << 6)
    high = (scale[:, 4:] & 15) | ((minimum[:, 4:] & 15) << 4)
    return np.concatenate([low, mid, high], axis=1).astype(np.uint8)


def _affine(rows: Floats, levels: int) -> tuple[Bytes, Bytes, Bytes]:
    """Blocks of 32 as d*scale*q - dmin*minimum. Returns (d and dmin as bytes [n, 4], packed scales
    [n, 12], q [n, 8, 32])."""
    x = rows.reshape(-1, 8, 32)
    lowest = np.minimum(x.min(axis=2), 0)
    step = (x.max(axis=2) - lowest) / levels
    d = _f16(step.max(axis=1, keepdims=True) / 63)
    dmin = _f16(-lowest.min(axis=1, keepdims=True) / 63)
    scale = np.clip(np.rint(step * _inverse(d)), 0, 63).astype(np.uint8)
    minimum = np.clip(np.rint(-lowest * _inverse(dmin)), 0, 63).astype(np.uint8)
    real_step = (d * scale)[:, :, None]
    offset = (dmin * minimum)[:, :, None]
    q = np.clip(np.rint((x + offset) * _inverse(real_step)), 0, levels).astype(np.uint8)
    halves = np.concatenate([d, dmin], axis=1).astype(np.float16).view(np.uint8)
    return halves, _pack_scales(scale, minimum), q


def _nibbles(q: Bytes) -> Bytes:
    """[n, 8, 32] values below 16 -> [n, 128]: block 2i in the low and block 2i+1 in the high nibbles."""
    return (q[:, 0::2] | (q[:, 1::2] << 4)).reshape(len(q), 128).astype(np.uint8)


def quantize_q4_k(weights: Floats) -> Bytes:
    """[rows, n] with n a multiple of 256 -> [rows, n / 256 * 144]."""
    halves, scales, q = _affine(weights, 15)
    return np.concatenate([halves, scales, _nibbles(q)], axis=1).reshape(len(weights), -1)


def quantize_q5_k(weights: Floats) -> Bytes:
    """[rows, n] with n a multiple of 256 -> [rows, n / 256 * 176]."""
    halves, scales, q = _affine(weights, 31)
    fifth = ((q >> 4) << np.arange(8, dtype=np.uint8)[None, :, None]).sum(axis=1, dtype=np.uint8)
    return np.concatenate([halves, scales, fifth, _nibbles((q & 15).astype(np.uint8))], axis=1).reshape(
        len(weights), -1
    )


def quantize_q6_k(weights: Floats) -> Bytes:
    """[rows, n] with n a multiple of 256 -> [rows, n / 256 * 210]."""
    x = weights.reshape(-1, 16, 16)
    # The largest value by size maps to -32, so some scales come out negative: the format allows that.
    where = np.abs(x).argmax(axis=2)[:, :, None]
    step = np.take_along_axis(x, where, axis=2)[:, :, 0] / -32
    d = _f16(np.abs(step).max(axis=1, keepdims=True) / 127)
    scale = np.clip(np.rint(step * _inverse(d)), -127, 127).astype(np.int8)
    real_step = (d * scale)[:, :, None]
    q = (np.clip(np.rint(x * _inverse(real_step)), -32, 31) + 32).astype(np.uint8).reshape(-1, 2, 4, 32)
    low = (q[:, :, :2] & 15) | ((q[:, :, 2:] & 15) << 4)
    high = ((q >> 4) << np.array([0, 2, 4, 6], np.uint8)[None, None, :, None]).sum(axis=2, dtype=np.uint8)
    parts = [
        low.reshape(-1, 128),
        high.reshape(-1, 64),
        scale.view(np.uint8),
        d.astype(np.float16).view(np.uint8),
    ]
    return np.concatenate(parts, axis=1).reshape(len(weights), -1)
