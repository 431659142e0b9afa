// Everything between the products: norms, quantisation, gates, attention, arg-max, over the primitives of
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

// --- attention --------------------------------------------------------------------------------------------
// Scores of a query: dot products over head_dim in order, one lane a position; softmax sums lane by lane over
// blocks of 8 positions, aligned by absolute position; values added position by position. So a query's result
// depends on its own first and last position only.

// scores[r][p] of B blocks of 8 positions from block b on, R query rows: R * B independent chains
template <int R, int B>
inline void score_tile(const AttentionArgs& args, int row, int64_t b, int64_t block0) {
    const int64_t ring = args.capacity / 8;
    const uint8_t* key[B];
    for (int i = 0; i < B; i++)
        key[i] = reinterpret_cast<const uint8_t*>(args.key + ((b + i) % ring) * 8 * args.head_dim);
    Simd::F s[R][B];
    for (int r = 0; r < R; r++) {
        for (int i = 0; i < B; i++) s[r][i] = Simd::zero();
    }
    for (int d = 0; d < args.head_dim; d++) {
        Simd::F x[B];
        for (int i = 0; i < B; i++) x[i] = Simd::f16(key[i] + 16 * d);
        for (int r = 0; r < R; r++) {
            const Simd::F q = Simd::set1(args.query[row + r][d]);
            for (int i = 0; i < B; i++) s[r][i] = Simd::fma(q, x[i], s[r][i]);
        }
    }
    for (int r = 0; r < R; r++) {
        float* to = args.scores + (row + r) * args.score_stride + (b - block0) * 8;
        for (int i = 0; i < B; i++) Simd::store(to + 8 * i, s[r][i]);
    }
}

template <int R>
inline void score_blocks(const AttentionArgs& args, int row, int64_t block0, int64_t block1) {
    constexpr int wide = R == 1 ? 6 : R == 3 ? 3 : 2;
    int64_t b = block0;
    for (; b + wide <= block1; b += wide) score_tile<R, wide>(args, row, b, block0);
    for (; b < block1; b++) score_tile<R, 1>(args, row, b, block0);
}

// scores -> weights, zero outside [first, last]; returns 1 / sum
inline float softmax_row(float* scores, int64_t origin, int64_t first, int64_t last, int64_t end) {
    for (int64_t p = origin; p < first; p++) scores[p - origin] = -INFINITY;
    for (int64_t p = last + 1; p < end; p++) scores[p - origin] = -INFINITY;
    // the row's own blocks only: a neighbour's longer range must not change the lane sums
    const int64_t from = first / 8 * 8 - origin;
    const int64_t to = (last / 8 + 1) * 8 - origin;
    Simd::F high = Simd::load(scores + from);
    for (int64_t i = from + 8; i < to; i += 8) high = Simd::max(high, Simd::load(scores + i));
    const Simd::F top = Simd::set1(Simd::max_lanes(high));
    Simd::F sum = Simd::zero();
    for (int64_t i = from; i < to; i += 8) {
        const Simd::F e = exp_lanes(Simd::sub(Simd::load(scores + i), top));
        Simd::store(scores + i, e);
        // masked lanes carry e^-87 instead of 0: too small to change a sum that holds e^0 = 1
        sum = Simd::add(sum, e);
    }
    return 1.0f / Simd::sum_lanes(sum);
}

constexpr int64_t kValueSpan = 8192;  // cached values that are looked at together

// acc[r] += weight * value over positions [first, last]
template <int R, int V>
inline void value_tile(const AttentionArgs& args, int row, int dim, int64_t origin, int64_t first,
                       int64_t last, Simd::F acc[R][V]) {
    if (first > last) return;
    int64_t slot = first % args.capacity;
    for (int64_t p = first; p <= last; p++) {
        const auto* v = reinterpret_cast<const uint8_t*>(args.value + slot * args.head_dim + dim);
        slot = slot + 1 == args.capacity ? 0 : slot + 1;
        Simd::F x[V];
        for (int i = 0; i < V; i++) x[i] = Simd::f16(v + 16 * i);
        for (int r = 0; r < R; r++) {
            const Simd::F w = Simd::set1(args.scores[(row + r) * args.score_stride + p - origin]);
            for (int i = 0; i < V; i++) acc[r][i] = Simd::fma(w, x[i], acc[r][i]);
        }
    }
}

// out[r][dims] += what the positions [p0, p1] give of those that the row sees
template <int R, int V>
inline void value_rows(const AttentionArgs& args, int row, int dim, int64_t origin, int64_t p0, int64_t p1) {
    // rows of one tile may see different ranges: the common middle together, the ends one by one
    int64_t first[R], last[R], common0 = p0, common1 = p1;
    Simd::F acc[R][V];
    for (int r = 0; r < R; r++) {
        first[r] = larger(p0, args.first[row + r]);
        last[r] = smaller(p1, args.last[row + r]);
        common0 = larger(common0, first[r]);
        common1 = smaller(common1, last[r]);
        for (int i = 0; i < V; i++) acc[r][i] = Simd::load(args.out[row + r] + dim + 8 * i);
    }
    if (common0 > common1) {
        for (int r = 0; r < R; r++) value_tile<1, V>(args, row + r, dim, origin, first[r], last[r], acc + r);
    } else {
        for (int r = 0; r < R; r++)
            value_tile<1, V>(args, row + r, dim, origin, first[r], common0 - 1, acc + r);
        value_tile<R, V>(args, row, dim, origin, common0, common1, acc);
        for (int r = 0; r < R; r++)
            value_tile<1, V>(args, row + r, dim, origin, common1 + 1, last[r], acc + r);
    }
    for (int r = 0; r < R; r++) {
        for (int i = 0; i < V; i++) Simd::store(args.out[row + r] + dim + 8 * i, acc[r][i]);
    }
}

template <int R> void attend_rows(const AttentionArgs& args, int row) {
    int64_t first = args.first[row], last = args.last[row];
    for (int r = 1; r < R; r++) {
        first = smaller(first, args.first[row + r]);
        last = larger(last, args.last[row + r]);
    }
    const int64_t block0 = first / 8, block1 = last / 8 + 1;
    const int64_t origin = block0 * 8;
    score_blocks<R>(args, row, block0, block1);
    float inverse[R];
    for (int r = 0; r < R; r++) {
        inverse[r] = softmax_row(args.scores + (row + r) * args.score_stride, origin, args.first[row + r],
                                 args.last[row + r], block1 * 8);
        std::memset(args.out[row + r], 0, static_cast<size_t>(args.head_dim) * sizeof(float));
    }
    // a span of values stays in the first-level cache while all dimensions are swept
    const int64_t span = larger(8, kValueSpan / args.head_dim);
    constexpr int wide = R == 1 ? 8 : R == 3 ? 4 : 2;  // vectors of dimensions at a time
    for (int64_t p = first; p <= last; p += span) {
        const int64_t end = smaller(p + span - 1, last);
        int dim = 0;
        for (; dim + 8 * wide <= args.head_dim; dim += 8 * wide)
            value_rows<R, wide>(args, row, dim, origin, p, end);
        for (; dim < args.head_dim; dim += 8) value_rows<R, 1>(args, row, dim, origin, p, end);
    }
    for (int r = 0; r < R; r++) scale(args.out[row + r], inverse[r], args.head_dim);
}

void attention(const AttentionArgs& args) {
    int row = 0;
    for (; row + 6 <= args.n_query; row += 6) attend_rows<6>(args, row);
    for (; row + 3 <= args.n_query; row += 3) attend_rows<3>(args, row);
    for (; row < args.n_query; row++) attend_rows<1>(args, row);
}

}  // namespace
