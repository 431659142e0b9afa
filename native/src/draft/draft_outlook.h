// What to expect of drafting before anything is drafted: the chances that a head's outlook net gives,
// corrected by how they came out on this text.
#pragma once

#include <algorithm>
#include <vector>

#include "drafter.h"

namespace mtp {

class DraftOutlook {
  public:
    DraftOutlook() {
        std::vector<float> prior;
        for (int bin = 0; bin < kBins; bin++)
            prior.push_back((static_cast<float>(bin) + 0.5f) / static_cast<float>(kBins));
        copy_.init(prior, 12, 96);
        head_.init(prior, 12, 96);
    }
    // Chances by the net -> chances.
    float copy(float chance) const { return corrected(copy_, chance); }
    float head(float chance) const { return corrected(head_, chance); }
    void learn_copy(float chance, bool was_right) { copy_.learn(bin(chance), was_right); }
    void learn_head(float chance, bool was_right) { head_.learn(bin(chance), was_right); }

  private:
    static constexpr int kBins = 10;
    static int bin(float chance) { return std::clamp(static_cast<int>(chance * kBins), 0, kBins - 1); }
    // the net's own order inside a bin is kept
    static float corrected(const Calibration& table, float chance) {
        const float centre = (static_cast<float>(bin(chance)) + 0.5f) / static_cast<float>(kBins);
        return std::clamp(chance + table.share(bin(chance)) - centre, 0.01f, 0.99f);
    }

    Calibration copy_, head_;
};

}  // namespace mtp
