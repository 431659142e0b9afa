// A number from unaligned little-endian bytes.
#pragma once

#include <cstdint>
#include <cstring>

namespace mtp {

template <typename T> T read_at(const uint8_t* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

}  // namespace mtp
