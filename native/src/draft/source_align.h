// Where in its source a text stands that is being copied with edits: the source position of least edit
// distance, in a band around the last one. (Drafting the source itself: aggressive decoding, arXiv
// 2106.04970.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mtp {

class SourceAlign {
  public:
    void start(std::vector<int32_t> source);
    void append(int32_t token);

    bool active() const { return !source_.empty(); }
    // Index of the source token that should come next; source length when it is used up.
    int64_t position() const { return position_; }
    int64_t run() const { return run_; }     // tokens that agreed since the last edit
    int64_t edits() const { return cost_; }  // edit distance so far
    const std::vector<int32_t>& source() const { return source_; }

  private:
    static constexpr int64_t kBand = 24;
    std::vector<int32_t> source_;
    std::vector<int32_t> distance_;  // [source + 1] of the output so far to each prefix of the source
    int64_t position_ = 0;
    int64_t run_ = 0;
    int64_t cost_ = 0;
    int64_t low_ = 0, high_ = 0;  // the band: distances outside of it are not kept
};

}  // namespace mtp
