// Products of k columns with row groups on Arm. A column's sums run in block order, whatever k is.
#pragma once

#include "arm_block_impl.h"
#include "float_impl.h"
#include "ops_impl.h"
#include "scratch.h"

namespace {

using namespace mtp;

// fewest columns that pay for decoding a group's weights once for all of them: two tiles where values are put
// together from several places, else three
template <Format kFormat>
constexpr int kPanelColumns = kFormat != Format::q8_0 && Form<kFormat>::bits > 4 ? 5 : 9;
static_assert(Simd::kTile == 4);
constexpr int kPanelBlocks = 32;             // blocks decoded at a time: they stay in the first-level cache
constexpr int kSweepColumns = 192;           // most columns that go over one group
constexpr int64_t kSweepBytes = 256 * 1024;  // of their activations, which stay in the second-level cache

// Blocks of a group, decoded into bytes and float scales.
template <Format kFormat> struct Panel {
    static constexpr int halves = kFormat == Format::q6_k ? 2 : 1;
    alignas(64) uint8_t weights[kPanelBlocks][8][32];
    alignas(64) float32x4_t scales[kPanelBlocks][halves][kRegs];
    alignas(64) float32x4_t mins[kPanelBlocks][kRegs];
};

template <Format kFormat> struct PanelBlock {
    const Panel<kFormat>* panel;
    int64_t b;

    Simd::W weight(int j) const { return Simd::load_w(panel->weights[b][j]); }
    void scale(int half, float32x4_t out[kRegs]) const {
        for (int i = 0; i < kRegs; i++) out[i] = panel->scales[b][half][i];
    }
    void min(float32x4_t out[kRegs]) const {
        for (int i = 0; i < kRegs; i++) out[i] = panel->mins[b][i];
    }
};

template <Format kFormat>
inline void fill_panel(GroupBlock<kFormat>* block, int64_t b0, int64_t n, Panel<kFormat>* panel) {
    for (int64_t b = 0; b < n; b++, block->step()) {
        block->enter(b0 + b);
        each<0, 8, 1>([&](auto index) __attribute__((always_inline)) {
            constexpr int j = decltype(index)::value;
            Simd::store_w(panel->weights[b][j], block->weight(j));
        });
        for (int half = 0; half < Panel<kFormat>::halves; half++) block->scale(half, panel->scales[b][half]);
        if constexpr (kFormat != Format::q8_0 && Form<kFormat>::has_min) block->min(panel->mins[b]);
    }
}

// A group on its way past columns [c0, c0 + k), and their activations: of column c0 + c from Acts{act,
// n_block} on.
struct Sweep {
    const MatmulArgs* args;
    const void* act;
    int c0, k;
};

template <int K> struct TileActs {
#if defined(MTP_DOT_I8MM)
    using type = PackedPairs<K>;
    static type of(const Sweep& sweep, int at) {
        const int64_t n_block = sweep.args->w->n_block();
        return {static_cast<const PairBlock*>(sweep.act) + at / 2 * n_block, n_block};
    }
#else
    using type = ColumnActs<K>;
    static type of(const Sweep& sweep, int at) {
        const int64_t n_block = sweep.args->w->n_block();
        return {static_cast<const ActBlock*>(sweep.act) + at * n_block, n_block};
    }
#endif
};

template <int K>
inline void write_columns(const MatmulArgs& args, int64_t group, int c,
                          const float32x4_t acc[slots_of(K)][kRegs]) {
    Simd::F columns[K];
    for (int i = 0; i < K; i++) columns[i] = column<K>(acc, i);
    write_group<K>(args, group, c, columns);
}

// K columns, of which c is the first, over all blocks of a group
template <Format kFormat, int K, class Acts>
inline void group_tile(const MatmulArgs& args, int64_t group, const Acts& acts, int c) {
    const int64_t n_block = args.w->n_block();
    GroupBlock<kFormat> block(*args.w, group);
    float32x4_t acc[Acts::slots][kRegs];
    for (auto& slot : acc) {
        for (float32x4_t& x : slot) x = vdupq_n_f32(0);
    }
    for (int64_t b = 0; b < n_block; b++, block.step()) {
        block.enter(b);
        add_block<kFormat>(block, acts.at(b), acc);
    }
    write_columns<K>(args, group, c, acc);
}

template <Format kFormat, int K> void tile(const Sweep& sweep, int64_t group, int at) {
    group_tile<kFormat, K>(*sweep.args, group, TileActs<K>::of(sweep, at), sweep.c0 + at);
}

// Blocks [b0, b0 + n) of a group, and what columns have of those before.
template <Format kFormat> struct PanelSweep {
    Sweep columns;
    int64_t group, b0, n;
    Panel<kFormat> panel;
    float32x4_t sums[slots_of(kSweepColumns)][kRegs];
};

template <Format kFormat, int K> void panel_tile(PanelSweep<kFormat>* sweep, int at) {
    using Acts = typename TileActs<K>::type;
    const MatmulArgs& args = *sweep->columns.args;
    const Acts acts = TileActs<K>::of(sweep->columns, at).at(sweep->b0);
    float32x4_t(*kept)[kRegs] = sweep->sums + slots_of(at);
    float32x4_t acc[Acts::slots][kRegs];
    for (int s = 0; s < Acts::slots; s++) {
        for (int i = 0; i < kRegs; i++) acc[s][i] = sweep->b0 == 0 ? vdupq_n_f32(0) : kept[s][i];
    }
    for (int64_t b = 0; b < sweep->n; b++)
        add_block<kFormat>(PanelBlock<kFormat>{&sweep->panel, b}, acts.at(b), acc);
    if (sweep->b0 + sweep->n == args.w->n_block())
        return write_columns<K>(args, sweep->group, sweep->columns.c0 + at, acc);
    for (int s = 0; s < Acts::slots; s++) {
        for (int i = 0; i < kRegs; i++) kept[s][i] = acc[s][i];
    }
}

template <Format kFormat> void sweep_panels(const Sweep& columns, int64_t group0, int64_t group1) {
    static constexpr void (*tiles[])(PanelSweep<kFormat>*,
                                     int) = {nullptr, panel_tile<kFormat, 1>, panel_tile<kFormat, 2>,
                                             panel_tile<kFormat, 3>, panel_tile<kFormat, 4>};
    const PackedMatrix& m = *columns.args->w;
    const int64_t n_block = m.n_block();
    PanelSweep<kFormat> sweep;
    sweep.columns = columns;
    for (int64_t g = group0; g < group1; g++) {
        sweep.group = g;
        GroupBlock<kFormat> block(m, g);
        for (int64_t b0 = 0; b0 < n_block; b0 += sweep.n) {
            sweep.b0 = b0;
            sweep.n = n_block - b0 < kPanelBlocks ? n_block - b0 : kPanelBlocks;
            fill_panel(&block, b0, sweep.n, &sweep.panel);
            for (int at = 0, width; at < columns.k; at += width) {
                width = tile_width(columns.k - at);
                tiles[width](&sweep, at);
            }
        }
    }
}

template <Format kFormat> void sweep_groups(const Sweep& columns, int64_t group0, int64_t group1) {
    static constexpr void (*tiles[])(const Sweep&, int64_t, int) = {
        nullptr, tile<kFormat, 1>, tile<kFormat, 2>, tile<kFormat, 3>, tile<kFormat, 4>};
    // a group stays in the first-level cache while all column tiles pass over it
    for (int64_t g = group0; g < group1; g++) {
        for (int at = 0, width; at < columns.k; at += width) {
            width = tile_width(columns.k - at);
            tiles[width](columns, g, at);
        }
    }
}

// columns whose activations stay near, in whole tiles
inline int sweep_columns(int64_t n_block) {
    const int64_t fitting = kSweepBytes / (n_block * int64_t{sizeof(ActBlock)});
    const auto whole = static_cast<int>(smaller(fitting, kSweepColumns)) / Simd::kTile * Simd::kTile;
    return whole < 48 ? 48 : whole;
}

template <Format kFormat> void matmul_blocks(const MatmulArgs& args, int64_t group0, int64_t group1) {
    const int64_t n_block = args.w->n_block();
    const int most = sweep_columns(n_block);
    for (int c = 0; c < args.k; c += most) {
        Sweep columns{&args, args.act + c * n_block, c, args.k - c < most ? args.k - c : most};
#if defined(MTP_DOT_I8MM)
        const auto size = static_cast<size_t>(slots_of(columns.k) * n_block) * sizeof(PairBlock);
        auto* pairs = columns.k > 1 ? static_cast<PairBlock*>(kernel_scratch(size)) : nullptr;
        if (!pairs) {  // a single column, or no memory: one by one
            for (int64_t g = group0; g < group1; g++) {
                for (int i = c; i < c + columns.k; i++)
                    group_tile<kFormat, 1>(args, g, PlainPairs<1>{args.act + i * n_block, n_block}, i);
            }
            continue;
        }
        pack_pairs(args.act + c * n_block, n_block, columns.k, pairs);
        columns.act = pairs;
#endif
        if (columns.k >= kPanelColumns<kFormat>)
            sweep_panels<kFormat>(columns, group0, group1);
        else
            sweep_groups<kFormat>(columns, group0, group1);
    }
}

template <Format kFormat, int K> void float_tile(const MatmulArgs& args, int64_t group, int c) {
    const PackedMatrix& m = *args.w;
    Simd::F acc[K];
    group_float<kFormat, K>(m.data + group * m.group_bytes, args.act_f32 + c * m.n_col, m.n_col, acc);
    write_group<K>(args, group, c, acc);
}

template <Format kFormat> void matmul_floats(const MatmulArgs& args, int64_t group0, int64_t group1) {
    constexpr void (*tiles[])(const MatmulArgs&, int64_t,
                              int) = {nullptr, float_tile<kFormat, 1>, float_tile<kFormat, 2>,
                                      float_tile<kFormat, 3>, float_tile<kFormat, 4>};
    for (int64_t g = group0; g < group1; g++) {
        for (int c = 0, width; c < args.k; c += width) {
            width = args.k - c < 4 ? args.k - c : 4;
            tiles[width](args, g, c);
        }
    }
}

void matmul(const MatmulArgs& args, int64_t group0, int64_t group1) {
    switch (args.w->format) {
    case Format::f32:
        return matmul_floats<Format::f32>(args, group0, group1);
    case Format::f16:
        return matmul_floats<Format::f16>(args, group0, group1);
    case Format::bf16:
        return matmul_floats<Format::bf16>(args, group0, group1);
    case Format::q4_0:
        return matmul_blocks<Format::q4_0>(args, group0, group1);
    case Format::q4_1:
        return matmul_blocks<Format::q4_1>(args, group0, group1);
    case Format::q5_0:
        return matmul_blocks<Format::q5_0>(args, group0, group1);
    case Format::q5_1:
        return matmul_blocks<Format::q5_1>(args, group0, group1);
    case Format::q8_0:
        return matmul_blocks<Format::q8_0>(args, group0, group1);
    case Format::q4_k:
        return matmul_blocks<Format::q4_k>(args, group0, group1);
    case Format::q5_k:
        return matmul_blocks<Format::q5_k>(args, group0, group1);
    case Format::q6_k:
        return matmul_blocks<Format::q6_k>(args, group0, group1);
    }
}

}  // namespace
