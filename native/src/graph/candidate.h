// A token that a draw may choose.
#pragma once

#include <cstdint>

namespace mtp {

struct Candidate {
    float logit;
    int32_t token;
};

}  // namespace mtp
