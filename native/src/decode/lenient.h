// Speculative cascades: when a draft may stand although the backbone would have said something else.
// (Narasimhan et al., ICLR 2025, arXiv 2405.19261.) A copied draft is a distribution with all its weight on
// one token; q is the drafter's confidence in it.
#pragma once

#include <cstdint>

namespace mtp {

enum class LenientRule : uint8_t { off, chow, diff, opt, token_v1, token_v2, token_v3 };

// logits: [n] of the backbone at this position. True: keep the draft.
bool lenient_accepts(LenientRule rule, double alpha, const float* logits, int32_t n, int32_t draft, double q);

}  // namespace mtp
