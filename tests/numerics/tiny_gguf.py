"""Tiny random model files: small enough to run in a blink, odd enough to find mistakes.

`write_tiny(path, TinySpec(...))` writes a complete GGUF that llama.cpp loads as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import gguf
import numpy as np
import numpy.typing as npt

from .kquant import quantize_q4_k, quantize_q5_k, quantize_q6_k

Floats = npt.NDArray[np.float32]
WEIGHT_TYPES = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K")
K_TYPES = ("Q4_K", "Q5_K", "Q6_K")
WORDS = ("▁the", "▁a", "▁of", "ing", "▁and", "er", "▁to", "tion", "▁is", "es")


@dataclass(frozen=True)
class TinySpec:
    """Shape and contents of a tiny model. The defaults suit every weight type."""

    arch: Literal["llama", "gemma3"] = "llama"
    weight_type: str = "F32"
    output_type: str = ""
    """type of the output matrix (or of the token table, when tied); "" is weight_type"""
    n_embd: int = 256
    n_layer: int = 2
    n_head: int = 4
    n_head_kv: int = 2
    head_dim: int = 64
    n_ff: int = 512
    n_vocab: int = 301
    n_ctx_train: int = 1024
    tied: bool = True
    rope_freqs: bool = False
    rope_base: float = 10000.0
    rope_linear: float = 0.0
    """linear RoPE scaling factor; 0 writes none"""
    sliding_window: int = 32
    tokenizer: Literal["spm", "bpe"] = "spm"
    chat_template: str = ""
    fill: Literal["normal", "extreme"] = "normal"
    """extreme: quants at the ends of their range and inputs of one sign, to make accumulators overflow"""
    seed: int = 1

    def label(self) -> str:
        """A short name for test ids."""
        return f"{self.arch}-{self.weight_type}"


def gemma_spec(**changes: Any) -> TinySpec:
    """A gemma3 with 5 sliding layers, a full one and a sliding one; heads wider than n_embd / n_head."""
    base = TinySpec(arch="gemma3", n_layer=7, head_dim=128, n_head_kv=1, rope_base=1000000.0)
    return replace(base, **changes)


def quantize(weights: Floats, kind: str) -> npt.NDArray[Any]:
    """[rows, n] floats -> [rows, bytes] (or the same shape for F32 and F16)."""
    if kind == "F32":
        return weights.astype(np.float32)
    if kind == "F16":
        return weights.astype(np.float16)
    own = {"Q4_K": quantize_q4_k, "Q5_K": quantize_q5_k, "Q6_K": quantize_q6_k}.get(kind)
    if own is not None:
        return own(weights)
    packed: npt.NDArray[Any] = gguf.quants.quantize(weights, gguf.GGMLQuantizationType[kind])
    return packed


# bytes of the scales at the front and at the back of a block; what lies between are quants
_FRAME = {
    "Q8_0": (2, 0), "Q4_0": (2, 0), "Q4_1": (4, 0), "Q5_0": (2, 0), "Q5_1": (4, 0),
    "Q4_K": (16, 0), "Q5_K": (16, 0), "Q6_K": (0, 18),
}  # fmt: skip


def _extreme(packed: npt.NDArray[Any], kind: str, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Push the quants of whole blocks to one end of the range (Q8_0: also -128, which quantisers avoid)."""
    if kind not in _FRAME:
        return packed
    front, back = _FRAME[kind]
    size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]][1]
    blocks = packed.reshape(-1, size).copy()
    ends = np.array([0x7F, 0x80, 0x81], np.uint8) if kind == "Q8_0" else np.array([0x00, 0xFF], np.uint8)
    # a whole row of blocks shares its end, so that sums along the row go as far as they can
    per_row = packed.shape[1] // size
    choice = np.repeat(rng.choice(ends, size=len(packed)), per_row)
    blocks[:, front : size - back] = choice[:, None]
    return np.asarray(blocks.reshape(packed.shape))


class _Weights:
    """Makes random matrices, quantises them and adds them to the writer."""

    def __init__(self, writer: gguf.GGUFWriter, spec: TinySpec) -> None:
        self.writer, self.spec = writer, spec
        self.rng = np.random.default_rng(spec.seed)

    def matrix(self, name: str, rows: int, columns: int, *, kind: str = "", gain: float = 1.0) -> None:
        kind = kind or self.spec.weight_type
        noise = self.rng.standard_normal((rows, columns), dtype=np.float32)
        # Blocks of different size and centre: scales and minima then differ from block to block. The centres
        # cancel out over a row; a common one would hide errors behind one large direction.
        blocks = (rows, -(-columns // 16))
        size = self.rng.uniform(0.4, 1.6, blocks).astype(np.float32).repeat(16, axis=1)[:, :columns]
        centre = self.rng.normal(0.0, 0.3, blocks).astype(np.float32).repeat(16, axis=1)[:, :columns]
        weights = (noise + centre) * size * np.float32(gain / np.sqrt(columns))
        packed = quantize(weights, kind)
        if self.spec.fill == "extreme" and name != "token_embd.weight":
            packed = _extreme(packed, kind, self.rng)
        self._add(name, packed, kind)

    def table(self, name: str, *, gain: float) -> None:
        """The token table: row i is token i."""
        spec = self.spec
        kind = spec.weight_type if not (spec.tied and spec.output_type) else spec.output_type
        if spec.fill == "extreme":
            ones = self.rng.uniform(0.9, 1.0, (spec.n_vocab, spec.n_embd)).astype(np.float32)
            sign = self.rng.choice(np.array([-1, 1], np.float32), (spec.n_vocab, 1))
            self._add(name, quantize(ones * sign * np.float32(gain), kind), kind)
        else:
            self.matrix(name, spec.n_vocab, spec.n_embd, kind=kind, gain=gain * np.sqrt(spec.n_embd))

    def vector(self, name: str, size: int, *, mean: float = 1.0) -> None:
        spread = 0.0 if self.spec.fill == "extreme" else 0.2
        values = mean * (1 + spread * self.rng.standard_normal(size, dtype=np.float32))
        self._add(name, values.astype(np.float32), "F32")

    def _add(self, name: str, data: npt.NDArray[Any], kind: str) -> None:
        self.writer.add_tensor(name, data, raw_dtype=gguf.GGMLQuantizationType[kind])


def _header(writer: gguf.GGUFWriter, spec: TinySpec) -> None:
    writer.add_name(f"tiny {spec.label()}")
    writer.add_block_count(spec.n_layer)
    writer.add_context_length(spec.n_ctx_train)
    writer.add_embedding_length(spec.n_embd)
    writer.add_feed_forward_length(spec.n_ff)
    writer.add_head_count(spec.n_head)
    writer.add_head_count_kv(spec.n_head_kv)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(spec.rope_base)
    if spec.arch == "gemma3" or spec.head_dim * spec.n_head != spec.n_embd:
        writer.add_key_length(spec.head_dim)
        writer.add_value_length(spec.head_dim)
    if spec.arch == "gemma3":
        writer.add_sliding_window(spec.sliding_window)
    else:
        writer.add_rope_dimension_count(spec.head_dim)
        writer.add_vocab_size(spec.n_vocab)
    if spec.rope_linear:
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(spec.rope_linear)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)


def _spm_vocabulary(spec: TinySpec) -> tuple[list[str], list[float], list[int], dict[str, int]]:
    """Special tokens, the 256 bytes, then letters and words. Returns tokens, scores, types, special ids."""
    kinds = gguf.TokenType
    if spec.arch == "gemma3":
        special = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"]
        ids = {"bos": 2, "eos": 1, "unk": 3, "pad": 0}
    else:
        special, ids = ["<unk>", "<s>", "</s>"], {"bos": 1, "eos": 2, "unk": 0}
    tokens = list(special)
    types = [int(kinds.UNKNOWN if token == "<unk>" else kinds.CONTROL) for token in special]
    tokens += [f"<0x{byte:02X}>" for byte in range(256)]
    types += [int(kinds.BYTE)] * 256
    scores = [0.0] * len(tokens)
    plain = ["▁", *"etaoinsrhldcumfpgwybvk", *WORDS]
    plain += [f"▁w{i}" for i in range(max(0, spec.n_vocab - len(tokens) - len(plain)))]
    tokens += plain
    types += [int(kinds.NORMAL)] * len(plain)
    scores += [-float(i) for i in range(len(plain))]
    keep = spec.n_vocab
    if keep < len(special) + 256:
        raise ValueError("n_vocab is too small for the byte tokens")
    return tokens[:keep], scores[:keep], types[:keep], ids


def _byte_letters() -> list[str]:
    """The printable letter that byte-level BPE writes for each of the 256 bytes."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    return [letters[byte] for byte in range(256)]


def _tokenizer(writer: gguf.GGUFWriter, spec: TinySpec) -> None:
    if spec.tokenizer == "spm":
        tokens, scores, types, ids = _spm_vocabulary(spec)
        writer.add_tokenizer_model("llama")
        writer.add_tokenizer_pre("default")
        writer.add_token_list(tokens)
        writer.add_token_scores(scores)
        writer.add_token_types(types)
        writer.add_bos_token_id(ids["bos"])
        writer.add_eos_token_id(ids["eos"])
        writer.add_unk_token_id(ids["unk"])
        writer.add_add_bos_token(True)
        writer.add_add_space_prefix(spec.arch != "gemma3")
    else:
        merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("i", "n"), ("in", "g"), ("Ġ", "a")]
        tokens = [
            "<|endoftext|>",
            "<|im_start|>",
            "<|im_end|>",
            *_byte_letters(),
            *(a + b for a, b in merges),
        ]
        types = [int(gguf.TokenType.CONTROL)] * 3 + [int(gguf.TokenType.NORMAL)] * (len(tokens) - 3)
        tokens += [f"word{i}" for i in range(spec.n_vocab - len(tokens))]
        types += [int(gguf.TokenType.NORMAL)] * (len(tokens) - len(types))
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("smollm")
        writer.add_token_list(tokens[: spec.n_vocab])
        writer.add_token_types(types[: spec.n_vocab])
        writer.add_token_merges([f"{a} {b}" for a, b in merges])
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_add_bos_token(False)
    if spec.chat_template:
        writer.add_chat_template(spec.chat_template)


def _layer(weights: _Weights, spec: TinySpec, index: int) -> None:
    block, gemma = f"blk.{index}", spec.arch == "gemma3"
    heads, heads_kv = spec.n_head * spec.head_dim, spec.n_head_kv * spec.head_dim
    weights.vector(f"{block}.attn_norm.weight", spec.n_embd)
    weights.matrix(f"{block}.attn_q.weight", heads, spec.n_embd, gain=1.5)
    weights.matrix(f"{block}.attn_k.weight", heads_kv, spec.n_embd, gain=1.5)
    weights.matrix(f"{block}.attn_v.weight", heads_kv, spec.n_embd)
    weights.matrix(f"{block}.attn_output.weight", spec.n_embd, heads)
    if gemma:
        weights.vector(f"{block}.attn_q_norm.weight", spec.head_dim, mean=1.3)
        weights.vector(f"{block}.attn_k_norm.weight", spec.head_dim, mean=1.3)
        weights.vector(f"{block}.post_attention_norm.weight", spec.n_embd, mean=0.7)
        weights.vector(f"{block}.post_ffw_norm.weight", spec.n_embd, mean=0.7)
    weights.vector(f"{block}.ffn_norm.weight", spec.n_embd)
    weights.matrix(f"{block}.ffn_gate.weight", spec.n_ff, spec.n_embd)
    weights.matrix(f"{block}.ffn_up.weight", spec.n_ff, spec.n_embd)
    weights.matrix(f"{block}.ffn_down.weight", spec.n_embd, spec.n_ff)


def write_tiny(path: Path, spec: TinySpec) -> Path:
    """Write the model to `path` and return it. Same spec, same bytes."""
    writer = gguf.GGUFWriter(str(path), spec.arch)
    _header(writer, spec)
    _tokenizer(writer, spec)
    weights = _Weights(writer, spec)
    # Small tokens, so that the layers decide the logits. gemma3 multiplies the table by sqrt(n_embd).
    weights.table(
        "token_embd.weight", gain=0.2 if spec.arch == "llama" else 0.2 / float(np.sqrt(spec.n_embd))
    )
    if spec.rope_freqs:
        factors = np.linspace(1.0, 8.0, spec.head_dim // 2, dtype=np.float32)
        writer.add_tensor("rope_freqs.weight", factors, raw_dtype=gguf.GGMLQuantizationType.F32)
    for index in range(spec.n_layer):
        _layer(weights, spec, index)
    weights.vector("output_norm.weight", spec.n_embd)
    if not spec.tied:
        weights.matrix("output.weight", spec.n_vocab, spec.n_embd, kind=spec.output_type or spec.weight_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
