// All substrings of a growing token sequence, in O(1) amortised a token; finds the longest suffix that
// occurred before. (Blumer et al. 1985; for drafting: SAM decoding, arXiv 2411.10666.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mtp {

class SuffixAutomaton {
  public:
    SuffixAutomaton() { clear(); }
    void clear();
    void append(int32_t token);

    // The longest suffix of the sequence that also occurs earlier: its length, and where the earlier
    // occurrence ends (index of the token after it). Length 0: none.
    struct Match {
        int32_t state = 0;
        int64_t length = 0;
    };
    const Match& match() const { return match_; }
    int64_t match_length() const { return match_.length; }
    int64_t match_end() const { return end(match_); }
    int64_t end(const Match& match) const { return states_[static_cast<size_t>(match.state)].end; }
    // The match if the sequence went on with `token`, which is not taken in.
    Match advanced(Match match, int32_t token) const;

    // Different tokens have followed what matches.
    bool ambiguous() const { return out_[static_cast<size_t>(match_.state)].size() > 1; }

    const std::vector<int32_t>& tokens() const { return tokens_; }

  private:
    struct State {
        int32_t link = -1;
        int64_t length = 0;
        int64_t end = 0;  // one past the first occurrence
    };
    int32_t next(int32_t state, int32_t token) const;
    void set_next(int32_t state, int32_t token, int32_t to);

    std::vector<int32_t> tokens_;
    std::vector<State> states_;
    std::unordered_map<uint64_t, int32_t> edges_;  // (state, token) -> state
    std::vector<std::vector<int32_t>> out_;        // tokens on the edges of a state, for cloning
    int32_t last_ = 0;
    Match match_;
};

}  // namespace mtp
