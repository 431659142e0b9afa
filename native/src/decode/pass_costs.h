// What passes cost on this machine: seconds by width, and by how much of the cache they look at.
#pragma once

#include <vector>

#include "engine.h"

namespace mtp {

struct PassCosts {
    std::vector<double> front;  // [16] seconds of a pass over k = 1..16 tokens with nothing before them
    std::vector<double> per_position;  // [16] what each position before them adds
    double depth = 0;                  // positions at which the second was measured; 0: not measured
    bool sound = true;                 // false: the machine was too busy with others to tell
};

// Takes about a quarter of a second. The cache is left as it was, but not the rows of the last pass: pass the
// last token again before going on. `tokens`: any real text.
Status measure_costs(Engine* engine, const std::vector<int32_t>& tokens, PassCosts* out);

}  // namespace mtp
