// One block of 32 columns of a row group against K columns of activations, for Arm: one group at a time,
// since an activation is a lane of an operand there and need not be loaded for every vector of weights.
//
// Sums of bytes are whole numbers below 2^24, so their order is free; the float operations are those of
// block_impl.h, in the same order.
#pragma once

#include <cstddef>
#include <cstring>

#include "stored_impl.h"
//
#include "arm_acts.h"

namespace {

using namespace mtp;

template <int J> struct Index {
    static constexpr int value = J;
};

// fn(Index<J0>{}), ... fn(Index<J1 - step>{})
template <int J0, int J1, int kStep, class Fn> __attribute__((always_inline)) inline void each(const Fn& fn) {
    if constexpr (J0 < J1) {
        fn(Index<J0>{});
        each<J0 + kStep, J1, kStep>(fn);
    }
}

// The same over 0, 4, 1, 5 ...: vectors j and j + 4 of nibbles lie in the same bytes, which are then loaded
// once.
template <int J0, int J1, int kStep, class Fn>
__attribute__((always_inline)) inline void each_twin(const Fn& fn) {
    if constexpr (J1 - J0 == 8) {
        each<0, 4, kStep>([&](auto index) __attribute__((always_inline)) {
            fn(index);
            fn(Index<decltype(index)::value + 4>{});
        });
    } else {
        each<J0, J1, kStep>(fn);
    }
}

// Bytes of Q8_0: without a sign (value + 128) where an instruction takes such, else as they are.
#if defined(MTP_DOT_I8MM)
constexpr bool kSignedBytes = false;
#else
constexpr bool kSignedBytes = true;
#endif

// sums[slot][reg] += vectors [J0, J1) of weights times activations; weight(Index<j>) gives vector j, of kBits
#if defined(MTP_DOT_I8MM)

template <int kBits, int J0, int J1, class Acts, class Weight>
inline void add_dots(const Weight& weight, const Acts& acts, int32x4_t sums[Acts::slots][kRegs]) {
    each_twin<J0, J1, 2>([&](auto index) __attribute__((always_inline)) {
        constexpr int j = decltype(index)::value;
        const Simd::W upper = weight(Index<j>{}), lower = weight(Index<j + 1>{});  // 4 rows each
        for (int s = 0; s < Acts::slots; s++) {
            const int8x16_t a = acts.bytes(s, j / 2);
            for (int i = 0; i < 2; i++) {
                sums[s][i] = vusmmlaq_s32(sums[s][i], upper.v[i], a);
                sums[s][2 + i] = vusmmlaq_s32(sums[s][2 + i], lower.v[i], a);
            }
        }
    });
}

#elif defined(MTP_DOT_DOTPROD)

template <int kBits, int J0, int J1, class Acts, class Weight>
inline void add_dots(const Weight& weight, const Acts& acts, int32x4_t sums[Acts::slots][kRegs]) {
    int8x16_t a[Acts::slots][2];  // 16 columns each
    for (int s = 0; s < Acts::slots; s++) {
        for (int half = J0 / 4; half < J1 / 4; half++) a[s][half] = vld1q_s8(acts.bytes(s) + 16 * half);
    }
    each_twin<J0, J1, 1>([&](auto index) __attribute__((always_inline)) {
        constexpr int j = decltype(index)::value;
        const Simd::W w = weight(index);
        for (int s = 0; s < Acts::slots; s++) {
            for (int i = 0; i < 2; i++)
                sums[s][i] = vdotq_laneq_s32(sums[s][i], vreinterpretq_s8_u8(w.v[i]), a[s][j / 4], j % 4);
        }
    });
}

#else

// How many products an int16 lane holds: 2^bits - 1 (a sign: 128) times 127 times this stays below 2^15.
constexpr int dot_depth(int bits) { return bits <= 5 ? 8 : bits == 6 ? 4 : 2; }

template <int kBits, int J0, int J1, class Acts, class Weight>
inline void add_dots(const Weight& weight, const Acts& acts, int32x4_t sums[Acts::slots][kRegs]) {
    constexpr int depth = dot_depth(kBits) < J1 - J0 ? dot_depth(kBits) : J1 - J0;
    int32x4_t wide[Acts::slots][4];  // two lanes a row
    each<J0, J1, depth>([&](auto start) __attribute__((always_inline)) {
        constexpr int j0 = decltype(start)::value;
        int16x8_t part[Acts::slots][4];  // two rows of four columns each
        each<j0, j0 + depth, 1>([&](auto index) __attribute__((always_inline)) {
            constexpr int j = decltype(index)::value;
            const Simd::W w = weight(index);
            for (int s = 0; s < Acts::slots; s++) {
                int32_t four;
                std::memcpy(&four, acts.bytes(s) + 4 * j, 4);
                const int8x16_t a = vreinterpretq_s8_s32(vdupq_n_s32(four));
                for (int i = 0; i < 2; i++) {
                    const int8x16_t v = vreinterpretq_s8_u8(w.v[i]);
                    int16x8_t *low = &part[s][2 * i], *high = low + 1;
                    *low = j == j0 ? vmull_s8(vget_low_s8(v), vget_low_s8(a))
                                   : vmlal_s8(*low, vget_low_s8(v), vget_low_s8(a));
                    *high = j == j0 ? vmull_high_s8(v, a) : vmlal_high_s8(*high, v, a);
                }
            }
        });
        for (int s = 0; s < Acts::slots; s++) {
            for (int i = 0; i < 4; i++)
                wide[s][i] = j0 > J0 ? vpadalq_s16(wide[s][i], part[s][i]) : vpaddlq_s16(part[s][i]);
        }
    });
    for (int s = 0; s < Acts::slots; s++) {
        for (int i = 0; i < 2; i++)
            sums[s][i] = vaddq_s32(sums[s][i], vpaddq_s32(wide[s][2 * i], wide[s][2 * i + 1]));
    }
}

#endif

// A block as the matrix holds it, of any format but Q8_0.
template <Format kFormat> struct GroupBlock {
    using Of = Form<kFormat>;
    static constexpr int bits = Of::bits;
    StoredBlock<kFormat> stored;

    GroupBlock(const PackedMatrix& m, int64_t group) : stored{m.data + group * m.group_bytes, 0, {}, {}} {}
    void enter(int64_t b) {
        if constexpr (Of::super_bytes > 0) {
            if (b % kSuperBlocks == 0) stored.enter_super();
        }
    }
    void step() { stored.w += Of::block_bytes; }
    Simd::W weight(int j) const { return stored.weight(0, j); }
    void scale(int half, float32x4_t out[kRegs]) const { spread(stored.scale(0, half), out); }
    void min(float32x4_t out[kRegs]) const { spread(stored.min(0), out); }
};

// Q8_0, both planes joined.
template <> struct GroupBlock<Format::q8_0> {
    static constexpr int bits = 8;
    static constexpr int block_bytes = format_block_bytes(Format::q8_0);
    const uint8_t *high, *low;

    GroupBlock(const PackedMatrix& m, int64_t group)
        : high(m.data + group * m.group_bytes), low(m.low + group * m.low_group_bytes()) {}
    void enter(int64_t) {}
    void step() {
        high += block_bytes;
        low += 128;
    }
    Simd::W weight(int j) const {
        const Simd::W h = Simd::load_w(high + 16 + 32 * (j % 4)), l = Simd::load_w(low + 32 * (j % 4));
        Simd::W w;
        for (int i = 0; i < 2; i++) {
            w.v[i] = j < 4 ? vsliq_n_u8(l.v[i], h.v[i], 4) : vsriq_n_u8(h.v[i], l.v[i], 4);
            if constexpr (kSignedBytes) w.v[i] = veorq_u8(w.v[i], vdupq_n_u8(0x80));
        }
        return w;
    }
    void scale(int, float32x4_t out[kRegs]) const { spread(Simd::f16(high), out); }
    void min(float32x4_t*) const {}
};

// What sums start at: minus what an offset adds to them. Q4_0's comes off as a float, since a draft head lays
// its own offset into ActBlock::a.
template <Format kFormat, int J0, int J1, class Acts> inline int32x4_t start(const Acts& acts, int slot) {
    if constexpr (kFormat == Format::q5_0) return acts.centre(slot, 0);
    if constexpr (kFormat == Format::q6_k) return acts.centre(slot, 1 + J0 / 4);
    if constexpr (kFormat == Format::q8_0 && !kSignedBytes) return vshlq_n_s32(acts.centre(slot, 0), 3);
    return vdupq_n_s32(0);
}

// acc += vectors [J0, J1) of a block, which have one scale, times the block that `acts` stands at
template <Format kFormat, int J0, int J1, class Acts, class Block>
inline void add_part(const Block& block, const Acts& acts, float32x4_t acc[Acts::slots][kRegs]) {
    constexpr bool has_min = kFormat != Format::q8_0 && Form<kFormat>::has_min;
    int32x4_t sums[Acts::slots][kRegs];
    for (int s = 0; s < Acts::slots; s++) {
        const int32x4_t from = start<kFormat, J0, J1>(acts, s);
        for (int i = 0; i < kRegs; i++) sums[s][i] = from;
    }
    add_dots<GroupBlock<kFormat>::bits, J0, J1>(
        [&](auto index) __attribute__((always_inline)) { return block.weight(decltype(index)::value); }, acts,
        sums);
    float32x4_t d[kRegs], min[kRegs];
    block.scale(J0 / 4, d);
    if constexpr (has_min) block.min(min);
    for (int s = 0; s < Acts::slots; s++) {
        const auto front = acts.front(s);
        for (int i = 0; i < kRegs; i++) {
            float32x4_t x = vcvtq_f32_s32(sums[s][i]);
            if constexpr (kFormat == Format::q4_0) x = less_offset(x, vdupq_n_f32(8), front);
            acc[s][i] = vfmaq_f32(acc[s][i], x, scaled(d[i], front));
            if constexpr (has_min) acc[s][i] = add_min(acc[s][i], min[i], front);
        }
    }
}

template <Format kFormat, class Acts, class Block>
inline void add_block(const Block& block, const Acts& acts, float32x4_t acc[Acts::slots][kRegs]) {
    if constexpr (kFormat == Format::q6_k) {
        add_part<kFormat, 0, 4>(block, acts, acc);
        asm("" ::: "memory");  // what the second half loads would not fit the registers beside the first
        add_part<kFormat, 4, 8>(block, acts, acc);
    } else {
        add_part<kFormat, 0, 8>(block, acts, acc);
    }
}

// As in block_impl.h, for a pair of groups: what screening needs.
template <int kBits, bool kOffset, int J0, int J1, int K, class Block>
inline void block_sums(const Block& block, const ActBlock* act, int64_t stride, Simd::I sums[2][K]) {
    for (int g = 0; g < 2; g++) {
        int32x4_t results[slots_of(K)][kRegs];
        for (auto& slot : results) {
            for (int32x4_t& r : slot) r = vdupq_n_s32(0);
        }
        add_dots<kBits, J0, J1>([&](auto index) __attribute__((
                                    always_inline)) { return block.weight(g, decltype(index)::value); },
                                ColumnActs<K>{act, stride}, results);
        for (int c = 0; c < K; c++) sums[g][c] = column<K>(results, c);
    }
}

}  // namespace
