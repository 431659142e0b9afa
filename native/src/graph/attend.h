// Attention of a few query rows over all they see, part by part.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../kernels/kernels.h"

namespace mtp {

constexpr int64_t part_floats(int head_dim) { return kPartFront + int64_t{head_dim}; }
constexpr int64_t attend_scratch(int head_dim) { return 2 * kQueryTile * part_floats(head_dim); }

// out[r] [head_dim] for at most kQueryTile rows; scratch: attend_scratch(head_dim) floats.
inline void attend_rows(const KernelSet& kernels, const AttentionArgs& args, float* const* out,
                        float* scratch) {
    const int64_t stride = part_floats(args.head_dim), span = attention_part(args.head_dim);
    float* state = scratch + kQueryTile * stride;
    for (int r = 0; r < args.n_query; r++) state[r * stride + 1] = 0;
    const int64_t begin = *std::min_element(args.first, args.first + args.n_query) / span;
    const int64_t end = *std::max_element(args.last, args.last + args.n_query) / span + 1;
    for (int64_t part = begin; part < end; part++) {
        kernels.attend_part(args, part, scratch, stride);
        for (int r = 0; r < args.n_query; r++)
            kernels.attend_join(args.head_dim, scratch + r * stride, state + r * stride);
    }
    for (int r = 0; r < args.n_query; r++) kernels.attend_finish(args.head_dim, state + r * stride, out[r]);
}

}  // namespace mtp
