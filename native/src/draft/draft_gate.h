// How long a draft may be: the length that gives most expected tokens per second on this machine, 0 included.
#pragma once

#include <vector>

#include "drafter.h"

namespace mtp {

class DraftGate {
  public:
    // cost[k - 1]: seconds of a pass over k tokens, k = 1..16
    // fixed: the curve stays as it is, whatever passes take
    void set_costs(const std::vector<double>& cost, bool fixed = false) {
        cost_ = cost;
        fixed_ = fixed;
        pace_ = 1;
    }
    const std::vector<double>& costs() const { return cost_; }
    bool ready() const { return !cost_.empty(); }
    // How much slower than the curve everything is right now: what took `seconds`, as the curve would have
    // it.
    double on_curve(double seconds) const { return seconds / pace_; }
    double cost(int k) const { return cost_[static_cast<size_t>(k - 1)]; }

    // Tokens per second if the first g tokens of the draft are tested; the best g and its rate.
    struct Choice {
        int length = 0;
        double rate = 0;
    };
    // spent: seconds that drafting took, whatever is tested now
    Choice choose(const Draft& draft, double spent = 0) const;
    // Whether drafting one more token, which takes `seconds`, may pay.
    bool goes_on(const Draft& draft, double spent, double seconds) const;
    // What a pass over k tokens took just now: corrects the shape of the curve, slowly.
    void learn(int k, double seconds);

  private:
    std::vector<double> cost_;
    bool fixed_ = false;
    double pace_ =
        1;  // how much slower than the curve passes are right now: drift that is no one width's fault
};

}  // namespace mtp
