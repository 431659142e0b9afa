// Products of k = 1..6 columns with a pair of row groups, written once over the vector primitives of `Simd`.
// A column's sums run in block order, whatever k is.
#pragma once

#include "block_impl.h"
#include "float_impl.h"
#include "panel_impl.h"

namespace {

using namespace mtp;

// One group of a Q8_0 matrix.
template <int K>
inline void group_q8(const uint8_t* w, const uint8_t* low, bool first, const ActBlock* act, int64_t n_block,
                     Simd::F acc[K]) {
    constexpr int block_bytes = format_block_bytes(Format::q8_0);
    for (int c = 0; c < K; c++) acc[c] = Simd::zero();
    for (int64_t b = 0; b < n_block; b++, w += block_bytes, low += 128) {
        if (first) {  // the group after the next
            fetch<block_bytes>(w + 2 * n_block * block_bytes);
            fetch<128>(low + 2 * n_block * 128);
        }
        const Simd::F d = Simd::f16(w);
        Simd::I sums[K] = {};
        block_sums_q8<K>(w + 16, low, act + b, n_block, sums);
        for (int c = 0; c < K; c++) {
            const ActBlock& x = act[c * n_block + b];
            acc[c] = accumulate_offset<8>(acc[c], sums[c], 128, x.a, d, x.d);
        }
    }
}

// A pair of groups of any other quantised matrix; the second starts `pair` bytes after the first.
template <Format kFormat, int K>
inline void group_pair(const uint8_t* w, int64_t pair, bool first, const ActBlock* act, int64_t n_block,
                       Simd::F acc[2][K]) {
    using Of = Form<kFormat>;
    StoredBlock<kFormat> block{w, pair, {Simd::zero(), Simd::zero()}, {Simd::zero(), Simd::zero()}};
    for (int g = 0; g < 2; g++) {
        for (int c = 0; c < K; c++) acc[g][c] = Simd::zero();
    }
    for (int64_t b = 0; b < n_block; b++) {
        if (first) {  // the pair after this one
            fetch<Of::block_bytes>(block.w + 2 * pair);
            fetch<Of::block_bytes>(block.w + 3 * pair);
        }
        if constexpr (Of::super_bytes > 0) {
            if (b % kSuperBlocks == 0) block.enter_super();
        }
        add_block<kFormat, K>(block, act + b, n_block, acc);
        block.w += Of::block_bytes;
    }
}

// Columns [c0, c0 + K) of groups `group` and, if `both`, the next.
template <Format kFormat, int K> void tile(const MatmulArgs& args, int64_t group, bool both, int c0) {
    const PackedMatrix& m = *args.w;
    const uint8_t* w = m.data + group * m.group_bytes;
    Simd::F acc[2][K];
    if constexpr (format_is_float(kFormat) || kFormat == Format::q8_0) {
        for (int g = 0; g < (both ? 2 : 1); g++, w += m.group_bytes) {
            if constexpr (kFormat == Format::q8_0) {
                const uint8_t* low = m.low + (group + g) * m.low_group_bytes();
                group_q8<K>(w, low, c0 == 0, args.act + c0 * m.n_block(), m.n_block(), acc[g]);
            } else {
                group_float<kFormat, K>(w, args.act_f32 + c0 * m.n_col, m.n_col, acc[g]);
            }
            write_group<K>(args, group + g, c0, acc[g]);
        }
    } else {
        // a single last group stands for both; its double is dropped
        group_pair<kFormat, K>(w, both ? m.group_bytes : 0, c0 == 0, args.act + c0 * m.n_block(), m.n_block(),
                               acc);
        write_group<K>(args, group, c0, acc[0]);
        if (both) write_group<K>(args, group + 1, c0, acc[1]);
    }
}

using TileFn = void (*)(const MatmulArgs&, int64_t, bool, int);

template <Format kFormat, int K> constexpr TileFn tile_or_null() {
    if constexpr (K <= Simd::kTile) return tile<kFormat, K>;
    return nullptr;
}

// The row groups stay in the first-level cache while all column tiles pass over them.
template <Format kFormat> void matmul_format(const MatmulArgs& args, int64_t group0, int64_t group1) {
    static constexpr TileFn tiles[] = {nullptr,
                                       tile_or_null<kFormat, 1>(),
                                       tile_or_null<kFormat, 2>(),
                                       tile_or_null<kFormat, 3>(),
                                       tile_or_null<kFormat, 4>(),
                                       tile_or_null<kFormat, 5>(),
                                       tile_or_null<kFormat, 6>()};
    if constexpr (!format_is_float(kFormat) && kFormat != Format::q8_0) {
        if (args.k >= kPanelColumns<kFormat>) return matmul_panels<kFormat>(args, group0, group1);
    }
    for (int64_t g = group0; g < group1; g += 2) {
        for (int c = 0, width; c < args.k; c += width) {
            width = tile_width(args.k - c);
            tiles[width](args, g, g + 1 < group1, c);
        }
    }
}

void matmul(const MatmulArgs& args, int64_t group0, int64_t group1) {
    switch (args.w->format) {
    case Format::f32:
        return matmul_format<Format::f32>(args, group0, group1);
    case Format::f16:
        return matmul_format<Format::f16>(args, group0, group1);
    case Format::bf16:
        return matmul_format<Format::bf16>(args, group0, group1);
    case Format::q4_0:
        return matmul_format<Format::q4_0>(args, group0, group1);
    case Format::q4_1:
        return matmul_format<Format::q4_1>(args, group0, group1);
    case Format::q5_0:
        return matmul_format<Format::q5_0>(args, group0, group1);
    case Format::q5_1:
        return matmul_format<Format::q5_1>(args, group0, group1);
    case Format::q8_0:
        return matmul_format<Format::q8_0>(args, group0, group1);
    case Format::q4_k:
        return matmul_format<Format::q4_k>(args, group0, group1);
    case Format::q5_k:
        return matmul_format<Format::q5_k>(args, group0, group1);
    case Format::q6_k:
        return matmul_format<Format::q6_k>(args, group0, group1);
    }
}

}  // namespace
