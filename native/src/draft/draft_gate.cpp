#include "draft_gate.h"

#include <algorithm>

namespace mtp {

void DraftGate::set_costs(const std::vector<double>& front, const std::vector<double>& per_position,
                          bool fixed, double step) {
    front_ = front;
    per_position_ = per_position;
    per_position_.resize(front.size(), 0.0);
    factor_.assign(front.size(), 1.0);
    fixed_ = fixed;
    pace_ = 1;
    seen_ = 0;
    set_depth(0);
    step_ = step > 0 || cost_.empty() ? step : kStepShare * cost_[0];
}

void DraftGate::set_depth(double positions) {
    depth_ = positions;
    cost_.resize(front_.size());
    for (size_t i = 0; i < cost_.size(); i++) {
        cost_[i] = factor_[i] * (front_[i] + depth_ * per_position_[i]);
        // a wider pass is never cheaper
        if (i > 0) cost_[i] = std::max(cost_[i], cost_[i - 1]);
    }
}

// Expected tokens: 1 + S_1 + .. + S_g, where S_d is the product of the first d confidences.
DraftGate::Choice DraftGate::choose(const Draft& draft, double spent) const {
    Choice best{0, 1.0 / (cost_[0] + spent)};
    double survival = 1, expected = 1;
    for (size_t g = 1; g <= draft.tokens.size() && g < cost_.size(); g++) {
        survival *= static_cast<double>(draft.confidence[g - 1]);
        expected += survival;
        const double rate = expected / (cost_[g] + spent);
        if (rate > best.rate) best = {static_cast<int>(g), rate};
    }
    return best;
}

bool DraftGate::goes_on(const Draft& draft, double spent) const {
    constexpr double hopeful = 0.5;  // confidence of a token that is not drafted yet
    const size_t g = draft.tokens.size() + 1;
    if (g >= cost_.size()) return false;
    double survival = 1, expected = 1;
    for (const float confidence : draft.confidence) {
        survival *= static_cast<double>(confidence);
        expected += survival;
    }
    const double rate = std::max(choose(draft, spent).rate, expected / (cost_[g - 1] + spent));
    return (expected + hopeful * survival) / (cost_[g] + spent + step_) > rate;
}

void DraftGate::learn(int k, double seconds) {
    if (fixed_ || cost_.empty() || k < 1 || k > static_cast<int>(cost_.size())) return;
    // One pass may have been interrupted. Costs that are wrong altogether are still caught up with.
    const double ratio = std::clamp(seconds / cost_[static_cast<size_t>(k - 1)], 0.5 * pace_, 2 * pace_);
    pace_ += 0.1 * (ratio - pace_);
    factor_[static_cast<size_t>(k - 1)] *= 1 + 0.03 * std::clamp(ratio / pace_ - 1, -0.5, 0.5);
    seen_++;
}

// One step says little: it may have been interrupted, and the machine may be busy.
void DraftGate::learn_step(double seconds) {
    if (fixed_ || cost_.empty()) return;
    step_ += 0.05 * (std::clamp(seconds / pace_, 0.5 * step_, 2 * step_) - step_);
}

}  // namespace mtp
