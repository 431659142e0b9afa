// Products with float weights, written once over the vector primitives of `Simd`.
#pragma once

#include <cstring>

#include "stored_impl.h"

namespace {

using namespace mtp;

// Float weights: two chains (even and odd columns), added at the end.
template <Format kFormat, int K>
inline void group_float(const uint8_t* w, const float* act, int64_t n_col, Simd::F acc[K]) {
    constexpr int width = kFormat == Format::f32 ? 32 : 16;
    Simd::F odd[K];
    for (int c = 0; c < K; c++) acc[c] = odd[c] = Simd::zero();
    for (int64_t i = 0; i < n_col; i++, w += width) {
        Simd::F x;
        if constexpr (kFormat == Format::f32) {
            float lanes[8];
            std::memcpy(lanes, w, 32);
            x = Simd::load(lanes);
        } else if constexpr (kFormat == Format::f16) {
            x = Simd::f16(w);
        } else {
            x = Simd::bf16(w);
        }
        Simd::F* to = i % 2 == 0 ? acc : odd;
        for (int c = 0; c < K; c++) to[c] = Simd::fma(x, Simd::set1(act[c * n_col + i]), to[c]);
    }
    for (int c = 0; c < K; c++) acc[c] = Simd::add(acc[c], odd[c]);
}

}  // namespace
