// How long a draft may be: the length that gives most expected tokens per second on this machine, 0 included.
#pragma once

#include <vector>

#include "drafter.h"

namespace mtp {

class DraftGate {
  public:
    // front[k - 1]: seconds of a pass over k = 1..16 tokens with nothing before them
    // per_position[k - 1]: what each position that the pass looks back at adds; empty: nothing
    // step: seconds of a head's draft step, 0 if not known yet
    // fixed: all this stays as it is, whatever passes take
    void set_costs(const std::vector<double>& front, const std::vector<double>& per_position = {},
                   bool fixed = false, double step = 0);
    // Positions that the next pass looks back at, averaged over the layers.
    void set_depth(double positions);
    // [16] seconds at that depth, as passes have shown them so far
    const std::vector<double>& costs() const { return cost_; }
    bool ready() const { return !cost_.empty(); }
    double cost(int k) const { return cost_[static_cast<size_t>(k - 1)]; }
    double step_cost() const { return step_; }

    // Tokens per second if the first g tokens of the draft are tested; the best g and its rate.
    struct Choice {
        int length = 0;
        double rate = 0;
    };
    // spent: seconds that drafting took, whatever is tested now
    Choice choose(const Draft& draft, double spent = 0) const;
    // Whether one more draft step may pay.
    bool goes_on(const Draft& draft, double spent) const;
    // What a pass over k tokens took just now: corrects the shape of the curve, slowly. (At the depth set.)
    void learn(int k, double seconds);
    // What a draft step took just now.
    void learn_step(double seconds);
    // How much slower than `costs` passes are right now, on whatever width; 1 until some were seen.
    double pace() const { return seen_ < kSettled ? 1 : pace_; }

  private:
    static constexpr double kStepShare = 0.09;  // of a pass over one token, until steps are measured
    static constexpr int kSettled = 24;         // passes until the pace says something

    std::vector<double> front_, per_position_, cost_;
    std::vector<double> factor_;  // learnt corrections of each width
    double depth_ = 0;
    int seen_ = 0;
    bool fixed_ = false;
    double step_ = 0;
    // drift that is no one width's fault: a processor that slows down, or costs measured on a busy machine
    double pace_ = 1;
};

}  // namespace mtp
