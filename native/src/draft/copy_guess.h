// What copying would say next, as one token and how much speaks for it: an input of the head. It can be asked
// for drafted tokens too, which are not part of the text yet.
#pragma once

#include <vector>

#include "source_align.h"
#include "suffix_automaton.h"

namespace mtp {

constexpr int kGuessClasses = 16;  // 0: none; 1..7: after a suffix match; 8..15: from the source
constexpr int kFirstSourceKind = 8;

struct Guess {
    int32_t token = -1;  // -1: none
    int kind = 0;        // [0, kGuessClasses)
};

class CopyGuess {
  public:
    // Both must outlive it; it stands where they stand.
    CopyGuess(const SuffixAutomaton& suffix, const SourceAlign& source)
        : suffix_(&suffix), source_(&source) {}
    // Back to where the text stands.
    void reset();
    void append(int32_t token);  // a drafted token
    Guess guess() const;

  private:
    const SuffixAutomaton* suffix_;
    const SourceAlign* source_;
    SuffixAutomaton::Match match_;
    SourceAlign ahead_;
};

// For training: the guess for every token of `prompt` and `answer`, made from the tokens before it.
std::vector<Guess> copy_guesses(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source,
                                const std::vector<int32_t>& answer);

}  // namespace mtp
