// Vector primitives without any instruction set: 8 lanes as an array. The twin that others are tested
// against.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "ggml.h"
#include "layout.h"

namespace {

struct Simd {
    struct F {
        float v[8];
    };
    struct I {
        int32_t v[8];
    };
    struct W {
        uint8_t v[32];
    };
    struct D {
        int32_t v[8];
    };
    static constexpr mtp::RowOrder kOrder = mtp::RowOrder::lanes;
    static constexpr int kTile = 1;         // columns that one sweep over a row group serves
    static constexpr bool kWideDot = true;  // sums of full 8-bit products fit

    template <class Fn> static F each(Fn fn) {
        F r;
        for (int i = 0; i < 8; i++) r.v[i] = fn(i);
        return r;
    }
    static F zero() {
        return each([](int) { return 0.0f; });
    }
    static F set1(float x) {
        return each([&](int) { return x; });
    }
    static F load(const float* p) {
        return each([&](int i) { return p[i]; });
    }
    static void store(float* p, F x) { std::memcpy(p, x.v, 32); }
    static F add(F a, F b) {
        return each([&](int i) { return a.v[i] + b.v[i]; });
    }
    static F sub(F a, F b) {
        return each([&](int i) { return a.v[i] - b.v[i]; });
    }
    static F mul(F a, F b) {
        return each([&](int i) { return a.v[i] * b.v[i]; });
    }
    static F div(F a, F b) {
        return each([&](int i) { return a.v[i] / b.v[i]; });
    }
    static F max(F a, F b) {
        return each([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
    }
    static F min(F a, F b) {
        return each([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
    }
    static F abs(F a) {
        return each([&](int i) { return std::fabs(a.v[i]); });
    }
    static F fma(F a, F b, F c) {
        return each([&](int i) { return std::fma(a.v[i], b.v[i], c.v[i]); });
    }
    static F fnma(F a, F b, F c) {
        return each([&](int i) { return std::fma(-a.v[i], b.v[i], c.v[i]); });
    }
    static F round(F a) {
        return each([&](int i) { return std::nearbyint(a.v[i]); });
    }
    static F pow2(F n) {
        return each([&](int i) { return std::ldexp(1.0f, static_cast<int>(n.v[i])); });
    }
    static F f16(const uint8_t* p) {
        return each([&](int i) {
            ggml_fp16_t h;
            std::memcpy(&h, p + 2 * i, 2);
            return ggml_fp16_to_fp32(h);
        });
    }
    static F bf16(const uint8_t* p) {
        return each([&](int i) {
            ggml_bf16_t h;
            std::memcpy(&h, p + 2 * i, 2);
            return ggml_bf16_to_fp32(h);
        });
    }
    static void store_f16(uint16_t* p, F x) {
        for (int i = 0; i < 8; i++) p[i] = ggml_fp32_to_fp16(x.v[i]);
    }
    static F u8(const uint8_t* p) {
        return each([&](int i) { return static_cast<float>(p[i]); });
    }
    static F i8(const uint8_t* p) {
        return each([&](int i) { return static_cast<float>(static_cast<int8_t>(p[i])); });
    }
    static F to_f(I x) {
        return each([&](int i) { return static_cast<float>(x.v[i]); });
    }
    static float sum_lanes(F x) {
        const float* v = x.v;
        return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
    }
    static float max_lanes(F x) {
        float m = x.v[0];
        for (int i = 1; i < 8; i++) m = x.v[i] > m ? x.v[i] : m;
        return m;
    }
    // 32 values in [-127, 127], rounded to bytes
    static mtp::BlockSums store_rounded(int8_t* to, const F x[4]) {
        mtp::BlockSums sums = {};
        for (int i = 0; i < 32; i++) {
            to[i] = static_cast<int8_t>(std::nearbyint(x[i / 8].v[i % 8]));
            (i < 16 ? sums.first : sums.second) += to[i];
        }
        return sums;
    }

    // u8 weights
    template <class Fn> static W bytes(Fn fn) {
        W r;
        for (int i = 0; i < 32; i++) r.v[i] = static_cast<uint8_t>(fn(i));
        return r;
    }
    static W load_w(const uint8_t* p) {
        W r;
        std::memcpy(r.v, p, 32);
        return r;
    }
    static void store_w(uint8_t* p, W x) { std::memcpy(p, x.v, 32); }
    static W join(W a, W b) {
        return bytes([&](int i) { return a.v[i] | b.v[i]; });
    }
    // each byte: the bits from kFrom on, moved to kTo, & kMask
    template <int kFrom, int kTo, int kMask> static W bits(W x) {
        return bytes([&](int i) {
            return (kFrom >= kTo ? x.v[i] >> (kFrom - kTo) : x.v[i] << (kTo - kFrom)) & kMask;
        });
    }

    using A = const int8_t*;
    static A load_a(const int8_t* a) { return a; }
    static D dot_start(int32_t) { return D{}; }
    static D dot_first(W w, A a) {
        D r;
        for (int l = 0; l < 8; l++) {
            r.v[l] = 0;
            for (int t = 0; t < 4; t++) r.v[l] += static_cast<int>(w.v[4 * l + t]) * a[t];
        }
        return r;
    }
    static D dot(D acc, W w, A a) {
        const D p = dot_first(w, a);
        for (int l = 0; l < 8; l++) acc.v[l] += p.v[l];
        return acc;
    }
    static I widen(D d) {
        I r;
        std::memcpy(r.v, d.v, 32);
        return r;
    }
    static I widen16(D d) {
        I r;
        for (int l = 0; l < 8; l++) r.v[l] = 16 * d.v[l];
        return r;
    }
    static I add_i(I a, I b) {
        for (int l = 0; l < 8; l++) a.v[l] += b.v[l];
        return a;
    }
    static void prefetch(const uint8_t*) {}
};

}  // namespace
