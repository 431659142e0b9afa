// One block of 32 columns of a pair of row groups against K columns of activations, written once over the
// vector primitives of `Simd`.
//
// Each block of weights is decoded once for all columns, and each activation that is loaded meets two vectors
// of weights: loads are what limits these loops.
#pragma once

#include "stored_impl.h"

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

}  // namespace
