// Chances that are in the right order but all too high or too low on the text at hand: one shift of their
// logits, learnt by gradient steps, puts that right within a few dozen passes.
#pragma once

#include <algorithm>
#include <cmath>

namespace mtp {

class LogitShift {
  public:
    explicit LogitShift(float start, float rate) : start_(start), rate_(rate), shift_(start) {}
    static float logit(float chance) {
        const float p = std::clamp(chance, 0.01f, 0.99f);
        return std::log(p / (1 - p));
    }
    static float chance(float logit) { return 1 / (1 + std::exp(-logit)); }
    float corrected(float logit) const { return chance(logit + shift_); }
    // said: what `corrected` gave
    void learn(float said, bool was_right) {
        constexpr float most = 2.5f;
        shift_ = std::clamp(shift_ + rate_ * ((was_right ? 1.0f : 0.0f) - said), -most, most);
    }
    void forget() { shift_ += 0.01f * (start_ - shift_); }

  private:
    float start_, rate_, shift_;
};

}  // namespace mtp
