// Drafts by copying: from the source text at the place where the answer stands, or after the longest suffix
// that occurred before in prompt or answer. Needs no training and costs less than a microsecond.
#pragma once

#include <vector>

#include "copy_guess.h"
#include "drafter.h"
#include "source_align.h"
#include "suffix_automaton.h"

namespace mtp {

class DraftCopy {
  public:
    DraftCopy();
    // source: what the answer is expected to repeat with edits, as tokens of the answer; may be empty
    void start(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source);
    void append(int32_t token);
    // Two ways to go on, each maybe empty; the caller takes the better one. draft tokens: at most `max`
    void propose(int max, Draft* from_source, Draft* from_suffix) const;
    // How the last draft fared: tested tokens, and those of them that were right.
    void learn_outcome(int tested, int accepted);
    CopyGuess guess() const { return CopyGuess(suffix_, source_); }  // valid as long as this
    void learn(int cell, bool was_right) { calibration_.learn(cell, was_right); }

  private:
    SuffixAutomaton suffix_;
    SourceAlign source_;
    Calibration calibration_;
    int outcome_ = 1;
};

}  // namespace mtp
