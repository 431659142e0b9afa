// What a block of a stored matrix holds and where results go, over the vector primitives of `Simd`: what
// every kind of product shares.
#pragma once

#include "kernels.h"

namespace {

using namespace mtp;

// vector j of a block, offset to unsigned
template <int kBits> inline Simd::W weight_at(const uint8_t* nibbles, const uint8_t* extra, int j) {
    if constexpr (kBits == 5) {
        if (j < 5) return Simd::bits<0, 0, 0x1f>(Simd::load_w(nibbles + 32 * j));
        const Simd::W a = Simd::load_w(nibbles + (j == 5 ? 0 : j == 6 ? 64 : 128));
        const Simd::W low = Simd::bits<5, 0, 0x07>(a);
        const Simd::W b = Simd::load_w(nibbles + (j == 6 ? 96 : 32));
        if (j < 7) return Simd::join(low, Simd::bits<5, 3, 0x18>(b));
        const Simd::W c = Simd::load_w(nibbles + 96);
        return Simd::join(low, Simd::join(Simd::bits<7, 3, 0x08>(b), Simd::bits<7, 4, 0x10>(c)));
    }
    const Simd::W x = Simd::load_w(nibbles + 32 * (j % 4));
    const Simd::W low = j < 4 ? Simd::bits<0, 0, 0x0f>(x) : Simd::bits<4, 0, 0x0f>(x);
    if constexpr (kBits == 6) {
        const Simd::W y = Simd::load_w(extra + 32 * (j % 2));
        switch (j / 2) {
        case 0:
            return Simd::join(low, Simd::bits<0, 4, 0x30>(y));
        case 1:
            return Simd::join(low, Simd::bits<2, 4, 0x30>(y));
        case 2:
            return Simd::join(low, Simd::bits<4, 4, 0x30>(y));
        default:
            return Simd::join(low, Simd::bits<6, 4, 0x30>(y));
        }
    }
    return low;
}

// Bytes [from, from + kBytes) on their way from memory, which hides that they are far when their turn comes.
// (The processor's own prefetching does not keep up with these interleaved streams.)
template <int kBytes> inline void fetch(const uint8_t* from) {
    for (int at = 0; at < kBytes; at += 64) Simd::prefetch(from + at);
}

// What a quantised format is made of (Q8_0: its high plane).
template <Format kFormat> struct Form {
    static constexpr bool five =
        kFormat == Format::q5_0 || kFormat == Format::q5_1 || kFormat == Format::q5_k;
    static constexpr bool six = kFormat == Format::q6_k;
    static constexpr int bits = six ? 6 : five ? 5 : 4;
    static constexpr int block_bytes = format_block_bytes(kFormat);
    static constexpr int super_bytes = format_super_bytes(kFormat);
    static constexpr bool own_min = kFormat == Format::q4_1 || kFormat == Format::q5_1;  // f16, in each block
    static constexpr bool has_min = own_min || super_bytes == 32;
    static constexpr int halves = six ? 2 : 1;  // parts of a block with a scale each
    static constexpr int scale_bytes = six ? 16 + 64 : own_min ? 32 : 16;  // in front of the nibbles
};

// A block of a pair of groups as the matrix holds it; the second lies `pair` bytes after the first.
template <Format kFormat> struct StoredBlock {
    using Of = Form<kFormat>;
    const uint8_t* w;
    int64_t pair;
    Simd::F super_d[2], super_min[2];

    // reads what stands in front of a super-block and steps over it
    void enter_super() {
        for (int g = 0; g < 2; g++) {
            super_d[g] = Simd::f16(w + g * pair);
            if constexpr (Of::has_min) super_min[g] = Simd::f16(w + g * pair + 16);
        }
        w += Of::super_bytes;
    }
    Simd::W weight(int g, int j) const {
        const uint8_t* at = w + g * pair;
        return weight_at<Of::bits>(at + Of::scale_bytes, at + 16, j);
    }
    Simd::F scale(int g, int half) const {
        const uint8_t* at = w + g * pair + 8 * half;
        if constexpr (Of::super_bytes == 0) return Simd::f16(at);
        return Simd::mul(super_d[g], Of::six ? Simd::i8(at) : Simd::u8(at));
    }
    Simd::F min(int g) const {
        const uint8_t* at = w + g * pair;
        if constexpr (Of::own_min) return Simd::f16(at + 16);
        return Simd::sub(Simd::zero(), Simd::mul(super_min[g], Simd::u8(at + 8)));
    }
};

template <int K>
inline void write_group(const MatmulArgs& args, int64_t group, int c0, const Simd::F acc[K]) {
    const int64_t row = group * kGroupRows;
    const int64_t n = args.w->n_row - row < kGroupRows ? args.w->n_row - row : kGroupRows;
    for (int c = 0; c < K; c++) {
        float* out = args.out + (c0 + c) * args.out_stride + row - args.row0;
        if (n == kGroupRows) {
            Simd::store(out, args.add ? Simd::add(Simd::load(out), acc[c]) : acc[c]);
        } else {
            float lanes[8];
            Simd::store(lanes, acc[c]);
            for (int64_t i = 0; i < n; i++) out[i] = args.add ? out[i] + lanes[i] : lanes[i];
        }
    }
}

// 7 and 8 columns go as 4 + 3 and 4 + 4: six and a rest of one or two would decode the weights for little
inline int tile_width(int left) {
    if (left <= Simd::kTile) return left;
    return left <= 8 && Simd::kTile > 4 ? 4 : Simd::kTile;
}

}  // namespace
