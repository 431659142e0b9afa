// What a drafter is: it follows the committed tokens and proposes the next ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mtp {

enum class Source : uint8_t { backbone, copy, head };

constexpr int kMaxDraft = 15;  // with the pending token, a pass of 16

struct Draft {
    std::vector<int32_t> tokens;    // at most kMaxDraft
    std::vector<Source> source;     // who drafted each token
    std::vector<float> confidence;  // of each token, given that those before it were right
    std::vector<int> cell;  // its kind by its drafter's calibration, one a token; none: not calibrated
    void clear() {
        tokens.clear();
        source.clear();
        confidence.clear();
        cell.clear();
    }
    void push(int32_t token, Source from, float sure, int at) {
        tokens.push_back(token);
        source.push_back(from);
        confidence.push_back(sure);
        cell.push_back(at);
    }
};

// Share of right tokens by kind of proposal, learnt while decoding. Old counts fade, so that a text that
// turns is noticed within a few tokens.
class Calibration {
  public:
    // A prior counts as much as `weight` tokens; about `memory` tokens are remembered.
    void init(const std::vector<float>& prior, float weight = 4, float memory = 24);
    float share(int cell) const {
        return right_[static_cast<size_t>(cell)] / total_[static_cast<size_t>(cell)];
    }
    void learn(int cell, bool was_right);

  private:
    std::vector<float> right_, total_;
    float memory_ = 24;
};

}  // namespace mtp
