// Memory that a kernel works in.
#pragma once

#include <cstddef>

namespace mtp {

// At least `bytes` that belong to the calling thread until its next call; null when there are none. Aligned
// for any vector. Allocates only when a thread asks for more than ever before.
void* kernel_scratch(size_t bytes);

}  // namespace mtp
