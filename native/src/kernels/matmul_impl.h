// Products of k = 1..6 columns with a pair of row groups, written once over the vector primitives of `Simd`.
//
// Each block of weights is decoded once for all columns, and each activation that is loaded meets two vectors
// of weights: loads are what limits these loops. A column's sums run in block order, whatever k is.
#pragma once

#include <cstring>

#include "kernels.h"

namespace {

using namespace mtp;

// Whether signed values fit a sum in int16 that starts at minus their offset (ActBlock::centre...): 16
// products of five bits or 8 of six. It may wrap on the way, and ends right.
template <int kBits, bool kOffset> constexpr bool is_centred() {
    return !Simd::kWideDot && kOffset && (kBits == 5 || kBits == 6);
}

// How many 4-byte dot products an int16 lane holds before it must be widened: 2 * 127 * (2^bits - 1) * n <
// 2^15.
template <int kBits, bool kOffset> constexpr int dot_depth() {
    if (Simd::kWideDot || is_centred<kBits, kOffset>()) return 8;
    return kBits == 4 ? 8 : kBits == 5 ? 4 : 2;
}

// vector j of a block, offset to unsigned
template <int kBits> inline Simd::W weight_at(const uint8_t* nibbles, const uint8_t* extra, int j) {
    if constexpr (kBits == 5) {
        if (j < 5) return Simd::bits<0, 0, 0x1f>(Simd::load_w(nibbles + 32 * j));
        const Simd::W a = Simd::load_w(nibbles + (j == 5 ? 0 : j == 6 ? 64 : 128));
        const Simd::W low = Simd::bits<5, 0, 0x07>(a);
        const Simd::W b = Simd::load_w(nibbles + (j == 6 ? 96 : 32));
        if (j < 7) return Simd::join(low, Simd::bits<5, 3, 0x18>(b));
        const Simd::W c = Simd::load_w(nibbles + 96);
        return Simd::join(low, Simd::join(Simd::bits<7, 3, 0x08>(b), Simd::bits<7, 4, 0x10>(c)));
    }
    const Simd::W x = Simd::load_w(nibbles + 32 * (j % 4));
    const Simd::W low = j < 4 ? Simd::bits<0, 0, 0x0f>(x) : Simd::bits<4, 0, 0x0f>(x);
    if constexpr (kBits == 6) {
        const Simd::W y = Simd::load_w(extra + 32 * (j % 2));
        switch (j / 2) {
        case 0:
            return Simd::join(low, Simd::bits<0, 4, 0x30>(y));
        case 1:
            return Simd::join(low, Simd::bits<2, 4, 0x30>(y));
        case 2:
            return Simd::join(low, Simd::bits<4, 4, 0x30>(y));
        default:
            return Simd::join(low, Simd::bits<6, 4, 0x30>(y));
        }
    }
    return low;
}

// sums[g][c] = sum over vectors [J0, J1) of the weights of group g times the quantised activations of column
// c. `block` gives the weights: block.weight(g, j).
template <int kBits, bool kOffset, int J0, int J1, int K, class Block>
inline void block_sums(const Block& block, const ActBlock* act, int64_t stride, Simd::I sums[2][K]) {
    constexpr int depth = dot_depth<kBits, kOffset>();
    constexpr bool centred = is_centred<kBits, kOffset>();
    Simd::D part[2][K];
    if constexpr (centred) {
        for (int c = 0; c < K; c++) {
            const ActBlock& x = act[c * stride];
            part[0][c] = part[1][c] = Simd::dot_start(kBits == 5 ? x.centre16 : x.centre32[J0 / 4]);
        }
    }
#pragma GCC unroll 8
    for (int j = J0; j < J1; j++) {
        const Simd::W w0 = block.weight(0, j), w1 = block.weight(1, j);
        const bool first = !centred && (j - J0) % depth == 0;
#pragma GCC unroll 8
        for (int c = 0; c < K; c++) {
            const Simd::A a = Simd::load_a(act[c * stride].q + 4 * j);
            part[0][c] = first ? Simd::dot_first(w0, a) : Simd::dot(part[0][c], w0, a);
            part[1][c] = first ? Simd::dot_first(w1, a) : Simd::dot(part[1][c], w1, a);
        }
        if ((j - J0) % depth == depth - 1 || j == J1 - 1) {
#pragma GCC unroll 8
            for (int c = 0; c < K; c++) {
                for (int g = 0; g < 2; g++) {
                    const Simd::I wide = Simd::widen(part[g][c]);
                    sums[g][c] = j - J0 < depth ? wide : Simd::add_i(sums[g][c], wide);
                }
            }
        }
    }
}

// Q8_0, one group: value + 128 = 16 high + low; the two planes take the places of the two groups, or both are
// joined where sums of full 8-bit products fit.
template <int K>
inline void block_sums_q8(const uint8_t* high, const uint8_t* low, const ActBlock* act, int64_t stride,
                          Simd::I sums[K]) {
    if constexpr (Simd::kWideDot) {
        Simd::D part[K];
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            const Simd::W h = Simd::load_w(high + 32 * (j % 4));
            const Simd::W l = Simd::load_w(low + 32 * (j % 4));
            const Simd::W w = j < 4 ? Simd::join(Simd::bits<0, 4, 0xf0>(h), Simd::bits<0, 0, 0x0f>(l))
                                    : Simd::join(Simd::bits<4, 4, 0xf0>(h), Simd::bits<4, 0, 0x0f>(l));
#pragma GCC unroll 8
            for (int c = 0; c < K; c++) {
                const Simd::A a = Simd::load_a(act[c * stride].q + 4 * j);
                part[c] = j == 0 ? Simd::dot_first(w, a) : Simd::dot(part[c], w, a);
            }
        }
        for (int c = 0; c < K; c++) sums[c] = Simd::widen(part[c]);
    } else {
        Simd::D part[2][K];
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            const Simd::W h = weight_at<4>(high, nullptr, j);
            const Simd::W l = weight_at<4>(low, nullptr, j);
#pragma GCC unroll 8
            for (int c = 0; c < K; c++) {
                const Simd::A a = Simd::load_a(act[c * stride].q + 4 * j);
                part[0][c] = j == 0 ? Simd::dot_first(h, a) : Simd::dot(part[0][c], h, a);
                part[1][c] = j == 0 ? Simd::dot_first(l, a) : Simd::dot(part[1][c], l, a);
            }
        }
        for (int c = 0; c < K; c++) sums[c] = Simd::add_i(Simd::widen16(part[0][c]), Simd::widen(part[1][c]));
    }
}

// acc += d * (sum - offset * a) * act.d; the integers stay below 2^24, so their float forms are exact
template <int kBits>
inline Simd::F accumulate_offset(Simd::F acc, Simd::I sum, float offset, float a, Simd::F d, float act_d) {
    if constexpr (is_centred<kBits, true>())
        return Simd::fma(Simd::to_f(sum), Simd::mul(d, Simd::set1(act_d)), acc);
    const Simd::F centred = Simd::fnma(Simd::set1(offset), Simd::set1(a), Simd::to_f(sum));
    return Simd::fma(centred, Simd::mul(d, Simd::set1(act_d)), acc);
}

// acc += d * sum * act.d + min * act.s
inline Simd::F accumulate_min(Simd::F acc, Simd::I sum, Simd::F d, Simd::F min, const ActBlock& act) {
    acc = Simd::fma(Simd::to_f(sum), Simd::mul(d, Simd::set1(act.d)), acc);
    return Simd::fma(min, Simd::set1(act.s), acc);
}

// Bytes [from, from + kBytes) on their way from memory, which hides that they are far when their turn comes.
// (The processor's own prefetching does not keep up with these interleaved streams.)
template <int kBytes> inline void fetch(const uint8_t* from) {
    for (int at = 0; at < kBytes; at += 64) Simd::prefetch(from + at);
}

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

// What a quantised format is made of (Q8_0: its high plane).
template <Format kFormat> struct Form {
    static constexpr bool five =
        kFormat == Format::q5_0 || kFormat == Format::q5_1 || kFormat == Format::q5_k;
    static constexpr bool six = kFormat == Format::q6_k;
    static constexpr int bits = six ? 6 : five ? 5 : 4;
    static constexpr int block_bytes = format_block_bytes(kFormat);
    static constexpr int super_bytes = format_super_bytes(kFormat);
    static constexpr bool own_min = kFormat == Format::q4_1 || kFormat == Format::q5_1;  // f16, in each block
    static constexpr bool has_min = own_min || super_bytes == 32;
    static constexpr int halves = six ? 2 : 1;  // parts of a block with a scale each
    static constexpr int scale_bytes = six ? 16 + 64 : own_min ? 32 : 16;  // in front of the nibbles
};

// A block of a pair of groups as the matrix holds it; the second lies `pair` bytes after the first.
template <Format kFormat> struct StoredBlock {
    using Of = Form<kFormat>;
    const uint8_t* w;
    int64_t pair;
    Simd::F super_d[2], super_min[2];

    // reads what stands in front of a super-block and steps over it
    void enter_super() {
        for (int g = 0; g < 2; g++) {
            super_d[g] = Simd::f16(w + g * pair);
            if constexpr (Of::has_min) super_min[g] = Simd::f16(w + g * pair + 16);
        }
        w += Of::super_bytes;
    }
    Simd::W weight(int g, int j) const {
        const uint8_t* at = w + g * pair;
        return weight_at<Of::bits>(at + Of::scale_bytes, at + 16, j);
    }
    Simd::F scale(int g, int half) const {
        const uint8_t* at = w + g * pair + 8 * half;
        if constexpr (Of::super_bytes == 0) return Simd::f16(at);
        return Simd::mul(super_d[g], Of::six ? Simd::i8(at) : Simd::u8(at));
    }
    Simd::F min(int g) const {
        const uint8_t* at = w + g * pair;
        if constexpr (Of::own_min) return Simd::f16(at + 16);
        return Simd::sub(Simd::zero(), Simd::mul(super_min[g], Simd::u8(at + 8)));
    }
};

// acc[g][c] += block of group g times block `act` of column c, over its vectors [J0, J1), which have one
// scale
template <Format kFormat, int J0, int J1, int K, class Block>
inline void add_part(const Block& block, const ActBlock* act, int64_t n_block, Simd::F acc[2][K]) {
    using Of = Form<kFormat>;
    Simd::I sums[2][K] = {};
    block_sums<Of::bits, !Of::has_min, J0, J1, K>(block, act, n_block, sums);
    for (int g = 0; g < 2; g++) {
        const Simd::F d = block.scale(g, J0 / 4);
        Simd::F min = Simd::zero();
        if constexpr (Of::has_min) min = block.min(g);
        for (int c = 0; c < K; c++) {
            const ActBlock& x = act[c * n_block];
            if constexpr (Of::has_min) {
                acc[g][c] = accumulate_min(acc[g][c], sums[g][c], d, min, x);
            } else {
                const float a = J1 - J0 == 8 ? x.a : J0 == 0 ? x.a0 : x.a - x.a0;
                acc[g][c] =
                    accumulate_offset<Of::bits>(acc[g][c], sums[g][c], 1 << (Of::bits - 1), a, d, x.d);
            }
        }
    }
}

template <Format kFormat, int K, class Block>
inline void add_block(const Block& block, const ActBlock* act, int64_t n_block, Simd::F acc[2][K]) {
    if constexpr (Form<kFormat>::halves == 2) {
        add_part<kFormat, 0, 4, K>(block, act, n_block, acc);
        add_part<kFormat, 4, 8, K>(block, act, n_block, acc);
    } else {
        add_part<kFormat, 0, 8, K>(block, act, n_block, acc);
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

// Float weights: two chains (even and odd columns), added at the end.
template <Format kFormat, int K>
inline void group_float(const uint8_t* w, const float* act, int64_t n_col, Simd::F acc[K]) {
    constexpr int width = kFormat == Format::f32 ? 32 : 16;
    Simd::F odd[K];
    for (int c = 0; c < K; c++) acc[c] = odd[c] = Simd::zero();
    for (int64_t i = 0; i < n_col; i++, w += width) {
        Simd::F x;
        if constexpr (kFormat == Format::f32) {
            float lanes[8];
            std::memcpy(lanes, w, 32);
            x = Simd::load(lanes);
        } else if constexpr (kFormat == Format::f16) {
            x = Simd::f16(w);
        } else {
            x = Simd::bf16(w);
        }
        Simd::F* to = i % 2 == 0 ? acc : odd;
        for (int c = 0; c < K; c++) to[c] = Simd::fma(x, Simd::set1(act[c * n_col + i]), to[c]);
    }
    for (int c = 0; c < K; c++) acc[c] = Simd::add(acc[c], odd[c]);
}

template <int K>
inline void write_group(const MatmulArgs& args, int64_t group, int c0, const Simd::F acc[K]) {
    const int64_t row = group * kGroupRows;
    const int64_t n = args.w->n_row - row < kGroupRows ? args.w->n_row - row : kGroupRows;
    for (int c = 0; c < K; c++) {
        float* out = args.out + (c0 + c) * args.out_stride + row - args.row0;
        if (n == kGroupRows) {
            Simd::store(out, args.add ? Simd::add(Simd::load(out), acc[c]) : acc[c]);
        } else {
            float lanes[8];
            Simd::store(lanes, acc[c]);
            for (int64_t i = 0; i < n; i++) out[i] = args.add ? out[i] + lanes[i] : lanes[i];
        }
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

// 7 and 8 columns go as 4 + 3 and 4 + 4: six and a rest of one or two would decode the weights for little
inline int tile_width(int left) {
    if (left <= Simd::kTile) return left;
    return left <= 8 && Simd::kTile > 4 ? 4 : Simd::kTile;
}

// --- panels ------------------------------------------------------------------------------------------------
// With many columns the weights of a pair of groups are decoded once, into bytes and float scales, and all
// column tiles read those. The values and the order of sums are those of the stored form.

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

// --- screening
// ---------------------------------------------------------------------------------------------- value = d
// (16 high + low - 128) = d (16 high - 120.5) + d (low - 7.5). The first part is the coarse product; the
// second is at most |d| |low - 7.5| |q| in each block (Cauchy-Schwarz).

// Covers the rounding of both products: with residual norms of at least 10 (kResidualLeast) the absolute
// terms of a product add up to less than 73 times the bound, and a chain of n blocks errs by less than (n +
// 4) 2^-24 of them; twice that stays below 0.004 for n <= 400. Wider matrices are not screened.
constexpr float kScreenSlack = 1.005f;

template <int K> void screen_tile(const ScreenArgs& args, int64_t group, bool both, int c0) {
    const PackedMatrix& m = *args.w;
    const int64_t n_block = m.n_block(), pair = both ? m.group_bytes : 0;
    const uint8_t* w = m.data + group * m.group_bytes;
    const uint8_t* residual = m.residual + group * m.residual_group_bytes();
    const int64_t residual_pair = both ? m.residual_group_bytes() : 0;
    Simd::F coarse[2][K], bound[2][K];
    for (int g = 0; g < 2; g++) {
        for (int c = 0; c < K; c++) coarse[g][c] = bound[g][c] = Simd::zero();
    }
    for (int64_t b = 0; b < n_block; b++, w += format_block_bytes(Format::q8_0), residual += 8) {
        if (c0 == 0) {
            fetch<format_block_bytes(Format::q8_0)>(w + 2 * pair);
            fetch<format_block_bytes(Format::q8_0)>(w + 3 * pair);
        }
        const ActBlock* act = args.act + c0 * n_block + b;
        const float* norm = args.act_norm + c0 * n_block + b;
        Simd::I sums[2][K] = {};
        block_sums<4, true, 0, 8, K>(StoredBlock<Format::q8_0>{w, pair, {}, {}}, act, n_block, sums);
        for (int g = 0; g < 2; g++) {
            const Simd::F d = Simd::f16(w + g * pair);
            const Simd::F most = Simd::mul(Simd::abs(d), Simd::u8(residual + g * residual_pair));
            const Simd::F d16 = Simd::mul(d, Simd::set1(16));
            for (int c = 0; c < K; c++) {
                const ActBlock& x = act[c * n_block];
                // high - 7.53125 a: 32nds of whole numbers below 2^17, so exact
                const Simd::F centred =
                    Simd::fnma(Simd::set1(7.53125f), Simd::set1(x.a), Simd::to_f(sums[g][c]));
                coarse[g][c] = Simd::fma(centred, Simd::mul(d16, Simd::set1(x.d)), coarse[g][c]);
                bound[g][c] = Simd::fma(most, Simd::set1(norm[c * n_block]), bound[g][c]);
            }
        }
    }
    for (int g = 0; g < (both ? 2 : 1); g++) {
        for (int c = 0; c < K; c++) {
            const Simd::F width = Simd::mul(bound[g][c], Simd::set1(kScreenSlack * kResidualUnit));
            args.upper[(c0 + c) * m.n_group + group + g] = Simd::max_lanes(Simd::add(coarse[g][c], width));
            // rows past the end are zero and would be a lower bound of 0
            if ((group + g + 1) * kGroupRows > m.n_row) continue;
            const float low = Simd::max_lanes(Simd::sub(coarse[g][c], width));
            if (low > args.lower[c0 + c]) {
                args.lower[c0 + c] = low;
                args.lower_group[c0 + c] = static_cast<int32_t>(group + g);
            }
        }
    }
}

using ScreenFn = void (*)(const ScreenArgs&, int64_t, bool, int);

template <int K> constexpr ScreenFn screen_or_null() {
    if constexpr (K <= Simd::kTile) return screen_tile<K>;
    return nullptr;
}

void screen(const ScreenArgs& args, int64_t group0, int64_t group1) {
    static constexpr ScreenFn tiles[] = {nullptr,
                                         screen_or_null<1>(),
                                         screen_or_null<2>(),
                                         screen_or_null<3>(),
                                         screen_or_null<4>(),
                                         screen_or_null<5>(),
                                         screen_or_null<6>()};
    for (int64_t g = group0; g < group1; g += 2) {
        for (int c = 0, width; c < args.k; c += width) {
            width = tile_width(args.k - c);
            tiles[width](args, g, g + 1 < group1, c);
        }
    }
}

}  // namespace
