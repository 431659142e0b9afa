#include "lenient.h"

#include <algorithm>
#include <cmath>

namespace mtp {

bool lenient_accepts(LenientRule rule, double alpha, const float* logits, int32_t n, int32_t draft,
                     double q) {
    if (rule == LenientRule::off) return false;
    if (rule == LenientRule::chow) return q >= 1 - alpha;
    const float top = *std::max_element(logits, logits + n);
    if (rule == LenientRule::token_v3) {  // p(v) >= (1 - alpha) max p
        return alpha >= 1 || static_cast<double>(logits[draft] - top) >= std::log1p(-alpha);
    }
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += std::exp(static_cast<double>(logits[i] - top));
    const double p_top = 1 / sum;
    const double p_draft = std::exp(static_cast<double>(logits[draft] - top)) / sum;
    switch (rule) {
    case LenientRule::diff:
        return q >= p_top - alpha;
    // total variation between p and the one-token draft: what p has elsewhere
    case LenientRule::opt:
        return q >= p_top - alpha * (1 - p_draft);
    case LenientRule::token_v1:
        return q >= p_top - alpha;
    case LenientRule::token_v2:
        return p_draft >= p_top - alpha;
    default:
        return false;
    }
}

}  // namespace mtp
