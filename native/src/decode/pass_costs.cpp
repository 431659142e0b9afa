#include "pass_costs.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

namespace mtp {
namespace {

constexpr int kWidths[] = {1, 2, 3, 4, 6, 8, 16};
constexpr int kDeepWidths[] = {1, 2, 4, 8};
constexpr int kWidest = 8;  // wider passes are rare: one look is enough
constexpr int kRounds = 2, kMost = 6;
constexpr double kFrontSeconds = 0.2, kDeepSeconds = 0.1;  // for rounds beyond kRounds
constexpr double kLeastDepth = 96;  // positions, below which the cost of attending drowns in noise

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// How often a thread of this process had to make way for something else.
long interruptions() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

// The least seconds seen of each width: of undisturbed passes, or of any where there was none.
class Least {
  public:
    void add(int k, double seconds, bool undisturbed) {
        double& best = (undisturbed ? clean_ : any_)[static_cast<size_t>(k - 1)];
        best = best == 0 ? seconds : std::min(best, seconds);
        if (undisturbed) count_[static_cast<size_t>(k - 1)]++;
    }
    int count(int k) const { return count_[static_cast<size_t>(k - 1)]; }
    double of(int k) const {
        const auto i = static_cast<size_t>(k - 1);
        return clean_[i] > 0 ? clean_[i] : any_[i];
    }

  private:
    double clean_[kMaxDecode] = {}, any_[kMaxDecode] = {};
    int count_[kMaxDecode] = {};
};

Status time_pass(Engine* engine, const std::vector<int32_t>& tokens, int k, Least* out) {
    const int64_t length = engine->length();
    std::vector<int32_t> next(kMaxDecode);
    const long before = interruptions();
    const double began = now();
    if (Status s = engine->decode(tokens.data(), k, next.data()); !s.ok()) return s;
    const double seconds = now() - began;
    if (out != nullptr) out->add(k, seconds, interruptions() == before);
    return engine->rollback(length);
}

// Goes round the widths until each has been seen kRounds times undisturbed, or time is up.
template <size_t N>
Status time_rounds(Engine* engine, const std::vector<int32_t>& tokens, const int (&widths)[N], double budget,
                   Least* out, bool* sound) {
    const double started = now();
    for (int round = 0; round < kMost; round++) {
        if (round >= kRounds && now() - started > budget) break;
        bool again = false;
        for (const int k : widths) {
            if (k > kWidest || engine->length() + k > engine->n_ctx() || out->count(k) >= kRounds) continue;
            if (Status s = time_pass(engine, tokens, k, out); !s.ok()) return s;
            again = again || out->count(k) < kRounds;
        }
        if (!again) break;
    }
    for (const int k : widths) *sound = *sound && (k > kWidest || out->of(k) == 0 || out->count(k) > 0);
    return {};
}

// [16] from some widths (0: unknown): straight lines between them, and on from the last two.
void fill_between(std::vector<double>* values) {
    std::vector<double>& v = *values;
    std::vector<size_t> known;
    for (size_t i = 0; i < v.size(); i++)
        if (v[i] > 0) known.push_back(i);
    if (known.empty()) return;
    for (size_t i = 0; i < v.size(); i++) {
        const auto right = std::lower_bound(known.begin(), known.end(), i);
        if (right != known.end() && *right == i) continue;
        size_t b = right == known.end() ? known.size() - 1 : static_cast<size_t>(right - known.begin());
        b = std::max<size_t>(b, 1);
        if (b >= known.size()) {  // one width alone
            v[i] = v[known[0]] * static_cast<double>(i + 1) / static_cast<double>(known[0] + 1);
            continue;
        }
        const size_t from = known[b - 1], to = known[b];
        v[i] = v[from] + (v[to] - v[from]) * (static_cast<double>(i) - static_cast<double>(from)) /
                             static_cast<double>(to - from);
    }
    // a wider pass is never cheaper
    for (size_t i = 1; i < v.size(); i++) v[i] = std::max(v[i], v[i - 1]);
}

}  // namespace

Status measure_costs(Engine* engine, const std::vector<int32_t>& text, PassCosts* out) {
    *out = {std::vector<double>(kMaxDecode, 0.0), std::vector<double>(kMaxDecode, 0.0), 0, true};
    std::vector<int32_t> tokens;
    for (size_t i = 0; i < kMaxDecode; i++) tokens.push_back(text.empty() ? 0 : text[i % text.size()]);
    Least front, deep;
    const double depth = engine->attended(engine->length());
    {
        const KvCache::Aside aside = engine->put_aside();
        for (const int k : kWidths) {  // builds the graphs
            if (k > engine->n_ctx()) continue;
            if (Status s = time_pass(engine, tokens, k, k > kWidest ? &front : nullptr); !s.ok()) return s;
        }
        if (Status s = time_rounds(engine, tokens, kWidths, kFrontSeconds, &front, &out->sound); !s.ok())
            return s;
    }
    for (const int k : kWidths) out->front[static_cast<size_t>(k - 1)] = front.of(k);
    fill_between(&out->front);
    if (depth < kLeastDepth || engine->length() + kWidest > engine->n_ctx()) return {};

    if (Status s = time_rounds(engine, tokens, kDeepWidths, kDeepSeconds, &deep, &out->sound); !s.ok())
        return s;
    out->depth = depth;
    for (const int k : kDeepWidths) {
        const auto i = static_cast<size_t>(k - 1);
        out->per_position[i] = std::max(1e-12, (deep.of(k) - out->front[i]) / depth);
    }
    fill_between(&out->per_position);
    return {};
}

}  // namespace mtp
