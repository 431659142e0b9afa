// What is known about a head's drafts: how often they are right, and whether asking it pays.
#pragma once

#include "copy_guess.h"
#include "drafter.h"
#include "logit_shift.h"

namespace mtp {

class DraftHead {
  public:
    // A drafted token: kind says what copying says to it, confidence how likely it is right by the head's own
    // probability, its depth in the draft and the kind.
    static int kind(const Guess& guess, int32_t token) {
        return guess.kind == 0 ? 0 : guess.token == token ? 1 : 2;
    }
    float confidence(float probability, int depth, int kind) const;
    // said: the confidence it was given
    void learn(int kind, float said, bool was_right) { shift_[kind].learn(said, was_right); }
    // A first token that a copy proposes, too; and a copy whose first token the head does not. From
    // confidences.
    static float agreed(float head, float copy);
    static float denied(float copy);

    // False while asking the head has cost more than it gave; it is tried again, at growing distances.
    bool worth_asking();
    // After a pass that the head was asked for: tokens it gave, less those that the same time would have
    // given without the head.
    void learn_gain(double tokens);

  private:
    static constexpr float kRate = 0.05f;
    LogitShift shift_[3] = {LogitShift(0, kRate), LogitShift(0, kRate), LogitShift(0, kRate)};  // by kind
    double gain_ = 0.3;  // tokens a pass, lately
    int trial_ = 0;      // passes that the head is asked for whatever it gave
    int rest_ = 0;       // passes to sit out
    int next_rest_ = 0;
};

}  // namespace mtp
