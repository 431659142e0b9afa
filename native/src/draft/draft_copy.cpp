#include "draft_copy.h"

#include <algorithm>

namespace mtp {

void Calibration::init(const std::vector<float>& prior) {
    constexpr float weight = 4;  // a prior counts as much as this many tokens
    total_.assign(prior.size(), weight);
    right_.clear();
    for (const float p : prior) right_.push_back(weight * p);
}

void Calibration::learn(int cell, bool was_right) {
    constexpr float memory = 24;  // tokens
    float& right = right_[static_cast<size_t>(cell)];
    float& total = total_[static_cast<size_t>(cell)];
    right += was_right ? 1.0f : 0.0f;
    total += 1;
    if (total > memory) {
        right *= memory / total;
        total = memory;
    }
}

namespace {

constexpr int kLengths = 7;  // 0, 1, 2, 3, 4-7, 8-15, 16 and more tokens that agreed
constexpr int kDepths = 3;   // first token of a draft, second to fourth, later ones
constexpr float kPriorSource[kLengths] = {0.60f, 0.65f, 0.75f, 0.80f, 0.88f, 0.92f, 0.94f};
constexpr float kPriorSuffix[kLengths] = {0.05f, 0.15f, 0.40f, 0.55f, 0.70f, 0.82f, 0.90f};

int length_class(int64_t n) {
    if (n < 4) return static_cast<int>(n);
    return n < 8 ? 4 : n < 16 ? 5 : 6;
}

int depth_class(int depth) { return depth == 0 ? 0 : depth < 4 ? 1 : 2; }

int cell_of(bool from_source, int64_t agreed, int depth) {
    return ((from_source ? kLengths : 0) + length_class(agreed)) * kDepths + depth_class(depth);
}

}  // namespace

DraftCopy::DraftCopy() {
    std::vector<float> prior;
    for (const auto* table : {kPriorSuffix, kPriorSource}) {
        for (int length = 0; length < kLengths; length++) {
            for (int depth = 0; depth < kDepths; depth++) {
                // what was right so far tends to go on
                const float p = table[length];
                prior.push_back(depth == 0 ? p : p + (1 - p) * 0.4f);
            }
        }
    }
    calibration_.init(prior);
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
                          int64_t agreed) {
        draft->source = Source::copy;
        for (int d = 0; d < max && at + d < static_cast<int64_t>(text.size()); d++) {
            const int cell = cell_of(is_source, agreed, d);
            draft->tokens.push_back(text[static_cast<size_t>(at + d)]);
            draft->confidence.push_back(calibration_.share(cell));
            draft->cell.push_back(cell);
        }
    };
    if (source_.active()) fill(from_source, source_.source(), source_.position(), true, source_.run());
    if (suffix_.match_length() > 0) {
        fill(from_suffix, suffix_.tokens(), suffix_.match_end(), false, suffix_.match_length());
    }
}

}  // namespace mtp
