#include "source_align.h"

#include <algorithm>

namespace mtp {
namespace {

constexpr int32_t kFar = 1 << 28;

}  // namespace

void SourceAlign::start(std::vector<int32_t> source) {
    source_ = std::move(source);
    const auto n = static_cast<int64_t>(source_.size());
    position_ = run_ = cost_ = low_ = 0;
    high_ = std::min(n, kBand);
    distance_.assign(static_cast<size_t>(n) + 1, kFar);
    for (int64_t j = 0; j <= high_; j++) distance_[static_cast<size_t>(j)] = static_cast<int32_t>(j);
}

// One row of the edit-distance table, in place, over the band.
void SourceAlign::append(int32_t token) {
    if (source_.empty()) return;
    const auto n = static_cast<int64_t>(source_.size());
    const bool agrees = position_ < n && source_[static_cast<size_t>(position_)] == token;
    const int64_t low = std::max(low_, position_ - kBand), high = std::min(n, position_ + 1 + kBand);
    for (int64_t j = high_ + 1; j <= high; j++) distance_[static_cast<size_t>(j)] = kFar;
    // left of the band nothing is kept up to date
    int32_t diagonal = low > low_ ? distance_[static_cast<size_t>(low - 1)] : kFar;
    int64_t best = low;
    int32_t best_cost = kFar;
    for (int64_t j = low; j <= high; j++) {
        int32_t& cell = distance_[static_cast<size_t>(j)];
        const int32_t above = cell;
        int32_t cost = above + 1;  // an inserted token
        if (j > 0) {
            const bool same = source_[static_cast<size_t>(j - 1)] == token;
            cost = std::min(cost, diagonal + (same ? 0 : 1));
            if (j > low) cost = std::min(cost, distance_[static_cast<size_t>(j - 1)] + 1);  // a dropped one
        }
        diagonal = above;
        cell = std::min(cost, kFar);
        // of equals the one that goes on straight from the last position
        const int64_t off = j > position_ + 1 ? j - position_ - 1 : position_ + 1 - j;
        const int64_t best_off = best > position_ + 1 ? best - position_ - 1 : position_ + 1 - best;
        if (cell < best_cost || (cell == best_cost && off < best_off)) {
            best_cost = cell;
            best = j;
        }
    }
    low_ = low;
    high_ = high;
    run_ = agrees && best == position_ + 1
               ? run_ + 1
               : (best > 0 && source_[static_cast<size_t>(best - 1)] == token ? 1 : 0);
    position_ = best;
    cost_ = best_cost;
}

}  // namespace mtp
