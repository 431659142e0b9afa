// Vector primitives for 64-bit Arm: 8 lanes are two NEON registers. Products of bytes are in arm_dot_impl.h.
#pragma once

#include <arm_neon.h>

#include <cstdint>
#include <cstring>

#include "layout.h"

#define MTP_ARM_SIMD

namespace {

struct Simd {
    struct F {
        float32x4_t v[2];
    };
    struct I {
        int32x4_t v[2];
    };
    struct W {
        uint8x16_t v[2];
    };

    // columns that one sweep over a row group serves: more would not fit the registers
    static constexpr int kTile = 4;
#if defined(MTP_DOT_I8MM)
    static constexpr mtp::RowOrder kOrder = mtp::RowOrder::pairs;
#else
    static constexpr mtp::RowOrder kOrder = mtp::RowOrder::lanes;
#endif

    static F zero() { return set1(0); }
    static F set1(float x) { return {{vdupq_n_f32(x), vdupq_n_f32(x)}}; }
    static F load(const float* p) { return {{vld1q_f32(p), vld1q_f32(p + 4)}}; }
    static void store(float* p, F x) {
        vst1q_f32(p, x.v[0]);
        vst1q_f32(p + 4, x.v[1]);
    }
    static F add(F a, F b) { return {{vaddq_f32(a.v[0], b.v[0]), vaddq_f32(a.v[1], b.v[1])}}; }
    static F sub(F a, F b) { return {{vsubq_f32(a.v[0], b.v[0]), vsubq_f32(a.v[1], b.v[1])}}; }
    static F mul(F a, F b) { return {{vmulq_f32(a.v[0], b.v[0]), vmulq_f32(a.v[1], b.v[1])}}; }
    static F div(F a, F b) { return {{vdivq_f32(a.v[0], b.v[0]), vdivq_f32(a.v[1], b.v[1])}}; }
    // a > b ? a : b and not the instruction of that name, which takes NaN and -0 differently from the other
    // sets
    static float32x4_t max4(float32x4_t a, float32x4_t b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
    static F max(F a, F b) { return {{max4(a.v[0], b.v[0]), max4(a.v[1], b.v[1])}}; }
    static F min(F a, F b) {
        return {{vbslq_f32(vcltq_f32(a.v[0], b.v[0]), a.v[0], b.v[0]),
                 vbslq_f32(vcltq_f32(a.v[1], b.v[1]), a.v[1], b.v[1])}};
    }
    static F abs(F a) { return {{vabsq_f32(a.v[0]), vabsq_f32(a.v[1])}}; }
    static F fma(F a, F b, F c) {
        return {{vfmaq_f32(c.v[0], a.v[0], b.v[0]), vfmaq_f32(c.v[1], a.v[1], b.v[1])}};
    }
    static F fnma(F a, F b, F c) {
        return {{vfmsq_f32(c.v[0], a.v[0], b.v[0]), vfmsq_f32(c.v[1], a.v[1], b.v[1])}};
    }
    static F round(F a) { return {{vrndnq_f32(a.v[0]), vrndnq_f32(a.v[1])}}; }
    // 2^n for whole n in [-126, 127]
    static F pow2(F n) {
        const auto one = [](float32x4_t x) {
            return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vcvtnq_s32_f32(x), vdupq_n_s32(127)), 23));
        };
        return {{one(n.v[0]), one(n.v[1])}};
    }
    static F f16(const uint8_t* p) {
        const float16x8_t h = vreinterpretq_f16_u8(vld1q_u8(p));
        return {{vcvt_f32_f16(vget_low_f16(h)), vcvt_high_f32_f16(h)}};
    }
    static F bf16(const uint8_t* p) {
        const uint16x8_t h = vreinterpretq_u16_u8(vld1q_u8(p));
        return {{vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(h), 16)),
                 vreinterpretq_f32_u32(vshll_high_n_u16(h, 16))}};
    }
    static void store_f16(uint16_t* p, F x) {
        vst1q_u16(p, vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(x.v[0]), x.v[1])));
    }
    static F u8(const uint8_t* p) {
        const uint16x8_t wide = vmovl_u8(vld1_u8(p));
        return {{vcvtq_f32_u32(vmovl_u16(vget_low_u16(wide))), vcvtq_f32_u32(vmovl_high_u16(wide))}};
    }
    static F i8(const uint8_t* p) {
        const int16x8_t wide = vmovl_s8(vreinterpret_s8_u8(vld1_u8(p)));
        return {{vcvtq_f32_s32(vmovl_s16(vget_low_s16(wide))), vcvtq_f32_s32(vmovl_high_s16(wide))}};
    }
    static F to_f(I x) { return {{vcvtq_f32_s32(x.v[0]), vcvtq_f32_s32(x.v[1])}}; }
    // ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))
    static float sum_lanes(F x) {
        const float32x4_t s = vaddq_f32(x.v[0], x.v[1]);
        return vpadds_f32(vadd_f32(vget_low_f32(s), vget_high_f32(s)));
    }
    static float max_lanes(F x) {
        const float32x4_t m = max4(x.v[0], x.v[1]);
        const float32x4_t n = max4(m, vextq_f32(m, m, 2));
        return vgetq_lane_f32(max4(n, vextq_f32(n, n, 1)), 0);
    }
    // 32 values in [-127, 127], rounded to bytes
    static mtp::BlockSums store_rounded(int8_t* to, const F x[4]) {
        int32_t sums[2];
        for (int half = 0; half < 2; half++) {
            int16x8_t q[2];
            for (int i = 0; i < 2; i++) {
                const F& f = x[2 * half + i];
                q[i] = vmovn_high_s32(vmovn_s32(vcvtnq_s32_f32(f.v[0])), vcvtnq_s32_f32(f.v[1]));
            }
            vst1q_s8(to + 16 * half, vmovn_high_s16(vmovn_s16(q[0]), q[1]));
            sums[half] = vaddlvq_s16(vaddq_s16(q[0], q[1]));
        }
        return {sums[0], sums[1], -16 * (sums[0] + sums[1]), {-32 * sums[0], -32 * sums[1]}};
    }

    static W load_w(const uint8_t* p) { return {{vld1q_u8(p), vld1q_u8(p + 16)}}; }
    static void store_w(uint8_t* p, W x) {
        vst1q_u8(p, x.v[0]);
        vst1q_u8(p + 16, x.v[1]);
    }
    static W join(W a, W b) { return {{vorrq_u8(a.v[0], b.v[0]), vorrq_u8(a.v[1], b.v[1])}}; }
    template <int kFrom, int kTo, int kMask> static uint8x16_t bits16(uint8x16_t x) {
        constexpr int down = kFrom - kTo;
        constexpr int left = down >= 0 ? 0xff >> down : (0xff << -down) & 0xff;
        if constexpr (down > 0) x = vshrq_n_u8(x, down);
        if constexpr (down < 0) x = vshlq_n_u8(x, -down);
        return (left & kMask) == left ? x : vandq_u8(x, vdupq_n_u8(kMask));
    }
    // each byte: the bits from kFrom on, moved to kTo, & kMask
    template <int kFrom, int kTo, int kMask> static W bits(W x) {
        return {{bits16<kFrom, kTo, kMask>(x.v[0]), bits16<kFrom, kTo, kMask>(x.v[1])}};
    }
    static void prefetch(const uint8_t* p) { __builtin_prefetch(p); }
};

}  // namespace
