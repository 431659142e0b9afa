// How the ops of a pass divide their work among threads and columns.
#pragma once

#include <cstdint>

#include "ops.h"
#include "share.h"

namespace mtp {

template <class Fn>
void share(Op& op, int nth, int64_t n, int64_t steps_per_thread, Fn fn, int64_t multiple = 1) {
    share_units(op.next, nth, n, steps_per_thread, fn, multiple);
}

// The first token of the pass that an op works on.
inline int64_t first_token(const Op& op) { return op.tail ? op.context->pass.row0 : 0; }

}  // namespace mtp
