// One block of 32 columns of a pair of row groups against K columns of activations, written once over the
// vector primitives of `Simd`.
//
// Each block of weights is decoded once for all columns, and each activation that is loaded meets two vectors
// of weights: loads are what limits these loops.
#pragma once

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

// 7 and 8 columns go as 4 + 3 and 4 + 4: six and a rest of one or two would decode the weights for little
inline int tile_width(int left) {
    if (left <= Simd::kTile) return left;
    return left <= 8 && Simd::kTile > 4 ? 4 : Simd::kTile;
}

}  // namespace
