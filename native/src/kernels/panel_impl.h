// With many columns the weights of a pair of groups are decoded once, into bytes and float scales, and all
// column tiles read those. The values and the order of sums are those of the stored form.
#pragma once

#include "block_impl.h"

namespace {

using namespace mtp;

// fewest columns that pay for it: more than a tile for six bits, which take long to put together
template <Format kFormat> constexpr int kPanelColumns = Form<kFormat>::six ? 9 : 17;
constexpr int kPanelBlocks = 32;  // blocks of 32 decoded at a time: the panel stays in the first-level cache
constexpr int kPanelSweep = 192;  // most columns that go over one panel
constexpr int64_t kSweepBytes = 256 * 1024;  // of their activations, which stay in the second-level cache

template <Format kFormat> struct Panel {
    using Of = Form<kFormat>;
    alignas(64) uint8_t weights[kPanelBlocks][8][2][32];
    alignas(64) float scales[kPanelBlocks][Of::halves][2][8];
    alignas(64) float mins[kPanelBlocks][2][8];
};

template <Format kFormat> struct PanelBlock {
    const Panel<kFormat>* panel;
    int64_t b;

    Simd::W weight(int g, int j) const { return Simd::load_w(panel->weights[b][j][g]); }
    Simd::F scale(int g, int half) const { return Simd::load(panel->scales[b][half][g]); }
    Simd::F min(int g) const { return Simd::load(panel->mins[b][g]); }
};

// Decodes blocks [b0, b0 + n) of the pair of groups that `block` walks over.
template <Format kFormat>
inline void fill_panel(StoredBlock<kFormat>* block, int64_t b0, int64_t n, Panel<kFormat>* panel) {
    using Of = Form<kFormat>;
    for (int64_t b = 0; b < n; b++, block->w += Of::block_bytes) {
        fetch<Of::block_bytes>(block->w + 2 * block->pair);
        fetch<Of::block_bytes>(block->w + 3 * block->pair);
        if constexpr (Of::super_bytes > 0) {
            if ((b0 + b) % kSuperBlocks == 0) block->enter_super();
        }
        for (int g = 0; g < 2; g++) {
#pragma GCC unroll 8
            for (int j = 0; j < 8; j++) Simd::store_w(panel->weights[b][j][g], block->weight(g, j));
            for (int half = 0; half < Of::halves; half++)
                Simd::store(panel->scales[b][half][g], block->scale(g, half));
            if constexpr (Of::has_min) Simd::store(panel->mins[b][g], block->min(g));
        }
    }
}

// A pair of groups on its way through the panels of its blocks.
template <Format kFormat> struct Sweep {
    const MatmulArgs* args;
    int64_t group;
    bool both;
    Panel<kFormat> panel;  // blocks [b0, b0 + n)
    int64_t b0, n;
    alignas(64) float sums[kPanelSweep][2][8];  // of each column, over the panels before
};

// Columns [c, c + K) of the matrix; their sums are kept from `at` on.
template <Format kFormat, int K> void panel_tile(Sweep<kFormat>* sweep, int c, int at) {
    const MatmulArgs& args = *sweep->args;
    const int64_t n_block = args.w->n_block();
    const ActBlock* act = args.act + c * n_block + sweep->b0;
    Simd::F acc[2][K];
    for (int g = 0; g < 2; g++) {
        for (int i = 0; i < K; i++)
            acc[g][i] = sweep->b0 == 0 ? Simd::zero() : Simd::load(sweep->sums[at + i][g]);
    }
    for (int64_t b = 0; b < sweep->n; b++)
        add_block<kFormat, K>(PanelBlock<kFormat>{&sweep->panel, b}, act + b, n_block, acc);
    if (sweep->b0 + sweep->n == n_block) {
        write_group<K>(args, sweep->group, c, acc[0]);
        if (sweep->both) write_group<K>(args, sweep->group + 1, c, acc[1]);
        return;
    }
    for (int g = 0; g < 2; g++) {
        for (int i = 0; i < K; i++) Simd::store(sweep->sums[at + i][g], acc[g][i]);
    }
}

template <Format kFormat> using PanelTileFn = void (*)(Sweep<kFormat>*, int, int);

template <Format kFormat, int K> constexpr PanelTileFn<kFormat> panel_tile_or_null() {
    if constexpr (K <= Simd::kTile) return panel_tile<kFormat, K>;
    return nullptr;
}

// Columns [c0, c0 + k), k <= kPanelSweep, of groups `group` and, if `both`, the next.
template <Format kFormat> void panel_sweep(const MatmulArgs& args, int64_t group, bool both, int c0, int k) {
    static constexpr PanelTileFn<kFormat> tiles[] = {nullptr,
                                                     panel_tile_or_null<kFormat, 1>(),
                                                     panel_tile_or_null<kFormat, 2>(),
                                                     panel_tile_or_null<kFormat, 3>(),
                                                     panel_tile_or_null<kFormat, 4>(),
                                                     panel_tile_or_null<kFormat, 5>(),
                                                     panel_tile_or_null<kFormat, 6>()};
    const PackedMatrix& m = *args.w;
    StoredBlock<kFormat> block{m.data + group * m.group_bytes, both ? m.group_bytes : 0, {}, {}};
    Sweep<kFormat> sweep;
    sweep.args = &args;
    sweep.group = group;
    sweep.both = both;
    for (int64_t b0 = 0; b0 < m.n_block(); b0 += sweep.n) {
        sweep.b0 = b0;
        sweep.n = m.n_block() - b0 < kPanelBlocks ? m.n_block() - b0 : kPanelBlocks;
        fill_panel(&block, b0, sweep.n, &sweep.panel);
        for (int at = 0, width; at < k; at += width) {
            width = tile_width(k - at);
            tiles[width](&sweep, c0 + at, at);
        }
    }
}

template <Format kFormat> void matmul_panels(const MatmulArgs& args, int64_t group0, int64_t group1) {
    const int64_t fitting = kSweepBytes / (args.w->n_block() * int64_t{sizeof(ActBlock)});
    const int whole = static_cast<int>(fitting < kPanelSweep ? fitting : kPanelSweep) / 6 * 6;
    const int sweep = whole < 48 ? 48 : whole;
    for (int c = 0; c < args.k; c += sweep) {
        const int k = args.k - c < sweep ? args.k - c : sweep;
        for (int64_t g = group0; g < group1; g += 2) panel_sweep<kFormat>(args, g, g + 1 < group1, c, k);
    }
}

}  // namespace
