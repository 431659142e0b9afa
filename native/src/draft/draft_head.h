// What is known about a head's drafts: how often they are right, and whether asking it pays.
#pragma once

#include "copy_guess.h"
#include "drafter.h"

namespace mtp {

class DraftHead {
  public:
    DraftHead();
    // The cell of a drafted token: by the head's own probability, depth, and what copying says.
    static int cell(float probability, int depth, const Guess& guess, int32_t token);
    float confidence(int cell) const { return calibration_.share(cell); }
    void learn(int cell, bool was_right) { calibration_.learn(cell, was_right); }

    // False while asking the head has cost more than it gave; it is tried again, at growing distances.
    bool worth_asking();
    // After a pass that the head was asked for: tokens it gave, less those that the same time would have
    // given without the head.
    void learn_gain(double tokens);

  private:
    Calibration calibration_;
    double gain_ = 0.3;  // tokens a pass, lately
    int trial_ = 0;      // passes that the head is asked for whatever it gave
    int rest_ = 0;       // passes to sit out
    int next_rest_ = 0;
};

}  // namespace mtp
