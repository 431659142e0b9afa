// Products of k = 1..8 columns with one row group, written once over the vector primitives of `Simd`.
//
// Each block of weights is decoded once for all columns. A column's sums run in block order, whatever k is.
#pragma once

#include <cstring>

#include "kernels.h"

namespace {

using namespace mtp;

// How many 4-byte dot products an int16 lane holds before it must be widened: 2 * 127 * (2^bits - 1) * n < 2^15.
template <int kBits> constexpr int dot_depth() {
    if (Simd::kWideDot) return 8;
    return kBits == 4 ? 8 : kBits == 5 ? 4 : 2;
}

// vector j of a block, offset to unsigned
template <int kBits> inline Simd::W weight_at(const uint8_t* nibbles, const uint8_t* extra, int j) {
    const Simd::W x = Simd::load_w(nibbles + 32 * (j % 4));
    const Simd::W low = j < 4 ? Simd::low4(x) : Simd::high4(x);
    if constexpr (kBits == 5) return Simd::join(low, Simd::field(Simd::load_w(extra), j, 0x10));
    if constexpr (kBits == 6) {
        return Simd::join(low, Simd::field(Simd::load_w(extra + 32 * (j % 2)), 2 * (j / 2), 0x30));
    }
    return low;
}

// sums[c] = sum over vectors [j0, j1) of weights times the quantised activations of column c
template <int kBits, int K>
inline void block_sums(const uint8_t* nibbles, const uint8_t* extra, const ActBlock* act, int64_t stride, int j0,
                       int j1, Simd::I sums[K]) {
    constexpr int depth = dot_depth<kBits>();
    Simd::D part[K];
#pragma GCC unroll 8
    for (int j = j0; j < j1; j++) {
        const Simd::W w = weight_at<kBits>(nibbles, extra, j);
        const bool first = (j - j0) % depth == 0;
#pragma GCC unroll 8
        for (int c = 0; c < K; c++) {
            const int8_t* q = act[c * stride].q + 4 * j;
            part[c] = first ? Simd::dot_first(w, q) : Simd::dot(part[c], w, q);
        }
        if ((j - j0) % depth == depth - 1 || j == j1 - 1) {
#pragma GCC unroll 8
            for (int c = 0; c < K; c++) {
                const Simd::I wide = Simd::widen(part[c]);
                sums[c] = j - j0 < depth ? wide : Simd::add_i(sums[c], wide);
            }
        }
    }
}

// Q8_0: value + 128 = 16 high + low; one plane after the other, or both in one where products of 8 bits fit
template <int K>
inline void block_sums_q8(const uint8_t* high, const uint8_t* low, const ActBlock* act, int64_t stride,
                          Simd::I sums[K]) {
    if constexpr (Simd::kWideDot) {
        Simd::D part[K];
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            const Simd::W h = Simd::load_w(high + 32 * (j % 4));
            const Simd::W l = Simd::load_w(low + 32 * (j % 4));
            const Simd::W top = j < 4 ? Simd::field(h, 0, 0xf0) : Simd::field(h, 4, 0xf0);
            const Simd::W w = Simd::join(top, j < 4 ? Simd::low4(l) : Simd::high4(l));
#pragma GCC unroll 8
            for (int c = 0; c < K; c++) {
                const int8_t* q = act[c * stride].q + 4 * j;
                part[c] = j == 0 ? Simd::dot_first(w, q) : Simd::dot(part[c], w, q);
            }
        }
        for (int c = 0; c < K; c++) sums[c] = Simd::widen(part[c]);
    } else {
        for (int plane = 0; plane < 2; plane++) {
            const uint8_t* nibbles = plane == 0 ? high : low;
            Simd::D part[K];
#pragma GCC unroll 8
            for (int j = 0; j < 8; j++) {
                const Simd::W w = weight_at<4>(nibbles, nullptr, j);
#pragma GCC unroll 8
                for (int c = 0; c < K; c++) {
                    const int8_t* q = act[c * stride].q + 4 * j;
                    part[c] = j == 0 ? Simd::dot_first(w, q) : Simd::dot(part[c], w, q);
                }
            }
            for (int c = 0; c < K; c++) {
                sums[c] = plane == 0 ? Simd::widen16(part[c]) : Simd::add_i(sums[c], Simd::widen(part[c]));
            }
        }
    }
}

// acc += d * (sum - offset * a) * act.d; the integers stay below 2^24, so their float forms are exact
inline Simd::F accumulate_offset(Simd::F acc, Simd::I sum, float offset, float a, Simd::F d, float act_d) {
    const Simd::F centred = Simd::fnma(Simd::set1(offset), Simd::set1(a), Simd::to_f(sum));
    return Simd::fma(centred, Simd::mul(d, Simd::set1(act_d)), acc);
}

// acc += d * sum * act.d + min * act.s
inline Simd::F accumulate_min(Simd::F acc, Simd::I sum, Simd::F d, Simd::F min, const ActBlock& act) {
    acc = Simd::fma(Simd::to_f(sum), Simd::mul(d, Simd::set1(act.d)), acc);
    return Simd::fma(min, Simd::set1(act.s), acc);
}

template <Format kFormat, int K>
inline void group_q(const uint8_t* w, const uint8_t* low, const ActBlock* act, int64_t n_block, Simd::F acc[K]) {
    constexpr int block_bytes = format_block_bytes(kFormat);
    constexpr int super_bytes = format_super_bytes(kFormat);
    Simd::F super_d = Simd::zero(), super_min = Simd::zero();
    for (int c = 0; c < K; c++) acc[c] = Simd::zero();
    for (int64_t b = 0; b < n_block; b++) {
        const ActBlock* a = act + b;
        if constexpr (super_bytes > 0) {
            if (b % kSuperBlocks == 0) {
                super_d = Simd::f16(w);
                if constexpr (super_bytes == 32) super_min = Simd::f16(w + 16);
                w += super_bytes;
            }
        }
        Simd::I sums[K];
        if constexpr (kFormat == Format::q4_0) {
            const Simd::F d = Simd::f16(w);
            block_sums<4, K>(w + 16, nullptr, a, n_block, 0, 8, sums);
            for (int c = 0; c < K; c++) {
                const ActBlock& x = a[c * n_block];
                acc[c] = accumulate_offset(acc[c], sums[c], 8, x.a, d, x.d);
            }
        } else if constexpr (kFormat == Format::q5_0) {
            const Simd::F d = Simd::f16(w);
            block_sums<5, K>(w + 48, w + 16, a, n_block, 0, 8, sums);
            for (int c = 0; c < K; c++) {
                const ActBlock& x = a[c * n_block];
                acc[c] = accumulate_offset(acc[c], sums[c], 16, x.a, d, x.d);
            }
        } else if constexpr (kFormat == Format::q8_0) {
            const Simd::F d = Simd::f16(w);
            block_sums_q8<K>(w + 16, low, a, n_block, sums);
            low += 128;
            for (int c = 0; c < K; c++) {
                const ActBlock& x = a[c * n_block];
                acc[c] = accumulate_offset(acc[c], sums[c], 128, x.a, d, x.d);
            }
        } else if constexpr (kFormat == Format::q4_1 || kFormat == Format::q5_1) {
            constexpr int bits = kFormat == Format::q4_1 ? 4 : 5;
            const Simd::F d = Simd::f16(w), min = Simd::f16(w + 16);
            block_sums<bits, K>(w + (bits == 4 ? 32 : 64), w + 32, a, n_block, 0, 8, sums);
            for (int c = 0; c < K; c++) acc[c] = accumulate_min(acc[c], sums[c], d, min, a[c * n_block]);
        } else if constexpr (kFormat == Format::q4_k || kFormat == Format::q5_k) {
            constexpr int bits = kFormat == Format::q4_k ? 4 : 5;
            const Simd::F d = Simd::mul(super_d, Simd::u8(w));
            const Simd::F min = Simd::sub(Simd::zero(), Simd::mul(super_min, Simd::u8(w + 8)));
            block_sums<bits, K>(w + (bits == 4 ? 16 : 48), w + 16, a, n_block, 0, 8, sums);
            for (int c = 0; c < K; c++) acc[c] = accumulate_min(acc[c], sums[c], d, min, a[c * n_block]);
        } else if constexpr (kFormat == Format::q6_k) {
            for (int half = 0; half < 2; half++) {
                const Simd::F d = Simd::mul(super_d, Simd::i8(w + 8 * half));
                block_sums<6, K>(w + 80, w + 16, a, n_block, 4 * half, 4 * half + 4, sums);
                for (int c = 0; c < K; c++) {
                    const ActBlock& x = a[c * n_block];
                    acc[c] = accumulate_offset(acc[c], sums[c], 32, half == 0 ? x.a0 : x.a - x.a0, d, x.d);
                }
            }
        }
        w += block_bytes;
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
        float* out = args.out + (c0 + c) * args.out_stride + row;
        if (n == kGroupRows) {
            Simd::store(out, args.add ? Simd::add(Simd::load(out), acc[c]) : acc[c]);
        } else {
            float lanes[8];
            Simd::store(lanes, acc[c]);
            for (int64_t i = 0; i < n; i++) out[i] = args.add ? out[i] + lanes[i] : lanes[i];
        }
    }
}

template <Format kFormat, int K> void tile(const MatmulArgs& args, int64_t group, int c0) {
    const PackedMatrix& m = *args.w;
    Simd::F acc[K];
    if constexpr (format_is_float(kFormat)) {
        group_float<kFormat, K>(m.data + group * m.group_bytes, args.act_f32 + c0 * m.n_col, m.n_col, acc);
    } else {
        const uint8_t* low = kFormat == Format::q8_0 ? m.low + group * m.low_group_bytes() : nullptr;
        group_q<kFormat, K>(m.data + group * m.group_bytes, low, args.act + c0 * m.n_block(), m.n_block(), acc);
    }
    write_group<K>(args, group, c0, acc);
}

using TileFn = void (*)(const MatmulArgs&, int64_t, int);

template <Format kFormat, int K> constexpr TileFn tile_or_null() {
    if constexpr (K <= Simd::kTile) return tile<kFormat, K>;
    return nullptr;
}

// The row group stays in the first-level cache while all column tiles pass over it.
template <Format kFormat> void matmul_format(const MatmulArgs& args, int64_t group0, int64_t group1) {
    static constexpr TileFn tiles[] = {nullptr,
                                       tile_or_null<kFormat, 1>(),
                                       tile_or_null<kFormat, 2>(),
                                       tile_or_null<kFormat, 3>(),
                                       tile_or_null<kFormat, 4>(),
                                       tile_or_null<kFormat, 5>(),
                                       tile_or_null<kFormat, 6>(),
                                       tile_or_null<kFormat, 7>(),
                                       tile_or_null<kFormat, 8>()};
    for (int64_t g = group0; g < group1; g++) {
        for (int c = 0; c < args.k; c += Simd::kTile) {
            tiles[args.k - c < Simd::kTile ? args.k - c : Simd::kTile](args, g, c);
        }
    }
}

void matmul(const MatmulArgs& args, int64_t group0, int64_t group1) {
    switch (args.w->format) {
        case Format::f32: return matmul_format<Format::f32>(args, group0, group1);
        case Format::f16: return matmul_format<Format::f16>(args, group0, group1);
        case Format::bf16: return matmul_format<Format::bf16>(args, group0, group1);
        case Format::q4_0: return matmul_format<Format::q4_0>(args, group0, group1);
        case Format::q4_1: return matmul_format<Format::q4_1>(args, group0, group1);
        case Format::q5_0: return matmul_format<Format::q5_0>(args, group0, group1);
        case Format::q5_1: return matmul_format<Format::q5_1>(args, group0, group1);
        case Format::q8_0: return matmul_format<Format::q8_0>(args, group0, group1);
        case Format::q4_k: return matmul_format<Format::q4_k>(args, group0, group1);
        case Format::q5_k: return matmul_format<Format::q5_k>(args, group0, group1);
        case Format::q6_k: return matmul_format<Format::q6_k>(args, group0, group1);
    }
}

}  // namespace
