// What to expect of drafting before anything is drafted: the chances that a head's outlook net gives,
// corrected by how they came out on this text.
#pragma once

#include <algorithm>
#include <cmath>

namespace mtp {

class DraftOutlook {
  public:
    // Chances by the net -> chances. `guessed`: copying has a guess.
    float copy(float chance) const { return copy_.corrected(chance); }
    float head(float chance, bool guessed) const { return head_[guessed].corrected(chance); }
    void learn_copy(float chance, bool was_right) { copy_.learn(chance, was_right); }
    void learn_head(float chance, bool guessed, bool was_right) { head_[guessed].learn(chance, was_right); }
    // A pass without the head: what was learnt of it ages, so that it is tried again some day.
    void forget_head(bool guessed) { head_[guessed].forget(); }

  private:
    // Chances of a net trained on other texts are in the right order but all too high or too low: one shift
    // of their logits, learnt by gradient steps, puts that right within a few dozen passes.
    class Shift {
      public:
        explicit Shift(float start) : start_(start), shift_(start) {}
        float corrected(float chance) const {
            const float p = std::clamp(chance, 0.01f, 0.99f);
            return 1 / (1 + std::exp(-std::log(p / (1 - p)) - shift_));
        }
        void learn(float chance, bool was_right) {
            constexpr float rate = 0.08f, most = 2.5f;
            shift_ += rate * ((was_right ? 1.0f : 0.0f) - corrected(chance));
            shift_ = std::clamp(shift_, -most, most);
        }
        void forget() { shift_ += 0.01f * (start_ - shift_); }

      private:
        float start_, shift_;
    };

    Shift copy_{-0.1f};
    Shift head_[2] = {Shift(-0.3f), Shift(-0.1f)};
};

}  // namespace mtp
