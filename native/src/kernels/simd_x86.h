// Vector primitives for x86: AVX2 + FMA + F16C, with the int8 dot product where the compiler may use it.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "layout.h"

namespace {

struct Simd {
    using F = __m256;
    using I = __m256i;  // 8 x int32
    using W = __m256i;  // 32 x uint8
    using D = __m256i;  // a dot product on its way: 16 x int16 (maddubs) or 8 x int32 (dpbusd)

    static constexpr mtp::RowOrder kOrder = mtp::RowOrder::lanes;
    static constexpr int kTile = 6;  // columns that one sweep over a row group serves

    static F zero() { return _mm256_setzero_ps(); }
    static F set1(float x) { return _mm256_set1_ps(x); }
    static F load(const float* p) { return _mm256_loadu_ps(p); }
    static void store(float* p, F x) { _mm256_storeu_ps(p, x); }
    static F add(F a, F b) { return _mm256_add_ps(a, b); }
    static F sub(F a, F b) { return _mm256_sub_ps(a, b); }
    static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
    static F div(F a, F b) { return _mm256_div_ps(a, b); }
    static F max(F a, F b) { return _mm256_max_ps(a, b); }
    static F min(F a, F b) { return _mm256_min_ps(a, b); }
    static F abs(F a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
    static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
    static F fnma(F a, F b, F c) { return _mm256_fnmadd_ps(a, b, c); }
    static F round(F a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
    // 2^n for whole n in [-126, 127]
    static F pow2(F n) {
        const __m256i bits =
            _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
        return _mm256_castsi256_ps(bits);
    }
    static F f16(const uint8_t* p) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
    static F bf16(const uint8_t* p) {
        const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
    }
    static void store_f16(uint16_t* p, F x) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
    static F u8(const uint8_t* p) {
        return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
    }
    static F i8(const uint8_t* p) {
        return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
    }
    static F to_f(I x) { return _mm256_cvtepi32_ps(x); }
    // ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))
    static float sum_lanes(F x) {
        __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
        s = _mm_add_ps(s, _mm_movehl_ps(s, s));
        return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
    }
    static float max_lanes(F x) {
        __m128 m = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
        m = _mm_max_ps(m, _mm_movehl_ps(m, m));
        return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
    }

    static W load_w(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
    static void store_w(uint8_t* p, W x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
    static W join(W a, W b) { return _mm256_or_si256(a, b); }
    // each byte: the bits from kFrom on, moved to kTo, & kMask; the mask must keep out what crosses bytes
    template <int kFrom, int kTo, int kMask> static W bits(W x) {
        if constexpr (kFrom > kTo) x = _mm256_srli_epi16(x, kFrom - kTo);
        if constexpr (kFrom < kTo) x = _mm256_slli_epi16(x, kTo - kFrom);
        return _mm256_and_si256(x, _mm256_set1_epi8(static_cast<char>(kMask)));
    }

    using A = __m256i;  // 4 activations in every lane
    static A load_a(const int8_t* a) {
        int32_t v;
        std::memcpy(&v, a, 4);
        return _mm256_set1_epi32(v);
    }
#if defined(MTP_DOT_AVXVNNI) || defined(MTP_DOT_AVX512VNNI) || defined(MTP_DOT_EMULATED)
    static constexpr bool kWideDot = true;
    static D dot(D acc, W w, A a) {
#if defined(MTP_DOT_AVXVNNI)
        return _mm256_dpbusd_avx_epi32(acc, w, a);
#elif defined(MTP_DOT_AVX512VNNI)
        return _mm256_dpbusd_epi32(acc, w, a);
#else  // what the instruction does, for tests on machines without it
        const __m256i even = _mm256_set1_epi16(0x00ff);
        const __m256i p0 =
            _mm256_madd_epi16(_mm256_and_si256(w, even), _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8));
        const __m256i p1 = _mm256_madd_epi16(_mm256_srli_epi16(w, 8), _mm256_srai_epi16(a, 8));
        return _mm256_add_epi32(acc, _mm256_add_epi32(p0, p1));
#endif
    }
    static D dot_start(int32_t) { return _mm256_setzero_si256(); }
    static D dot_first(W w, A a) { return dot(_mm256_setzero_si256(), w, a); }
    static I widen(D d) { return d; }
    static I widen16(D d) { return _mm256_slli_epi32(d, 4); }
#else
    static constexpr bool kWideDot = false;
    static D dot_start(int32_t pair) { return _mm256_set1_epi32(pair); }
    static D dot_first(W w, A a) { return _mm256_maddubs_epi16(w, a); }
    static D dot(D acc, W w, A a) {
        D sum = _mm256_add_epi16(acc, dot_first(w, a));
        // keeps the compiler from turning the chain into a tree, whose many values would not fit the
        // registers
        asm("" : "+x"(sum));
        return sum;
    }
    static I widen(D d) { return _mm256_madd_epi16(d, _mm256_set1_epi16(1)); }
    static I widen16(D d) { return _mm256_madd_epi16(d, _mm256_set1_epi16(16)); }
#endif

    // 32 values in [-127, 127], rounded to bytes
    static mtp::BlockSums store_rounded(int8_t* to, const F x[4]) {
        const __m256i low = _mm256_packs_epi32(_mm256_cvtps_epi32(x[0]), _mm256_cvtps_epi32(x[1]));
        const __m256i high = _mm256_packs_epi32(_mm256_cvtps_epi32(x[2]), _mm256_cvtps_epi32(x[3]));
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // packing goes by 128-bit lanes
        const __m256i q = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), q);
        // sums over columns 4 j, 4 j + 1 and over 4 j + 2, 4 j + 3, as two int16; of either half
        const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), q);
        const __m128i a = _mm256_castsi256_si128(pairs), b = _mm256_extracti128_si256(pairs, 1);
        __m128i halves = _mm_add_epi16(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        halves = _mm_add_epi16(halves, _mm_shuffle_epi32(halves, 0x4e));
        const __m128i sums = _mm_madd_epi16(halves, _mm_set1_epi16(1));
        mtp::BlockSums out = {_mm_cvtsi128_si32(sums), _mm_extract_epi32(sums, 1), 0, {0, 0}};
        if constexpr (!kWideDot) {
            const __m128i both = _mm_add_epi16(halves, _mm_shuffle_epi32(halves, 0xb1));
            const __m128i centre32 = _mm_mullo_epi16(halves, _mm_set1_epi16(-32));
            out.centre16 = _mm_cvtsi128_si32(_mm_mullo_epi16(both, _mm_set1_epi16(-16)));
            out.centre32[0] = _mm_cvtsi128_si32(centre32);
            out.centre32[1] = _mm_extract_epi32(centre32, 1);
        }
        return out;
    }
    static I add_i(I a, I b) { return _mm256_add_epi32(a, b); }
    static void prefetch(const uint8_t* p) { _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T0); }
};

}  // namespace
