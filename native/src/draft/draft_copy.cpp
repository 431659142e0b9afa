#include "draft_copy.h"

#include <algorithm>

#include "copy_priors.h"

namespace mtp {

void Calibration::init(const std::vector<float>& prior, float weight, float memory) {
    memory_ = memory;
    total_.assign(prior.size(), weight);
    right_.clear();
    for (const float p : prior) right_.push_back(weight * p);
}

void Calibration::learn(int cell, bool was_right) {
    float& right = right_[static_cast<size_t>(cell)];
    float& total = total_[static_cast<size_t>(cell)];
    right += was_right ? 1.0f : 0.0f;
    total += 1;
    if (total > memory_) {
        right *= memory_ / total;
        total = memory_;
    }
}

namespace {

// A proposal's cell in the calibration: kind, tokens that agreed so far, depth in the draft, whether
// different tokens have followed the match before, and how the last draft fared.
int length_class(int64_t n) {
    if (n < 4) return static_cast<int>(n);
    return n < 8 ? 4 : n < 16 ? 5 : 6;
}

int depth_class(int depth) { return depth < 4 ? depth : depth < 8 ? 4 : 5; }

int cell_of(bool from_source, int64_t agreed, int depth, bool ambiguous, int outcome) {
    const int base =
        ((from_source ? kCopyLengths : 0) + length_class(agreed)) * kCopyDepths + depth_class(depth);
    return (base * 2 + (ambiguous ? 1 : 0)) * kCopyOutcomes + outcome;
}

}  // namespace

DraftCopy::DraftCopy() {
    std::vector<float> prior;
    for (const bool from_source : {false, true}) {
        for (int length = 0; length < kCopyLengths; length++) {
            for (int depth = 0; depth < kCopyDepths; depth++) {
                for (const bool ambiguous : {false, true}) {
                    const auto& first = from_source ? kFirstSource
                                        : ambiguous ? kFirstAmbiguous
                                                    : kFirstSuffix;
                    const auto& later = from_source ? kLaterSource
                                        : ambiguous ? kLaterAmbiguous
                                                    : kLaterSuffix;
                    for (int outcome = 0; outcome < kCopyOutcomes; outcome++)
                        prior.push_back(depth == 0 ? first[length][outcome] : later[length][depth - 1]);
                }
            }
        }
    }
    calibration_.init(prior, 6, 32);
}

void DraftCopy::learn_outcome(int tested, int accepted) {
    outcome_ = accepted == 0 ? 0 : accepted < tested ? 1 : 2;
}

void DraftCopy::start(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source) {
    suffix_.clear();
    for (const int32_t token : prompt) suffix_.append(token);
    source_.start(source);
}

void DraftCopy::append(int32_t token) {
    suffix_.append(token);
    source_.append(token);
}

void DraftCopy::propose(int max, Draft* from_source, Draft* from_suffix) const {
    from_source->clear();
    from_suffix->clear();
    const auto fill = [&](Draft* draft, const std::vector<int32_t>& text, int64_t at, bool is_source,
                          int64_t agreed, bool ambiguous) {
        for (int d = 0; d < max && at + d < static_cast<int64_t>(text.size()); d++) {
            const int cell = cell_of(is_source, agreed, d, ambiguous, outcome_);
            draft->push(text[static_cast<size_t>(at + d)], Source::copy, calibration_.share(cell), cell);
        }
    };
    if (source_.active()) fill(from_source, source_.source(), source_.position(), true, source_.run(), false);
    if (suffix_.match_length() > 0) {
        fill(from_suffix, suffix_.tokens(), suffix_.match_end(), false, suffix_.match_length(),
             suffix_.ambiguous());
    }
}

}  // namespace mtp
