// What to expect of drafting before anything is drafted: the chances that a head's outlook net gives,
// corrected by how they came out on this text.
#pragma once

#include "logit_shift.h"

namespace mtp {

class DraftOutlook {
  public:
    // Chances by the net -> chances. `guessed`: copying has a guess.
    float copy(float chance) const { return copy_.corrected(LogitShift::logit(chance)); }
    float head(float chance, bool guessed) const {
        return head_[guessed].corrected(LogitShift::logit(chance));
    }
    void learn_copy(float chance, bool was_right) { copy_.learn(copy(chance), was_right); }
    void learn_head(float chance, bool guessed, bool was_right) {
        head_[guessed].learn(head(chance, guessed), was_right);
    }
    // A pass without the head: what was learnt of it ages, so that it is tried again some day.
    void forget_head(bool guessed) { head_[guessed].forget(); }

  private:
    static constexpr float kRate = 0.08f;
    LogitShift copy_{-0.1f, kRate};
    LogitShift head_[2] = {LogitShift(-0.3f, kRate), LogitShift(-0.1f, kRate)};
};

}  // namespace mtp
