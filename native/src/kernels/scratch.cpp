#include "scratch.h"

#include <cstdint>
#include <memory>
#include <new>

namespace mtp {

void* kernel_scratch(size_t bytes) {
    constexpr size_t align = 64;
    thread_local std::unique_ptr<uint8_t[]> held;
    thread_local size_t size = 0;
    if (size < bytes) {
        held.reset();  // first, so that both never exist
        held.reset(new (std::nothrow) uint8_t[bytes + align]);
        size = held ? bytes : 0;
    }
    if (!held) return nullptr;
    return held.get() + (align - reinterpret_cast<uintptr_t>(held.get()) % align) % align;
}

}  // namespace mtp
