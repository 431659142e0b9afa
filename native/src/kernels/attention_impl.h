// Attention of query rows over the cached positions of one KV head, written once over the primitives of
// `Simd`.
//
// A row's positions are taken in parts that are aligned by absolute position. Inside a part: scores are dot
// products over head_dim in order, one lane a position; the softmax is that of the part alone, its sum lane
// by lane over blocks of 8 positions; values are added position by position. Parts are joined in order. So a
// row's result depends on its own first and last position only, whoever computes which part beside which
// other rows.
#pragma once

#include <cmath>
#include <cstring>

#include "ops_impl.h"

namespace {

using namespace mtp;

constexpr int kScoreStride = kLongestPart + 8;  // floats from one row's scores to the next row's
constexpr int kFetchAhead = 4;                  // blocks of 8 positions
constexpr int kQueryStride = kMaxHeadDim + 16;  // not a power of two: rows would share a cache set

// The positions of one part that a tile of R rows sees.
template <int R> struct TilePart {
    explicit TilePart(const AttentionArgs& a) : args(a) {}  // and no time lost on clearing the rest
    const AttentionArgs& args;
    int64_t origin;             // a multiple of 8
    int64_t first[R], last[R];  // of each row, in this part; empty: last < first
    int64_t begin, end;         // of all of them
    alignas(32) float query[R * kQueryStride];
    alignas(32) float scores[R * kScoreStride];  // by position - origin
};

// scores of B blocks of 8 positions from `block` on: R * B independent chains
template <int R, int B> inline void score_tile(TilePart<R>& tile, int64_t block) {
    const AttentionArgs& args = tile.args;
    const int64_t ring = args.capacity / 8;
    const uint8_t* key[B];
    for (int i = 0; i < B; i++)
        key[i] = reinterpret_cast<const uint8_t*>(args.key + ((block + i) % ring) * 8 * args.head_dim);
    Simd::F s[R][B];
    for (int r = 0; r < R; r++) {
        for (int i = 0; i < B; i++) s[r][i] = Simd::zero();
    }
    const float* query = tile.query;
    for (int d = 0; d < args.head_dim; d++, query++) {
        if constexpr (R > B) {
            Simd::F x[B];
            for (int i = 0; i < B; i++) x[i] = Simd::f16(key[i] + 16 * d);
            for (int r = 0; r < R; r++) {
                const Simd::F q = Simd::set1(query[r * kQueryStride]);
                for (int i = 0; i < B; i++) s[r][i] = Simd::fma(q, x[i], s[r][i]);
            }
        } else {
            Simd::F q[R];
            for (int r = 0; r < R; r++) q[r] = Simd::set1(query[r * kQueryStride]);
            for (int i = 0; i < B; i++) {
                const Simd::F x = Simd::f16(key[i] + 16 * d);
                for (int r = 0; r < R; r++) s[r][i] = Simd::fma(q[r], x, s[r][i]);
            }
        }
    }
    for (int r = 0; r < R; r++) {
        float* to = tile.scores + r * kScoreStride + (block * 8 - tile.origin);
        for (int i = 0; i < B; i++) Simd::store(to + 8 * i, s[r][i]);
    }
}

template <int R> constexpr int wide_for() { return R >= 5 ? 2 : R == 4 ? 3 : R == 3 ? 4 : R == 2 ? 4 : 8; }

// Keys of a later block and values of this one on their way from memory: a cache of thousands of positions is
// not near, and nothing else tells the processor where the next part lies.
inline void fetch_block(const AttentionArgs& args, int64_t block) {
    const int64_t ring = args.capacity / 8, bytes = int64_t{16} * args.head_dim;
    const auto* key = reinterpret_cast<const uint8_t*>(args.key) + (block + kFetchAhead) % ring * bytes;
    const auto* value = reinterpret_cast<const uint8_t*>(args.value) + block % ring * bytes;
    for (int64_t at = 0; at < bytes; at += 64) {
        Simd::prefetch(key + at);
        Simd::prefetch(value + at);
    }
}

template <int R> inline void score_part(TilePart<R>& tile, bool first) {
    constexpr int wide = wide_for<R>();
    const int64_t block1 = (tile.end - 1) / 8 + 1;
    int64_t b = tile.origin / 8;
    for (; b + wide <= block1; b += wide) {
        for (int i = 0; first && i < wide; i++) fetch_block(tile.args, b + i);
        score_tile<R, wide>(tile, b);
    }
    for (; b < block1; b++) score_tile<R, 1>(tile, b);
}

// scores of row r -> weights; its largest score and the sum of its weights go to the part's front
template <int R> inline void softmax_part(TilePart<R>& tile, int r, float* part) {
    float* scores = tile.scores + r * kScoreStride;
    // the row's own blocks only: a neighbour's longer range must not change the lane sums
    const int64_t from = tile.first[r] / 8 * 8 - tile.origin, to = (tile.last[r] / 8 + 1) * 8 - tile.origin;
    for (int64_t i = from; i < tile.first[r] - tile.origin; i++) scores[i] = -INFINITY;
    for (int64_t i = tile.last[r] + 1 - tile.origin; i < to; i++) scores[i] = -INFINITY;
    Simd::F high = Simd::load(scores + from);
    for (int64_t i = from + 8; i < to; i += 8) high = Simd::max(high, Simd::load(scores + i));
    const float top = Simd::max_lanes(high);
    Simd::F sum = Simd::zero();
    for (int64_t i = from; i < to; i += 8) {
        const Simd::F e = exp_lanes(Simd::sub(Simd::load(scores + i), Simd::set1(top)));
        Simd::store(scores + i, e);
        // masked lanes carry e^-87 instead of 0: too small to change a sum that holds e^0 = 1
        sum = Simd::add(sum, e);
    }
    part[0] = top;
    part[1] = Simd::sum_lanes(sum);
}

// acc[r] += weight * value over `n` positions from `slot` on, which do not wrap; weights from `scores` on
template <int R, int V>
inline void value_run(const AttentionArgs& args, const float* scores, int dim, int64_t slot, int64_t n,
                      Simd::F acc[R][V]) {
    const auto* v = reinterpret_cast<const uint8_t*>(args.value + slot * args.head_dim + dim);
    const int64_t step = int64_t{2} * args.head_dim;
    for (const float* stop = scores + n; scores < stop; scores++, v += step) {
        if constexpr (R > V) {
            Simd::F x[V];
            for (int i = 0; i < V; i++) x[i] = Simd::f16(v + 16 * i);
            for (int r = 0; r < R; r++) {
                const Simd::F w = Simd::set1(scores[r * kScoreStride]);
                for (int i = 0; i < V; i++) acc[r][i] = Simd::fma(w, x[i], acc[r][i]);
            }
        } else {
            Simd::F w[R];
            for (int r = 0; r < R; r++) w[r] = Simd::set1(scores[r * kScoreStride]);
            for (int i = 0; i < V; i++) {
                const Simd::F x = Simd::f16(v + 16 * i);
                for (int r = 0; r < R; r++) acc[r][i] = Simd::fma(w[r], x, acc[r][i]);
            }
        }
    }
}

// the same over positions [first, last] of the ring
template <int R, int V>
inline void value_tile(const AttentionArgs& args, const float* scores, int64_t origin, int dim, int64_t first,
                       int64_t last, Simd::F acc[R][V]) {
    while (first <= last) {
        const int64_t slot = first % args.capacity;
        const int64_t n = smaller(last + 1 - first, args.capacity - slot);
        value_run<R, V>(args, scores + (first - origin), dim, slot, n, acc);
        first += n;
    }
}

// values of dimensions [dim, dim + 8 V) of each row's part
template <int R, int V> inline void value_rows(const TilePart<R>& tile, int dim, float* out, int64_t stride) {
    // rows of one tile may see different ranges: the common middle together, the ends one by one
    int64_t common0 = tile.begin, common1 = tile.end - 1;
    Simd::F acc[R][V];
    for (int r = 0; r < R; r++) {
        common0 = larger(common0, tile.first[r]);
        common1 = smaller(common1, tile.last[r]);
        for (int i = 0; i < V; i++) acc[r][i] = Simd::zero();
    }
    const auto one = [&](int r, int64_t first, int64_t last) {
        value_tile<1, V>(tile.args, tile.scores + r * kScoreStride, tile.origin, dim, first, last, acc + r);
    };
    if (common0 > common1) {
        for (int r = 0; r < R; r++) one(r, tile.first[r], tile.last[r]);
    } else {
        for (int r = 0; r < R; r++) one(r, tile.first[r], common0 - 1);
        value_tile<R, V>(tile.args, tile.scores, tile.origin, dim, common0, common1, acc);
        for (int r = 0; r < R; r++) one(r, common1 + 1, tile.last[r]);
    }
    for (int r = 0; r < R; r++) {
        for (int i = 0; i < V; i++) Simd::store(out + r * stride + dim + 8 * i, acc[r][i]);
    }
}

// Rows [row, row + R); `out` is row 0's.
template <int R>
void attend_tile(const AttentionArgs& args, int64_t number, int row, float* out, int64_t stride) {
    TilePart<R> tile(args);
    const int64_t span = attention_part(args.head_dim), p0 = number * span, p1 = p0 + span;
    tile.begin = p1;
    tile.end = p0;
    for (int r = 0; r < R; r++) {
        tile.first[r] = larger(p0, args.first[row + r]);
        tile.last[r] = smaller(p1 - 1, args.last[row + r]);
        if (tile.first[r] > tile.last[r]) {  // sees nothing here: no part of any range of the tile
            tile.first[r] = p0 + 1;
            tile.last[r] = p0;
            continue;
        }
        tile.begin = smaller(tile.begin, tile.first[r]);
        tile.end = larger(tile.end, tile.last[r] + 1);
    }
    out += row * stride;
    if (tile.begin < tile.end) {
        tile.origin = tile.begin / 8 * 8;
        for (int r = 0; r < R; r++) {
            std::memcpy(tile.query + r * kQueryStride, args.query[row + r],
                        static_cast<size_t>(args.head_dim) * sizeof(float));
        }
        score_part<R>(tile, row == 0);
        for (int r = 0; r < R; r++) {
            if (tile.first[r] <= tile.last[r]) softmax_part<R>(tile, r, out + r * stride);
        }
        constexpr int wide = wide_for<R>();
        int dim = 0;
        for (; dim + 8 * wide <= args.head_dim; dim += 8 * wide)
            value_rows<R, wide>(tile, dim, out + kPartFront, stride);
        for (; dim < args.head_dim; dim += 8) value_rows<R, 1>(tile, dim, out + kPartFront, stride);
    }
    for (int r = 0; r < R; r++) {
        if (tile.first[r] > tile.last[r]) out[r * stride + 1] = 0;
    }
}

void attend_part(const AttentionArgs& args, int64_t number, float* out, int64_t stride) {
    for (int row = 0; row < args.n_query;) {
        switch (const int left = args.n_query - row; left >= 9 || left == 6 ? 6 : left >= 7 ? 4 : left) {
        case 6:
            attend_tile<6>(args, number, row, out, stride);
            row += 6;
            break;
        case 4:
            attend_tile<4>(args, number, row, out, stride);
            row += 4;
            break;
        case 5:
        case 3:
            attend_tile<3>(args, number, row, out, stride);
            row += 3;
            break;
        case 2:
            attend_tile<2>(args, number, row, out, stride);
            row += 2;
            break;
        default:
            attend_tile<1>(args, number, row, out, stride);
            row += 1;
        }
    }
}

float exp_one(float x) {
    float lanes[8];
    Simd::store(lanes, exp_lanes(Simd::set1(x)));
    return lanes[0];
}

void attend_join(int head_dim, const float* part, float* state) {
    if (part[1] == 0) return;
    if (state[1] == 0) {
        std::memcpy(state, part, static_cast<size_t>(kPartFront + head_dim) * sizeof(float));
        return;
    }
    const float top = state[0] > part[0] ? state[0] : part[0];
    const float a = exp_one(state[0] - top), b = exp_one(part[0] - top);
    state[0] = top;
    state[1] = std::fma(state[1], a, part[1] * b);
    for (int i = kPartFront; i < kPartFront + head_dim; i += 8) {
        const Simd::F add = Simd::mul(Simd::load(part + i), Simd::set1(b));
        Simd::store(state + i, Simd::fma(Simd::load(state + i), Simd::set1(a), add));
    }
}

void attend_finish(int head_dim, const float* state, float* out) {
    const Simd::F inverse = Simd::set1(1.0f / state[1]);
    for (int i = 0; i < head_dim; i += 8)
        Simd::store(out + i, Simd::mul(Simd::load(state + kPartFront + i), inverse));
}

}  // namespace
