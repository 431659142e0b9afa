// How the threads of an op divide its work: by a counter, so a slow core holds nobody up.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace mtp {

// Hands out units [begin, end) of `n` in steps, until none are left.
template <class Fn>
void share_units(std::atomic<int64_t>& next, int nth, int64_t n, int64_t steps_per_thread, Fn fn,
                 int64_t multiple = 1) {
    const int64_t step = std::max<int64_t>(1, n / (int64_t{nth} * steps_per_thread * multiple)) * multiple;
    for (int64_t begin; (begin = next.fetch_add(step, std::memory_order_relaxed)) < n;) {
        fn(begin, std::min(begin + step, n));
    }
}

}  // namespace mtp
