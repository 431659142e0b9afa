// Bounds on the products with a Q8_0 matrix from its high plane.
//
// value = d (16 high + low - 128) = d (16 high - 120.5) + d (low - 7.5). The first part is the coarse
// product; the second is at most |d| |low - 7.5| |q| in each block (Cauchy-Schwarz).
#pragma once

#include "stored_impl.h"  // and block_sums, from block_impl.h or arm_block_impl.h

namespace {

using namespace mtp;

// Covers the rounding of both products: with residual norms of at least 10 (kResidualLeast) the absolute
// terms of a product add up to less than 73 times the bound, and a chain of n blocks errs by less than (n +
// 4) 2^-24 of them; twice that stays below 0.004 for n <= 400. Wider matrices are not screened.
constexpr float kScreenSlack = 1.005f;

template <int K> void screen_tile(const ScreenArgs& args, int64_t group, bool both, int c0) {
    const PackedMatrix& m = *args.w;
    const int64_t n_block = m.n_block(), pair = both ? m.group_bytes : 0;
    const uint8_t* w = m.data + group * m.group_bytes;
    const uint8_t* residual = m.residual + group * m.residual_group_bytes();
    const int64_t residual_pair = both ? m.residual_group_bytes() : 0;
    Simd::F coarse[2][K], bound[2][K];
    for (int g = 0; g < 2; g++) {
        for (int c = 0; c < K; c++) coarse[g][c] = bound[g][c] = Simd::zero();
    }
    for (int64_t b = 0; b < n_block; b++, w += format_block_bytes(Format::q8_0), residual += 8) {
        if (c0 == 0) {
            fetch<format_block_bytes(Format::q8_0)>(w + 2 * pair);
            fetch<format_block_bytes(Format::q8_0)>(w + 3 * pair);
        }
        const ActBlock* act = args.act + c0 * n_block + b;
        const float* norm = args.act_norm + c0 * n_block + b;
        Simd::I sums[2][K] = {};
        block_sums<4, true, 0, 8, K>(StoredBlock<Format::q8_0>{w, pair, {}, {}}, act, n_block, sums);
        for (int g = 0; g < 2; g++) {
            const Simd::F d = Simd::f16(w + g * pair);
            const Simd::F most = Simd::mul(Simd::abs(d), Simd::u8(residual + g * residual_pair));
            const Simd::F d16 = Simd::mul(d, Simd::set1(16));
            for (int c = 0; c < K; c++) {
                const ActBlock& x = act[c * n_block];
                // high - 7.53125 a: 32nds of whole numbers below 2^17, so exact
                const Simd::F centred =
                    Simd::fnma(Simd::set1(7.53125f), Simd::set1(x.a), Simd::to_f(sums[g][c]));
                coarse[g][c] = Simd::fma(centred, Simd::mul(d16, Simd::set1(x.d)), coarse[g][c]);
                bound[g][c] = Simd::fma(most, Simd::set1(norm[c * n_block]), bound[g][c]);
            }
        }
    }
    for (int g = 0; g < (both ? 2 : 1); g++) {
        for (int c = 0; c < K; c++) {
            const Simd::F width = Simd::mul(bound[g][c], Simd::set1(kScreenSlack * kResidualUnit));
            args.upper[(c0 + c) * m.n_group + group + g] = Simd::max_lanes(Simd::add(coarse[g][c], width));
            // rows past the end are zero and would be a lower bound of 0
            if ((group + g + 1) * kGroupRows > m.n_row) continue;
            const float low = Simd::max_lanes(Simd::sub(coarse[g][c], width));
            if (low > args.lower[c0 + c]) {
                args.lower[c0 + c] = low;
                args.lower_group[c0 + c] = static_cast<int32_t>(group + g);
            }
        }
    }
}

using ScreenFn = void (*)(const ScreenArgs&, int64_t, bool, int);

template <int K> constexpr ScreenFn screen_or_null() {
    if constexpr (K <= Simd::kTile) return screen_tile<K>;
    return nullptr;
}

void screen(const ScreenArgs& args, int64_t group0, int64_t group1) {
    static constexpr ScreenFn tiles[] = {nullptr,
                                         screen_or_null<1>(),
                                         screen_or_null<2>(),
                                         screen_or_null<3>(),
                                         screen_or_null<4>(),
                                         screen_or_null<5>(),
                                         screen_or_null<6>()};
    for (int64_t g = group0; g < group1; g += 2) {
        for (int c = 0, width; c < args.k; c += width) {
            width = tile_width(args.k - c);
            tiles[width](args, g, g + 1 < group1, c);
        }
    }
}

}  // namespace
