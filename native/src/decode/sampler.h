// Which token a row of logits stands for: the arg-max, or a draw that depends on seed, position and row only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../graph/candidate.h"

namespace mtp {

struct SamplingOptions {
    float temperature = 0;  // 0: the arg-max
    int top_k = 0;          // 0: all
    float top_p = 1;
    float min_p = 0;
    float repeat_penalty = 1;
    int repeat_last = 64;  // tokens that the penalty looks back at
    uint64_t seed = 0;

    // Whether the arg-max of the untouched logits is the answer.
    bool plain_greedy() const { return temperature <= 0 && repeat_penalty == 1; }
};

class Sampler {
  public:
    explicit Sampler(const SamplingOptions& options) : options_(options) {}
    const SamplingOptions& options() const { return options_; }

    // logits: [n], may be changed. history: tokens before `position`, the last of them newest.
    // In order: repetition penalty, top-k, top-p (of what top-k left), min-p, temperature, one draw.
    int32_t choose(float* logits, int32_t n, int64_t position, const std::vector<int32_t>& history);

    // The same draw from all tokens that reach some logit, by token, if wants_candidates() and all that the
    // options allow are among them.
    int32_t choose_among(std::vector<Candidate>* candidates, int64_t position);
    // Whether the draw is between few tokens whatever the others are.
    bool wants_candidates() const;

  private:
    void penalise(float* logits, const std::vector<int32_t>& history);
    void sort_until(size_t n);
    int32_t draw(float top, double total, int64_t position);

    SamplingOptions options_;
    std::vector<Candidate> candidates_;
    std::vector<double> weights_;
    size_t sorted_ = 0;
};

// A uniform number in [0, 1) for (seed, position): a counter-based generator (Salmon et al. 2011, Philox
// 2x64-10).
double uniform_at(uint64_t seed, uint64_t position);

}  // namespace mtp
