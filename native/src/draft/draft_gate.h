// How long a draft may be: the length that gives most expected tokens per second on this machine, 0 included.
#pragma once

#include <vector>

#include "drafter.h"

namespace mtp {

class DraftGate {
  public:
    // cost[k - 1]: seconds of a pass over k tokens, k = 1..16
    // step: seconds of a head's draft step, 0 if not known yet
    // fixed: all this stays as it is, whatever passes take
    void set_costs(const std::vector<double>& cost, bool fixed = false, double step = 0) {
        cost_ = cost;
        fixed_ = fixed;
        pace_ = 1;
        step_ = step > 0 || cost.empty() ? step : kStepShare * cost[0];
    }
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
    // What a pass over k tokens took just now: corrects the shape of the curve, slowly.
    void learn(int k, double seconds);
    // What a draft step took just now.
    void learn_step(double seconds);

  private:
    static constexpr double kStepShare = 0.09;  // of a pass over one token, until steps are measured

    std::vector<double> cost_;
    bool fixed_ = false;
    double step_ = 0;
    // how much slower than the curve passes are right now: drift that is no one width's fault
    double pace_ = 1;
};

}  // namespace mtp
