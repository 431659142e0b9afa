#include "draft_head.h"

#include <algorithm>
#include <cmath>

namespace mtp {
namespace {

constexpr int kTrial = 6, kLeastRest = 8, kMostRest = 128;
// Logistic regression over 6,500 tokens that SmolLM2's head drafted beside copying, for answers about
// software manuals and to everyday questions.
constexpr float kConstant = -0.94f, kSlope = 0.67f;  // of the head's own logit
constexpr float kKind[3] = {0, 0.53f, 0.10f};
constexpr float kLater[3] = {0.38f, 0.31f, -0.07f};  // behind the first token, by kind
constexpr float kMuchLater = 0.24f;                  // behind the second

}  // namespace

float DraftHead::confidence(float probability, int depth, int kind) const {
    float logit = kConstant + kSlope * LogitShift::logit(probability) + kKind[kind];
    if (depth > 0) logit += kLater[kind];
    if (depth > 1) logit += kMuchLater;
    return std::clamp(shift_[kind].corrected(logit), 0.01f, 0.99f);
}

// Regressions as above, over 900 passes.
float DraftHead::agreed(float head, float copy) {
    return LogitShift::chance(0.40f + 0.70f * LogitShift::logit(head) + 0.63f * LogitShift::logit(copy));
}

float DraftHead::denied(float copy) { return LogitShift::chance(-2.16f + 0.43f * LogitShift::logit(copy)); }

bool DraftHead::worth_asking() {
    if (rest_ > 0) {
        if (--rest_ > 0) return false;
        trial_ = kTrial;
        gain_ = 0;
    }
    return true;
}

void DraftHead::learn_gain(double tokens) {
    gain_ += 0.1 * (tokens - gain_);
    if (trial_ > 0) trial_--;
    if (gain_ >= 0) {
        if (trial_ == 0) next_rest_ = 0;
    } else if (trial_ == 0) {
        next_rest_ = std::clamp(2 * next_rest_, kLeastRest, kMostRest);
        rest_ = next_rest_;
    }
}

}  // namespace mtp
