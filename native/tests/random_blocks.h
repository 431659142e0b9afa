// Random weights as files hold them, made of whole numbers only: the same bytes on every machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "ggml.h"

// A small generator (xorshift), the same everywhere.
struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ULL + 1) {}
    uint32_t next() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<uint32_t>(state >> 32);
    }
    int below(int n) { return static_cast<int>(next() % static_cast<uint32_t>(n)); }
    // about normal: a sum of four uniform values, exact in float
    float normal() {
        int sum = 0;
        for (int i = 0; i < 4; i++) sum += below(4096);
        return static_cast<float>(sum - 8190) / 2048.0f;
    }
};

// f16 of 2^exponent times 1, 1.25, 1.5 or 1.75
inline uint16_t half_of(int exponent, Random& random) {
    return static_cast<uint16_t>(((exponent + 15) << 10) | (random.below(4) << 8));
}

inline void put16(uint8_t* to, uint16_t value) { std::memcpy(to, &value, 2); }

// `n` rows of `n_col` values, of a size of about 2^exponent; extreme: rows at one end of their range
inline std::vector<uint8_t> random_rows(ggml_type type, int64_t n, int64_t n_col, int exponent, bool extreme,
                                        Random& random) {
    const size_t unit = ggml_type_size(type), row_bytes = ggml_row_size(type, n_col);
    std::vector<uint8_t> bytes(static_cast<size_t>(n) * row_bytes);
    for (int64_t row = 0; row < n; row++) {
        uint8_t* to = bytes.data() + static_cast<size_t>(row) * row_bytes;
        if (type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16) {
            for (int64_t i = 0; i < n_col; i++) {
                float x = random.normal();
                for (int e = exponent; e < 0; e++) x /= 2;
                const ggml_fp16_t h = ggml_fp32_to_fp16(x);
                const ggml_bf16_t b = ggml_fp32_to_bf16(x);
                std::memcpy(to + static_cast<size_t>(i) * unit,
                            type == GGML_TYPE_F32   ? static_cast<const void*>(&x)
                            : type == GGML_TYPE_F16 ? static_cast<const void*>(&h)
                                                    : static_cast<const void*>(&b),
                            unit);
            }
            continue;
        }
        const uint8_t ends[3] = {0x00, 0xff, 0x80};
        const uint8_t end = ends[random.below(type == GGML_TYPE_Q8_0 ? 3 : 2)];
        for (size_t i = 0; i < row_bytes; i++) to[i] = extreme ? end : static_cast<uint8_t>(random.next());
        for (size_t at = 0; at < row_bytes; at += unit) {
            uint8_t* block = to + at;
            switch (type) {  // scales, so that a value is about 2^exponent
            case GGML_TYPE_Q8_0:
                put16(block, half_of(exponent - 6, random));
                break;
            case GGML_TYPE_Q4_0:
                put16(block, half_of(exponent - 2, random));
                break;
            case GGML_TYPE_Q5_0:
                put16(block, half_of(exponent - 3, random));
                break;
            case GGML_TYPE_Q4_1:
                put16(block, half_of(exponent - 2, random));
                put16(block + 2, static_cast<uint16_t>(half_of(exponent + 1, random) | 0x8000));
                break;
            case GGML_TYPE_Q5_1:
                put16(block, half_of(exponent - 3, random));
                put16(block + 2, static_cast<uint16_t>(half_of(exponent + 1, random) | 0x8000));
                break;
            case GGML_TYPE_Q4_K:  // scales of up to 63
                put16(block, half_of(exponent - 7, random));
                put16(block + 2, half_of(exponent - 4, random));
                break;
            case GGML_TYPE_Q5_K:
                put16(block, half_of(exponent - 8, random));
                put16(block + 2, half_of(exponent - 4, random));
                break;
            default:  // Q6_K: scales of up to 127
                put16(block + 208, half_of(exponent - 11, random));
            }
        }
    }
    return bytes;
}

constexpr ggml_type kTestTypes[] = {GGML_TYPE_F32,  GGML_TYPE_F16,  GGML_TYPE_BF16, GGML_TYPE_Q8_0,
                                    GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1,
                                    GGML_TYPE_Q4_K, GGML_TYPE_Q5_K, GGML_TYPE_Q6_K};
