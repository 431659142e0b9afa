#include "draft_head.h"

#include <algorithm>
#include <cmath>

namespace mtp {
namespace {

constexpr int kBins = 10;   // of the head's probability
constexpr int kDepths = 4;  // 1st, 2nd, 3rd and later tokens of a draft
constexpr int kAgrees = 3;  // copying says nothing, the same, something else
constexpr int kTrial = 6, kLeastRest = 8, kMostRest = 128;
// Shares of right tokens by bin, as measured on held-out answers.
constexpr float kPrior[kBins] = {0.12f, 0.18f, 0.27f, 0.37f, 0.46f, 0.55f, 0.66f, 0.75f, 0.84f, 0.95f};

}  // namespace

DraftHead::DraftHead() {
    std::vector<float> prior;
    for (const float p : kPrior) prior.insert(prior.end(), kDepths * kAgrees, p);
    calibration_.init(prior);
}

int DraftHead::cell(float probability, int depth, const Guess& guess, int32_t token) {
    const int bin = std::clamp(static_cast<int>(probability * kBins), 0, kBins - 1);
    const int agrees = guess.kind == 0 ? 0 : guess.token == token ? 1 : 2;
    return (bin * kDepths + std::min(depth, kDepths - 1)) * kAgrees + agrees;
}

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
