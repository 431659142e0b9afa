// Quantised activations as Arm's kernels meet them: `slots` of one column (or two, where a matrix instruction
// takes two), each of kRegs registers of results for 8 rows.
#pragma once

#include "kernels.h"

namespace {

using namespace mtp;

// Which float of a block: its scale, its scale times its sum, its sum.
enum Front { kD, kS, kA };

#if defined(MTP_DOT_I8MM)

// A result register holds rows r, r + 1 by columns c, c + 1: [r][c], [r][c + 1], [r + 1][c], [r + 1][c + 1].
constexpr int kRegs = 4;
constexpr int slots_of(int columns) { return (columns + 1) / 2; }

// One block of two columns, as the instructions take it: made once for all row groups.
struct PairBlock {
    int8_t q[4][2][8];     // 8 values of the one, then of the other
    float front[3][4];     // by Front: of the one, the other, the one, the other
    int32_t centre[3][4];  // ActBlock::centre16, then both of centre32, in the same way
};

struct PairFront {
    float32x4_t v[3];
};

inline float32x4_t scaled(float32x4_t x, const PairFront& front) { return vmulq_f32(x, front.v[kD]); }
inline float32x4_t add_min(float32x4_t acc, float32x4_t min, const PairFront& front) {
    return vfmaq_f32(acc, min, front.v[kS]);
}
inline float32x4_t less_offset(float32x4_t x, float32x4_t offset, const PairFront& front) {
    return vfmsq_f32(x, offset, front.v[kA]);
}

template <int K> struct PackedPairs {
    static constexpr int slots = slots_of(K);
    const PairBlock* pair;
    int64_t stride;

    PackedPairs at(int64_t block) const { return {pair + block, stride}; }
    int8x16_t bytes(int slot, int m) const { return vld1q_s8(pair[slot * stride].q[m][0]); }
    PairFront front(int slot) const {
        const PairBlock& p = pair[slot * stride];
        return {{vld1q_f32(p.front[kD]), vld1q_f32(p.front[kS]), vld1q_f32(p.front[kA])}};
    }
    int32x4_t centre(int slot, int which) const { return vld1q_s32(pair[slot * stride].centre[which]); }
};

// The same from the blocks of the columns themselves. A last single column is its own other.
template <int K> struct PlainPairs {
    static constexpr int slots = slots_of(K);
    const ActBlock* act;
    int64_t stride;

    PlainPairs at(int64_t block) const { return {act + block, stride}; }
    const ActBlock& one(int slot) const { return act[2 * slot * stride]; }
    const ActBlock& other(int slot) const {
        return 2 * slot + 1 < K ? act[(2 * slot + 1) * stride] : one(slot);
    }
    int8x16_t bytes(int slot, int m) const {
        return vcombine_s8(vld1_s8(one(slot).q + 8 * m), vld1_s8(other(slot).q + 8 * m));
    }
    static float32x4_t both(float a, float b) {
        const float32x2_t v = {a, b};
        return vcombine_f32(v, v);
    }
    PairFront front(int slot) const {
        const ActBlock &x = one(slot), &y = other(slot);
        return {{both(x.d, y.d), both(x.s, y.s), both(x.a, y.a)}};
    }
    int32x4_t centre(int slot, int which) const {
        const ActBlock &x = one(slot), &y = other(slot);
        const int32x2_t v = which == 0 ? int32x2_t{x.centre16, y.centre16}
                                       : int32x2_t{x.centre32[which - 1], y.centre32[which - 1]};
        return vcombine_s32(v, v);
    }
};

template <int K> using ColumnActs = PlainPairs<K>;

// Columns [0, k) of n_block blocks -> [slots_of(k)][n_block]
inline void pack_pairs(const ActBlock* act, int64_t n_block, int k, PairBlock* out) {
    for (int c = 0; c < k; c += 2) {
        const ActBlock* one = act + c * n_block;
        const ActBlock* other = c + 1 < k ? one + n_block : one;
        for (int64_t b = 0; b < n_block; b++, one++, other++, out++) {
            const PlainPairs<2> pair{one, other - one};
            for (int m = 0; m < 4; m++) vst1q_s8(out->q[m][0], pair.bytes(0, m));
            const PairFront front = pair.front(0);
            for (int i = 0; i < 3; i++) {
                vst1q_f32(out->front[i], front.v[i]);
                vst1q_s32(out->centre[i], pair.centre(0, i));
            }
        }
    }
}

// what stands for 8 rows -> what stands for those rows in the registers of a slot
inline void spread(Simd::F x, float32x4_t out[kRegs]) {
    for (int i = 0; i < 2; i++) {
        out[2 * i] = vzip1q_f32(x.v[i], x.v[i]);
        out[2 * i + 1] = vzip2q_f32(x.v[i], x.v[i]);
    }
}

// one column of the results
template <int K> inline Simd::F column(const float32x4_t results[slots_of(K)][kRegs], int c) {
    const float32x4_t* r = results[c / 2];
    if (c % 2 == 0) return {{vuzp1q_f32(r[0], r[1]), vuzp1q_f32(r[2], r[3])}};
    return {{vuzp2q_f32(r[0], r[1]), vuzp2q_f32(r[2], r[3])}};
}
template <int K> inline Simd::I column(const int32x4_t results[slots_of(K)][kRegs], int c) {
    const int32x4_t* r = results[c / 2];
    if (c % 2 == 0) return {{vuzp1q_s32(r[0], r[1]), vuzp1q_s32(r[2], r[3])}};
    return {{vuzp2q_s32(r[0], r[1]), vuzp2q_s32(r[2], r[3])}};
}

#else

// A result register holds four rows of one column.
constexpr int kRegs = 2;
constexpr int slots_of(int columns) { return columns; }

inline float32x4_t scaled(float32x4_t x, float32x4_t front) { return vmulq_laneq_f32(x, front, kD); }
inline float32x4_t add_min(float32x4_t acc, float32x4_t min, float32x4_t front) {
    return vfmaq_laneq_f32(acc, min, front, kS);
}
inline float32x4_t less_offset(float32x4_t x, float32x4_t offset, float32x4_t front) {
    return vfmsq_laneq_f32(x, offset, front, kA);
}

template <int K> struct ColumnActs {
    static constexpr int slots = K;
    const ActBlock* act;
    int64_t stride;

    ColumnActs at(int64_t block) const { return {act + block, stride}; }
    const int8_t* bytes(int slot) const { return act[slot * stride].q; }
    float32x4_t front(int slot) const { return vld1q_f32(&act[slot * stride].d); }
    int32x4_t centre(int slot, int which) const {
        const ActBlock& x = act[slot * stride];
        return vdupq_n_s32(which == 0 ? x.centre16 : x.centre32[which - 1]);
    }
};
static_assert(offsetof(ActBlock, a) == offsetof(ActBlock, d) + 4 * kA);

inline void spread(Simd::F x, float32x4_t out[kRegs]) {
    out[0] = x.v[0];
    out[1] = x.v[1];
}

template <int K> inline Simd::F column(const float32x4_t results[K][kRegs], int c) {
    return {{results[c][0], results[c][1]}};
}
template <int K> inline Simd::I column(const int32x4_t results[K][kRegs], int c) {
    return {{results[c][0], results[c][1]}};
}

#endif

}  // namespace
