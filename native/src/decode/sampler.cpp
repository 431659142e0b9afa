#include "sampler.h"

#include <algorithm>
#include <cmath>

namespace mtp {

double uniform_at(uint64_t seed, uint64_t position) {
    uint64_t x0 = position, x1 = 0, key = seed;
    for (int round = 0; round < 10; round++) {
        const auto product = static_cast<unsigned __int128>(x0) * 0xD2B74407B1CE6E93ULL;
        x0 = static_cast<uint64_t>(product >> 64) ^ key ^ x1;
        x1 = static_cast<uint64_t>(product);
        key += 0x9E3779B97F4A7C15ULL;
    }
    return static_cast<double>(x0 >> 11) * 0x1.0p-53;
}

void Sampler::penalise(float* logits, const std::vector<int32_t>& history) {
    const size_t n = std::min(history.size(), static_cast<size_t>(std::max(0, options_.repeat_last)));
    std::vector<int32_t> seen(history.end() - static_cast<std::ptrdiff_t>(n), history.end());
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const int32_t token : seen) {
        float& logit = logits[token];
        logit = logit > 0 ? logit / options_.repeat_penalty : logit * options_.repeat_penalty;
    }
}

// Largest logits first, smaller ids first among equals; only as far as somebody looks.
void Sampler::sort_until(size_t n) {
    n = std::min(n, candidates_.size());
    if (n <= sorted_) return;
    const auto before = [](const Candidate& a, const Candidate& b) {
        return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
    };
    const auto from = candidates_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    std::partial_sort(from, candidates_.begin() + static_cast<std::ptrdiff_t>(n), candidates_.end(), before);
    sorted_ = n;
}

int32_t Sampler::choose(float* logits, int32_t n, int64_t position, const std::vector<int32_t>& history) {
    if (options_.repeat_penalty != 1) penalise(logits, history);
    if (options_.temperature <= 0) {
        return static_cast<int32_t>(std::max_element(logits, logits + n) - logits);
    }
    const float top = *std::max_element(logits, logits + n);
    double total = 0;  // of all tokens at temperature 1, for top-p without top-k
    if (options_.top_p < 1 && options_.top_k <= 0) {
        for (int32_t i = 0; i < n; i++) total += std::exp(static_cast<double>(logits[i] - top));
    }
    candidates_.clear();
    for (int32_t i = 0; i < n; i++) candidates_.push_back({logits[i], i});
    return draw(top, total, position);
}

bool Sampler::wants_candidates() const {
    constexpr int most = 256;  // beyond, a heap of that many groups for every row costs too much
    if (options_.temperature <= 0 || options_.repeat_penalty != 1 || options_.top_k > most) return false;
    return options_.top_k > 0 || (options_.min_p > 0 && options_.top_p >= 1);
}

int32_t Sampler::choose_among(std::vector<Candidate>* candidates, int64_t position) {
    std::swap(candidates_, *candidates);
    float top = -INFINITY;
    for (const Candidate& one : candidates_) top = std::max(top, one.logit);
    return draw(top, 0, position);
}

// candidates_: by token; total: of exp(logit - top), where top-p goes by all tokens
int32_t Sampler::draw(float top, double total, int64_t position) {
    // min-p keeps what is at least min_p times as likely as the best
    const float floor = options_.min_p > 0 ? top + std::log(options_.min_p) : -INFINITY;
    const auto too_low = [floor](const Candidate& one) { return one.logit < floor; };
    const auto weight = [top](const Candidate& one) {
        return std::exp(static_cast<double>(one.logit - top));
    };
    sorted_ = 0;
    size_t keep = candidates_.size();
    if (options_.top_k > 0) {
        keep = std::min(keep, static_cast<size_t>(options_.top_k));
        sort_until(keep);
        if (options_.top_p < 1) {
            total = 0;
            for (size_t i = 0; i < keep; i++) total += weight(candidates_[i]);
        }
    } else {
        candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), too_low), candidates_.end());
        keep = candidates_.size();
    }
    if (options_.top_p < 1) {
        double sum = 0;
        for (size_t i = 0; i < keep; i++) {
            if (i >= sorted_) sort_until(std::max<size_t>(64, 2 * i));
            sum += weight(candidates_[i]);
            if (sum >= static_cast<double>(options_.top_p) * total) {
                keep = i + 1;
                break;
            }
        }
    }
    if (options_.top_k > 0) {
        while (keep > 1 && too_low(candidates_[keep - 1])) keep--;
    }
    weights_.resize(keep);
    double sum = 0;
    for (size_t i = 0; i < keep; i++) {
        weights_[i] = std::exp(static_cast<double>((candidates_[i].logit - top) / options_.temperature));
        sum += weights_[i];
    }
    double left = uniform_at(options_.seed, static_cast<uint64_t>(position)) * sum;
    for (size_t i = 0; i < keep; i++) {
        left -= weights_[i];
        if (left < 0) return candidates_[i].token;
    }
    return candidates_[keep - 1].token;
}

}  // namespace mtp
