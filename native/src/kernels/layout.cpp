#include "layout.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mtp {
namespace {

uint32_t load32(const uint8_t* p) {
    uint32_t v;
    std::memcpy(&v, p, 4);
    return v;
}

void store32(uint8_t* p, uint32_t v) { std::memcpy(p, &v, 4); }

// Where word j of row `lane` of a block lies: vector and lane.
struct Place {
    int vector, lane;
};

Place place(RowOrder order, int j, int lane) {
    if (order == RowOrder::lanes) return {j, lane};
    return {j / 2 * 2 + lane / 4, lane % 4 * 2 + j % 2};
}

// its byte in vectors that lie one behind the other
int word_at(RowOrder order, int j, int lane) {
    const Place at = place(order, j, lane);
    return 32 * at.vector + 4 * at.lane;
}

// nibbles of 32 columns of one row, byte i = column i | column (i + 16) << 4
void put_nibbles(uint8_t* block_nibbles, RowOrder order, int lane, const uint8_t* row16) {
    for (int j = 0; j < 4; j++) store32(block_nibbles + word_at(order, j, lane), load32(row16 + 4 * j));
}

// 32 columns of five bits of one row, from their nibbles (as in put_nibbles) and bit 4 of column c in
// bits[c]: four values a word
void five_words(const uint8_t* row16, uint32_t bits, uint32_t v[8]) {
    for (int j = 0; j < 8; j++) {
        const uint32_t nibbles = (load32(row16 + 4 * (j % 4)) >> (j < 4 ? 0 : 4)) & 0x0f0f0f0fu;
        const uint32_t four = (bits >> (4 * j)) & 15;                  // columns 4 j .. 4 j + 3
        v[j] = nibbles | (((four * 0x00204081u) & 0x01010101u) << 4);  // one bit a byte
    }
}

// word v[j] of every vector into lane L
void put_fives(uint8_t* fives, int lane, const uint32_t v[8]) {
    const uint32_t low3 = 0x07070707u, bit3 = 0x08080808u, bit4 = 0x10101010u, high2 = 0x18181818u;
    store32(fives + 4 * lane, v[0] | ((v[5] & low3) << 5));
    store32(fives + 32 + 4 * lane, v[1] | ((v[5] & high2) << 2) | ((v[7] & bit3) << 4));
    store32(fives + 64 + 4 * lane, v[2] | ((v[6] & low3) << 5));
    store32(fives + 96 + 4 * lane, v[3] | ((v[6] & high2) << 2) | ((v[7] & bit4) << 3));
    store32(fives + 128 + 4 * lane, v[4] | ((v[7] & low3) << 5));
}

// The 8 rows' words of five bits on their way into a block.
struct FiveRows {
    RowOrder order;
    uint32_t word[8][8];  // [lane][vector]

    void add(int row, const uint8_t* row16, uint32_t bits) {
        uint32_t v[8];
        five_words(row16, bits, v);
        for (int j = 0; j < 8; j++) {
            const Place at = place(order, j, row);
            word[at.lane][at.vector] = v[j];
        }
    }
    void put(uint8_t* fives) const {
        for (int lane = 0; lane < 8; lane++) put_fives(fives, lane, word[lane]);
    }
};

const uint8_t kZeroBlock[512] = {};

// --- one function per file type: 8 rows, one block (or super-block) ---------------------------------------

void pack_q4(uint8_t* dst, RowOrder order, const uint8_t* const rows[8], bool has_min) {
    const int header = has_min ? 4 : 2;
    for (int lane = 0; lane < 8; lane++) {
        std::memcpy(dst + 2 * lane, rows[lane], 2);
        if (has_min) std::memcpy(dst + 16 + 2 * lane, rows[lane] + 2, 2);
        put_nibbles(dst + (has_min ? 32 : 16), order, lane, rows[lane] + header);
    }
}

void pack_q5(uint8_t* dst, RowOrder order, const uint8_t* const rows[8], bool has_min) {
    const int header = has_min ? 4 : 2;
    FiveRows fives{order, {}};
    for (int lane = 0; lane < 8; lane++) {
        std::memcpy(dst + 2 * lane, rows[lane], 2);
        if (has_min) std::memcpy(dst + 16 + 2 * lane, rows[lane] + 2, 2);
        fives.add(lane, rows[lane] + header + 4, load32(rows[lane] + header));
    }
    fives.put(dst + (has_min ? 32 : 16));
}

void pack_q8(uint8_t* high, uint8_t* low, RowOrder order, const uint8_t* const rows[8]) {
    for (int lane = 0; lane < 8; lane++) {
        std::memcpy(high + 2 * lane, rows[lane], 2);
        const uint8_t* q = rows[lane] + 2;
        for (int j = 0; j < 4; j++) {
            const uint32_t first = load32(q + 4 * j) ^ 0x80808080u;
            const uint32_t second = load32(q + 16 + 4 * j) ^ 0x80808080u;
            const int at = word_at(order, j, lane);
            store32(high + 16 + at, ((first >> 4) & 0x0f0f0f0fu) | (second & 0xf0f0f0f0u));
            store32(low + at, (first & 0x0f0f0f0fu) | ((second << 4) & 0xf0f0f0f0u));
        }
    }
}

// residual norms of a block, one byte a row
void pack_residual(uint8_t* out, const uint8_t* const rows[8]) {
    for (int lane = 0; lane < 8; lane++) {
        const uint8_t* q = rows[lane] + 2;
        int sum = 0;  // of (2 low - 15)^2
        for (int i = 0; i < 32; i++) {
            const int twice = 2 * (q[i] & 15) - 15;
            sum += twice * twice;
        }
        const float norm = std::sqrt(static_cast<float>(sum)) / 2 * 1.00001f;
        out[lane] = static_cast<uint8_t>(std::max<float>(kResidualLeast, std::ceil(norm / kResidualUnit)));
    }
}

// scale and min of sub-block i (0..7) from the 12 packed bytes of a Q4_K / Q5_K super-block
void k_scale_min(const uint8_t* packed, int i, uint8_t* scale, uint8_t* min) {
    if (i < 4) {
        *scale = packed[i] & 63;
        *min = packed[i + 4] & 63;
    } else {
        *scale = static_cast<uint8_t>((packed[i + 4] & 15) | ((packed[i - 4] >> 6) << 4));
        *min = static_cast<uint8_t>((packed[i + 4] >> 4) | ((packed[i] >> 6) << 4));
    }
}

// nibbles of sub-block `sub`: 32 bytes hold two sub-blocks, low nibbles first
void k_nibbles(const uint8_t* qs, int sub, uint8_t out[16]) {
    const uint8_t* q = qs + 32 * (sub / 2);
    const int shift = 4 * (sub % 2);
    for (int i = 0; i < 16; i++) {
        out[i] = static_cast<uint8_t>(((q[i] >> shift) & 15) | (((q[i + 16] >> shift) & 15) << 4));
    }
}

// Q4_K: d dmin scales[12] qs[128]; Q5_K: d dmin scales[12] qh[32] qs[128]
void pack_q45_k(uint8_t* dst, RowOrder order, const uint8_t* const rows[8], bool five) {
    const int block = format_block_bytes(five ? Format::q5_k : Format::q4_k);
    for (int lane = 0; lane < 8; lane++) {
        std::memcpy(dst + 2 * lane, rows[lane], 2);
        std::memcpy(dst + 16 + 2 * lane, rows[lane] + 2, 2);
    }
    for (int sub = 0; sub < kSuperBlocks; sub++) {
        uint8_t* b = dst + 32 + sub * block;
        FiveRows fives{order, {}};
        for (int lane = 0; lane < 8; lane++) {
            const uint8_t* row = rows[lane];
            k_scale_min(row + 4, sub, b + lane, b + 8 + lane);
            uint8_t nibbles[16];
            k_nibbles(row + 16 + (five ? 32 : 0), sub, nibbles);
            if (five) {
                uint32_t bits = 0;
                for (int c = 0; c < 32; c++) bits |= static_cast<uint32_t>((row[16 + c] >> sub) & 1) << c;
                fives.add(lane, nibbles, bits);
            } else {
                put_nibbles(b + 16, order, lane, nibbles);
            }
        }
        if (five) fives.put(b + 16);
    }
}

// Q6_K: ql[128] qh[64] scales[16] d
void pack_q6_k(uint8_t* dst, RowOrder order, const uint8_t* const rows[8]) {
    constexpr int block = format_block_bytes(Format::q6_k);
    for (int lane = 0; lane < 8; lane++) {
        const uint8_t* row = rows[lane];
        std::memcpy(dst + 2 * lane, row + 208, 2);
        for (int sub = 0; sub < kSuperBlocks; sub++) {
            uint8_t* b = dst + 16 + sub * block;
            const int half = sub / 4;
            const int quarter = sub % 4;
            const uint8_t* ql = row + 64 * half + 32 * (quarter % 2);
            const uint8_t* qh = row + 128 + 32 * half;
            const int shift = 4 * (quarter / 2);
            b[lane] = row[192 + 2 * sub];
            b[8 + lane] = row[192 + 2 * sub + 1];
            uint8_t nibbles[16];
            for (int i = 0; i < 16; i++) {
                nibbles[i] =
                    static_cast<uint8_t>(((ql[i] >> shift) & 15) | (((ql[i + 16] >> shift) & 15) << 4));
            }
            uint32_t two[8];  // bits 4..5 of columns 4 j .. 4 j + 3
            for (int j = 0; j < 8; j++) two[j] = (load32(qh + 4 * j) >> (2 * quarter)) & 0x03030303u;
            for (int p = 0; p < 2; p++) {
                store32(b + 16 + word_at(order, p, lane),
                        two[p] | (two[p + 2] << 2) | (two[p + 4] << 4) | (two[p + 6] << 6));
            }
            put_nibbles(b + 80, order, lane, nibbles);
        }
    }
}

void pack_float(uint8_t* dst, const uint8_t* const rows[8], int64_t n_col, size_t width) {
    for (int64_t c = 0; c < n_col; c++) {
        for (int lane = 0; lane < 8; lane++) {
            uint8_t* to = dst + (static_cast<size_t>(c) * 8 + lane) * width;
            if (rows[lane]) {
                std::memcpy(to, rows[lane] + static_cast<size_t>(c) * width, width);
            } else {
                std::memset(to, 0, width);
            }
        }
    }
}

bool format_of(ggml_type type, Format* out) {
    switch (type) {
    case GGML_TYPE_F32:
        *out = Format::f32;
        return true;
    case GGML_TYPE_F16:
        *out = Format::f16;
        return true;
    case GGML_TYPE_BF16:
        *out = Format::bf16;
        return true;
    case GGML_TYPE_Q4_0:
        *out = Format::q4_0;
        return true;
    case GGML_TYPE_Q4_1:
        *out = Format::q4_1;
        return true;
    case GGML_TYPE_Q5_0:
        *out = Format::q5_0;
        return true;
    case GGML_TYPE_Q5_1:
        *out = Format::q5_1;
        return true;
    case GGML_TYPE_Q8_0:
        *out = Format::q8_0;
        return true;
    case GGML_TYPE_Q4_K:
        *out = Format::q4_k;
        return true;
    case GGML_TYPE_Q5_K:
        *out = Format::q5_k;
        return true;
    case GGML_TYPE_Q6_K:
        *out = Format::q6_k;
        return true;
    default:
        return false;
    }
}

size_t float_width(Format format) { return format == Format::f32 ? 4 : 2; }

}  // namespace

Status packed_shape(ggml_type type, int64_t n_col, int64_t n_row, RowOrder order, PackedMatrix* out) {
    Format format;
    if (!format_of(type, &format)) {
        return Status::error(Code::unsupported, std::string("weight type ") + ggml_type_name(type) +
                                                    " is not supported (use F32 F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 "
                                                    "Q5_1 Q4_K Q5_K or Q6_K)");
    }
    out->format = format;
    out->order = order;
    out->n_row = n_row;
    out->n_col = n_col;
    out->n_group = (n_row + kGroupRows - 1) / kGroupRows;
    if (format_is_float(format)) {
        out->group_bytes = n_col * 8 * static_cast<int64_t>(float_width(format));
    } else {
        out->group_bytes = out->n_block() * format_block_bytes(format) +
                           out->n_block() / kSuperBlocks * format_super_bytes(format);
    }
    return {};
}

void pack_groups(const PackedMatrix& m, uint8_t* dst, ggml_type type, const uint8_t* src, int64_t group0,
                 int64_t group1) {
    const size_t row_bytes = ggml_row_size(type, m.n_col);
    const size_t unit = ggml_type_size(type);  // file bytes of a block or super-block
    uint8_t* low_base = dst + m.n_group * m.group_bytes;
    uint8_t* residual_base = low_base + m.n_group * m.low_group_bytes();
    for (int64_t g = group0; g < group1; g++) {
        const uint8_t* rows[8];
        for (int lane = 0; lane < 8; lane++) {
            const int64_t row = g * 8 + lane;
            rows[lane] = row < m.n_row ? src + static_cast<size_t>(row) * row_bytes : nullptr;
        }
        uint8_t* to = dst + g * m.group_bytes;
        if (format_is_float(m.format)) {
            pack_float(to, rows, m.n_col, float_width(m.format));
            continue;
        }
        const bool is_super = format_super_bytes(m.format) > 0;
        const int64_t n_unit = is_super ? m.n_block() / kSuperBlocks : m.n_block();
        const int64_t unit_out =
            is_super ? format_super_bytes(m.format) + kSuperBlocks * format_block_bytes(m.format)
                     : format_block_bytes(m.format);
        for (int64_t u = 0; u < n_unit; u++) {
            const uint8_t* block[8];
            for (int lane = 0; lane < 8; lane++) {
                block[lane] = rows[lane] ? rows[lane] + static_cast<size_t>(u) * unit : kZeroBlock;
            }
            uint8_t* out = to + u * unit_out;
            switch (m.format) {
            case Format::q4_0:
                pack_q4(out, m.order, block, false);
                break;
            case Format::q4_1:
                pack_q4(out, m.order, block, true);
                break;
            case Format::q5_0:
                pack_q5(out, m.order, block, false);
                break;
            case Format::q5_1:
                pack_q5(out, m.order, block, true);
                break;
            case Format::q8_0:
                pack_q8(out, low_base + g * m.low_group_bytes() + u * 128, m.order, block);
                if (m.has_residual)
                    pack_residual(residual_base + g * m.residual_group_bytes() + u * 8, block);
                break;
            case Format::q4_k:
                pack_q45_k(out, m.order, block, false);
                break;
            case Format::q5_k:
                pack_q45_k(out, m.order, block, true);
                break;
            case Format::q6_k:
                pack_q6_k(out, m.order, block);
                break;
            default:
                break;
            }
        }
    }
}

// --- the embedding look-up --------------------------------------------------------------------------------

namespace {

float half_at(const uint8_t* p) {
    ggml_fp16_t h;
    std::memcpy(&h, p, 2);
    return ggml_fp16_to_fp32(h);
}

// the values of column c of row `lane` of a block
int nibble_at(const uint8_t* nibbles, RowOrder order, int lane, int c) {
    const int j = c / 4;
    const uint8_t byte = nibbles[word_at(order, j % 4, lane) + c % 4];
    return j < 4 ? byte & 15 : byte >> 4;
}

int five_at(const uint8_t* fives, RowOrder order, int lane, int c) {
    const Place at = place(order, c / 4, lane);
    const auto byte = [&](int i) { return int{fives[32 * i + 4 * at.lane + c % 4]}; };
    switch (at.vector) {
    case 5:
        return (byte(0) >> 5) | (((byte(1) >> 5) & 3) << 3);
    case 6:
        return (byte(2) >> 5) | (((byte(3) >> 5) & 3) << 3);
    case 7:
        return (byte(4) >> 5) | ((byte(1) >> 7) << 3) | ((byte(3) >> 7) << 4);
    default:
        return byte(at.vector) & 31;
    }
}

int sixth_at(const uint8_t* sixth, RowOrder order, int lane, int c) {
    const int j = c / 4;
    return (sixth[word_at(order, j % 2, lane) + c % 4] >> (2 * (j / 2))) & 3;
}

void unpack_float(const PackedMatrix& m, const uint8_t* group, int lane, float* out) {
    for (int64_t c = 0; c < m.n_col; c++) {
        const uint8_t* p = group + (c * 8 + lane) * static_cast<int64_t>(float_width(m.format));
        if (m.format == Format::f32) {
            std::memcpy(out + c, p, 4);
        } else if (m.format == Format::f16) {
            out[c] = half_at(p);
        } else {
            ggml_bf16_t h;
            std::memcpy(&h, p, 2);
            out[c] = ggml_bf16_to_fp32(h);
        }
    }
}

}  // namespace

void unpack_row(const PackedMatrix& m, int64_t row, float* out) {
    const int64_t g = row / kGroupRows;
    const int lane = static_cast<int>(row % kGroupRows);
    const uint8_t* p = m.data + g * m.group_bytes;
    if (format_is_float(m.format)) return unpack_float(m, p, lane, out);
    const uint8_t* low = m.low ? m.low + g * m.low_group_bytes() : nullptr;
    float d = 0, dmin = 0;
    for (int64_t b = 0; b < m.n_block(); b++, out += 32) {
        if (format_super_bytes(m.format) > 0 && b % kSuperBlocks == 0) {
            d = half_at(p + 2 * lane);
            if (m.format != Format::q6_k) dmin = half_at(p + 16 + 2 * lane);
            p += format_super_bytes(m.format);
        }
        for (int c = 0; c < 32; c++) {
            switch (m.format) {
            case Format::q4_0:
                out[c] = half_at(p + 2 * lane) * static_cast<float>(nibble_at(p + 16, m.order, lane, c) - 8);
                break;
            case Format::q4_1:
                out[c] = half_at(p + 2 * lane) * static_cast<float>(nibble_at(p + 32, m.order, lane, c)) +
                         half_at(p + 16 + 2 * lane);
                break;
            case Format::q5_0:
                out[c] = half_at(p + 2 * lane) * static_cast<float>(five_at(p + 16, m.order, lane, c) - 16);
                break;
            case Format::q5_1:
                out[c] = half_at(p + 2 * lane) * static_cast<float>(five_at(p + 32, m.order, lane, c)) +
                         half_at(p + 16 + 2 * lane);
                break;
            case Format::q8_0:
                out[c] = half_at(p + 2 * lane) * static_cast<float>(16 * nibble_at(p + 16, m.order, lane, c) +
                                                                    nibble_at(low, m.order, lane, c) - 128);
                break;
            case Format::q4_k:
                out[c] = d * static_cast<float>(p[lane]) *
                             static_cast<float>(nibble_at(p + 16, m.order, lane, c)) -
                         dmin * static_cast<float>(p[8 + lane]);
                break;
            case Format::q5_k:
                out[c] =
                    d * static_cast<float>(p[lane]) * static_cast<float>(five_at(p + 16, m.order, lane, c)) -
                    dmin * static_cast<float>(p[8 + lane]);
                break;
            case Format::q6_k: {
                const auto scale = static_cast<int8_t>(p[lane + (c < 16 ? 0 : 8)]);
                out[c] = d * static_cast<float>(scale) *
                         static_cast<float>(nibble_at(p + 80, m.order, lane, c) +
                                            16 * sixth_at(p + 16, m.order, lane, c) - 32);
                break;
            }
            default:
                break;
            }
        }
        p += format_block_bytes(m.format);
        if (low) low += 128;
    }
}

}  // namespace mtp
