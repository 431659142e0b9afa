"""A trained head as a GGUF file that the engine reads (native/src/head/head_model.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, quantize
from torch import Tensor

from mtp_cli.train.head import DraftHead
from mtp_cli.train.outlook import OutlookNet

ARCHITECTURE = "mtp-head"


def write_head(
    path: Path,
    head: DraftHead,
    *,
    fingerprint: str,
    backbone: str,
    groups: Sequence[int],
    record: Mapping[str, str | int | float],
    outlook: OutlookNet | None = None,
) -> None:
    """Matrices as Q4_0, vectors as F32. `groups`: draft vocabulary in groups of 8 token ids, most frequent
    first.
    `record`: how it was trained, for `mtp models`. Atomic."""
    s = head.shape
    part = path.with_suffix(".part")
    writer = GGUFWriter(part, ARCHITECTURE)
    writer.add_string("mtp-head.backbone.fingerprint", fingerprint)
    writer.add_string("mtp-head.backbone.name", backbone)
    writer.add_uint32("mtp-head.block_count", 1)
    writer.add_uint32("mtp-head.feed_forward_length", s.n_ff)
    writer.add_array("mtp-head.sources", list(s.sources))
    writer.add_array("mtp-head.source_counts", [len(s.sources)])
    writer.add_array("mtp-head.draft_groups", [int(group) for group in groups])
    for key, value in record.items():
        name = f"mtp-head.training.{key}"
        if isinstance(value, str):
            writer.add_string(name, value)
        elif isinstance(value, int):
            writer.add_uint64(name, value)
        else:
            writer.add_float32(name, value)
    for name, weight in (
        ("input.weight", head.input.weight),
        ("blk.0.attn_q.weight", head.query.weight),
        ("blk.0.attn_output.weight", head.attn_output.weight),
        ("blk.0.ffn_gate.weight", head.gate.weight),
        ("blk.0.ffn_up.weight", head.up.weight),
        ("blk.0.ffn_down.weight", head.down.weight),
    ):
        # measured: four bits change no more acceptance than chance does, and a draft step reads half as much
        kind = GGMLQuantizationType.Q4_0
        writer.add_tensor(name, quantize(_array(weight), kind), raw_dtype=kind)
    if s.q_norm:
        writer.add_tensor("blk.0.attn_q_norm.weight", _array(head.query_norm))
    if outlook is not None:
        _add_outlook(writer, outlook)
    writer.add_tensor("guess_bias.weight", _array(head.guess_bias))
    writer.add_tensor("blk.0.ffn_norm.weight", _array(head.ffn_norm))
    writer.add_tensor("output_norm.weight", _array(head.output_norm))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.rename(path)


def _add_outlook(writer: GGUFWriter, net: OutlookNet) -> None:
    kind = GGMLQuantizationType.Q8_0
    writer.add_tensor("outlook.weight", quantize(_array(net.input.weight), kind), raw_dtype=kind)
    writer.add_tensor("outlook.bias", _array(net.bias))
    writer.add_tensor("outlook_output.weight", _array(net.output.weight))
    writer.add_tensor("outlook_output.bias", _array(net.output.bias))


def draft_groups(counts: np.ndarray, most: int) -> list[int]:
    """The `most` groups of 8 neighbouring ids that hold the most frequent tokens, most frequent first."""
    padded = np.append(counts, np.zeros(-len(counts) % 8))
    total = padded.reshape(-1, 8).sum(1)
    order = np.argsort(-total, kind="stable")[:most]
    return [int(group) for group in order if total[group] > 0]


def _array(weight: Tensor) -> np.ndarray:
    return np.ascontiguousarray(weight.detach().float().numpy())
