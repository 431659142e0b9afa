// Everything between the products: norms, quantisation, gates, arg-max, over the primitives of
// `Simd`.
#pragma once

#include <cmath>
#include <cstring>

#include "kernels.h"

namespace {

using namespace mtp;

// not std::min and max: a template of the standard library compiled here for a newer CPU could be the copy
// that the linker keeps for everybody
inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// e^x within 2 ulp: x = n ln 2 + r, a polynomial for e^r. Below -87 it is 0 (or the smallest power), above 88
// capped.
inline Simd::F exp_lanes(Simd::F x) {
    x = Simd::min(Simd::max(x, Simd::set1(-87.0f)), Simd::set1(88.0f));
    const Simd::F n = Simd::round(Simd::mul(x, Simd::set1(1.44269504f)));
    Simd::F r = Simd::fnma(n, Simd::set1(0.693359375f), x);
    r = Simd::fnma(n, Simd::set1(-2.12194440e-4f), r);
    Simd::F p = Simd::set1(1.9875691500e-4f);
    p = Simd::fma(p, r, Simd::set1(1.3981999507e-3f));
    p = Simd::fma(p, r, Simd::set1(8.3334519073e-3f));
    p = Simd::fma(p, r, Simd::set1(4.1665795894e-2f));
    p = Simd::fma(p, r, Simd::set1(1.6666665459e-1f));
    p = Simd::fma(p, r, Simd::set1(5.0000001201e-1f));
    p = Simd::fma(Simd::mul(p, r), r, Simd::add(r, Simd::set1(1.0f)));
    return Simd::mul(p, Simd::pow2(n));
}

void quantize(const float* x, int64_t n, ActBlock* out) {
    for (int64_t b = 0; b < n / kBlockCols; b++, x += kBlockCols) {
        Simd::F v[4], high = Simd::zero();
        for (int i = 0; i < 4; i++) {
            v[i] = Simd::load(x + 8 * i);
            high = Simd::max(high, Simd::abs(v[i]));
        }
        const float top = Simd::max_lanes(high);
        const float inverse = top > 0 ? 127.0f / top : 0.0f;
        for (Simd::F& f : v) f = Simd::mul(f, Simd::set1(inverse));
        const BlockSums sums = Simd::store_rounded(out[b].q, v);
        out[b].d = top / 127.0f;
        out[b].a0 = static_cast<float>(sums.first);
        out[b].a = static_cast<float>(sums.first + sums.second);
        out[b].s = out[b].d * out[b].a;
        out[b].centre16 = sums.centre16;
        out[b].centre32[0] = sums.centre32[0];
        out[b].centre32[1] = sums.centre32[1];
    }
}

void rms_norm(const float* x, const float* weight, int64_t n, float eps, float* y) {
    Simd::F sums[2] = {Simd::zero(), Simd::zero()};
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        for (int u = 0; u < 2; u++) {
            const Simd::F v = Simd::load(x + i + 8 * u);
            sums[u] = Simd::fma(v, v, sums[u]);
        }
    }
    float sum = Simd::sum_lanes(Simd::add(sums[0], sums[1]));
    for (; i < n; i++) sum = std::fma(x[i], x[i], sum);
    const float factor = 1.0f / std::sqrt(sum / static_cast<float>(n) + eps);
    for (i = 0; i + 8 <= n; i += 8) {
        const Simd::F scaled = Simd::mul(Simd::load(x + i), Simd::set1(factor));
        Simd::store(y + i, Simd::mul(scaled, Simd::load(weight + i)));
    }
    for (; i < n; i++) y[i] = x[i] * factor * weight[i];
}

// x / (1 + e^-x); gelu by its tanh form: x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3)
inline Simd::F activate(Activation activation, Simd::F x) {
    Simd::F t = x;
    if (activation == Activation::gelu) {
        const Simd::F cube = Simd::mul(Simd::mul(x, x), x);
        t = Simd::mul(Simd::set1(1.5957691216f), Simd::fma(Simd::set1(0.044715f), cube, x));
    }
    const Simd::F e = exp_lanes(Simd::sub(Simd::zero(), t));
    return Simd::div(x, Simd::add(Simd::set1(1.0f), e));
}

void glu(Activation activation, float* gate, const float* up, int64_t n) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        Simd::store(gate + i, Simd::mul(activate(activation, Simd::load(gate + i)), Simd::load(up + i)));
    }
    if (i < n) {
        float g[8] = {}, u[8] = {};
        std::memcpy(g, gate + i, static_cast<size_t>(n - i) * 4);
        std::memcpy(u, up + i, static_cast<size_t>(n - i) * 4);
        Simd::store(g, Simd::mul(activate(activation, Simd::load(g)), Simd::load(u)));
        std::memcpy(gate + i, g, static_cast<size_t>(n - i) * 4);
    }
}

void add(float* x, const float* y, int64_t n) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) Simd::store(x + i, Simd::add(Simd::load(x + i), Simd::load(y + i)));
    for (; i < n; i++) x[i] += y[i];
}

void scale(float* x, float factor, int64_t n) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) Simd::store(x + i, Simd::mul(Simd::load(x + i), Simd::set1(factor)));
    for (; i < n; i++) x[i] *= factor;
}

void to_f16(const float* x, int64_t n, uint16_t* out) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) Simd::store_f16(out + i, Simd::load(x + i));
    if (i < n) {
        float v[8] = {};
        uint16_t h[8];
        std::memcpy(v, x + i, static_cast<size_t>(n - i) * 4);
        Simd::store_f16(h, Simd::load(v));
        std::memcpy(out + i, h, static_cast<size_t>(n - i) * 2);
    }
}

int32_t argmax(const float* x, int64_t n) {
    // the maximum first, then its first place: two plain sweeps
    Simd::F high[4];
    for (auto& h : high) h = Simd::set1(x[0]);
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        for (int u = 0; u < 4; u++) high[u] = Simd::max(high[u], Simd::load(x + i + 8 * u));
    }
    float top = Simd::max_lanes(Simd::max(Simd::max(high[0], high[1]), Simd::max(high[2], high[3])));
    for (; i < n; i++) top = x[i] > top ? x[i] : top;
    for (i = 0; i < n; i++) {
        if (x[i] == top) return static_cast<int32_t>(i);
    }
    return 0;
}

}  // namespace
