// How weight matrices lie in memory: groups of 8 rows, so that a vector lane is a row.
//
// A matrix of n_row x n_col becomes ceil(n_row / 8) groups; rows past the end are zero. Within a group the
// columns come in blocks of 32. Byte t of 32-bit lane L of vector j (j = 0..7) of a block belongs to row L,
// column 4 j + t (RowOrder::pairs: see there). Quantised values are stored with an offset that makes them
// unsigned:
//
//   nibbles  128 bytes: vector j < 4 in the low, vector j + 4 in the high nibbles of 32 bytes
//   fives    160 bytes: vectors 0..4 in the low five bits of 5 x 32 bytes; vector 5 in bits 5..7 of the first
//            and 5..6 of the second, vector 6 in those of the third and fourth, vector 7 in bits 5..7 of the
//            fifth and bit 7 of the second and fourth                                   (Q5_*)
//   sixth     64 bytes: bits 2 (j / 2) of byte vector j % 2 are bits 4..5 of vector j   (Q6_K)
//
// Q8_0 is split in two nibble planes, value + 128 = 16 high + low: all high blocks (with the scales) first,
// then all low blocks. Float types keep their width: 8 values of a column side by side.
// Nothing is rounded: every layout can be turned back into the file's own blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "../status.h"
#include "ggml.h"

namespace mtp {

constexpr int kGroupRows = 8;
constexpr int kBlockCols = 32;
constexpr int kSuperBlocks = 8;  // blocks of 32 in a K-quant super-block of 256

// Which of a block's 8 x 8 words of 4 columns lies where.
//   lanes  word L of vector j is row L, columns 4 j .. 4 j + 3: a lane is a row
//   pairs  word L of vector j is row 4 (j % 2) + L / 2, columns 4 (2 (j / 2) + L % 2) and on: 16 bytes are 2
//   rows
//          of 8 columns, as matrix instructions take them (Arm's i8mm)
enum class RowOrder : uint8_t { lanes, pairs };

enum class Format : uint8_t { f32, f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q4_k, q5_k, q6_k };

// Bytes of one block (8 rows x 32 columns), without what a super-block adds in front.
constexpr int format_block_bytes(Format format) {
    switch (format) {
    case Format::f32:
        return 8 * 32 * 4;
    case Format::f16:
    case Format::bf16:
        return 8 * 32 * 2;
    case Format::q4_0:
        return 16 + 128;
    case Format::q4_1:
        return 32 + 128;
    case Format::q5_0:
        return 16 + 32 + 128;
    case Format::q5_1:
        return 32 + 32 + 128;
    case Format::q8_0:
        return 16 + 128;  // high plane; the low plane adds 128
    case Format::q4_k:
        return 16 + 128;
    case Format::q5_k:
        return 16 + 32 + 128;
    case Format::q6_k:
        return 16 + 64 + 128;
    }
    return 0;
}

// Bytes in front of every 8 blocks: f16 d[8] (and dmin[8]).
constexpr int format_super_bytes(Format format) {
    switch (format) {
    case Format::q4_k:
    case Format::q5_k:
        return 32;
    case Format::q6_k:
        return 16;
    default:
        return 0;
    }
}

constexpr bool format_is_float(Format format) { return format <= Format::bf16; }

// One weight matrix in the layout above. Owns nothing: the bytes live in the model's arena.
struct PackedMatrix {
    Format format = Format::f32;
    RowOrder order = RowOrder::lanes;  // of quantised formats
    int64_t n_row = 0;
    int64_t n_col = 0;
    int64_t n_group = 0;
    int64_t group_bytes = 0;  // stride of a group (high plane for q8_0)
    const uint8_t* data = nullptr;
    const uint8_t* low = nullptr;  // q8_0 low plane, 128 * n_col / 32 bytes a group

    // Q8_0 output matrices: [n_group][n_col / 32][8], see kResidualUnit
    const uint8_t* residual = nullptr;
    bool has_residual = false;

    int64_t n_block() const { return n_col / kBlockCols; }
    int64_t low_group_bytes() const { return format == Format::q8_0 ? n_block() * 128 : 0; }
    int64_t residual_group_bytes() const { return has_residual ? n_block() * 8 : 0; }
    int64_t total_bytes() const {
        return n_group * (group_bytes + low_group_bytes() + residual_group_bytes());
    }
};

// What the low plane may add to a coarse product: the Euclidean norm of (low - 7.5) over a block of a row, in
// these units, rounded up to a byte. Never below kResidualLeast: so the bound also covers float rounding.
constexpr float kResidualUnit = 1.0f / 6;
constexpr int kResidualLeast = 60;

// Shape and size for a file tensor of this type; fails for types and widths that are not supported.
Status packed_shape(ggml_type type, int64_t n_col, int64_t n_row, RowOrder order, PackedMatrix* out);

// Fill groups [group0, group1) of `dst` from the rows of a file tensor (row-major GGUF blocks).
void pack_groups(const PackedMatrix& shape, uint8_t* dst, ggml_type type, const uint8_t* src, int64_t group0,
                 int64_t group1);

// One row as f32: the embedding look-up. out: [n_col]
void unpack_row(const PackedMatrix& matrix, int64_t row, float* out);

// One activation vector of 32, quantised symmetrically to 8 bits.
struct ActBlock {
    int8_t q[32];
    float d;   // x ~ d q
    float s;   // d * sum(q)
    float a;   // sum(q)
    float a0;  // sum(q[0..15])
    // What weights lose by being stored without their sign: -16 sum(q), and -32 sum(q) of either half of the
    // block. For kernels that add up in 16 bits two int16 each, over the first and the second two of every
    // four columns; for Arm's kernels whole; elsewhere unused.
    int32_t centre16;
    int32_t centre32[2];
};
static_assert(sizeof(ActBlock) == 60);

// What rounding a block gives beside its bytes: their sums over both halves, and ActBlock::centre...
struct BlockSums {
    int first, second;
    int32_t centre16;
    int32_t centre32[2];
};

}  // namespace mtp
