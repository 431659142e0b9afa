// The likeliest tokens from half of the output matrix: bounds for every group of rows, then the groups that
// can still matter in full, with the bits of the full product.
#include <algorithm>
#include <cmath>
#include <functional>

#include "op_share.h"
#include "ops.h"

namespace mtp {

void op_screen(Op& op, int ith, int nth) {
    const OpContext& ctx = *op.context;
    Workspace& w = *ctx.work;
    const PackedMatrix& output = ctx.model->output;
    const int rows = ctx.pass.k - ctx.pass.row0;
    float* lower = w.lower.data() + int64_t{ith} * kMaxDecode;
    int32_t* lower_group = w.lower_group.data() + int64_t{ith} * kMaxDecode;
    std::fill(lower, lower + rows, -INFINITY);
    std::fill(lower_group, lower_group + rows, 0);
    const ScreenArgs args{&output, w.act.data(), w.act_norm.data(), rows, w.upper.data(), lower, lower_group};
    share(
        op, nth, output.n_group, 16,
        [&](int64_t begin, int64_t end) { ctx.kernels->screen(args, begin, end); }, 2);
}

namespace {

// 8 logits of a row group, as the full product gives them; returns how many of them are rows
int64_t exact_group(const OpContext& ctx, int row, int64_t group, float* out) {
    const PackedMatrix& output = ctx.model->output;
    PackedMatrix one = output;  // the group as a matrix of its own
    one.data += group * output.group_bytes;
    one.low += group * output.low_group_bytes();
    one.n_row = std::min<int64_t>(kGroupRows, output.n_row - group * kGroupRows);
    one.n_group = 1;
    const ActBlock* act = ctx.work->act.data() + row * output.n_block();
    ctx.kernels->matmul({&one, act, nullptr, 1, out, kGroupRows, false}, 0, 1);
    return one.n_row;
}

// The best of the sure rows, computed in full: a better floor than its own lower bound.
float sure_logit(const OpContext& ctx, int row, int nth) {
    const Workspace& w = *ctx.work;
    size_t best = static_cast<size_t>(row);
    for (int t = 1; t < nth; t++) {
        const size_t at = static_cast<size_t>(t * kMaxDecode + row);
        if (w.lower[at] > w.lower[best]) best = at;
    }
    float logits[kGroupRows];
    const int64_t n = exact_group(ctx, row, w.lower_group[best], logits);
    return *std::max_element(logits, logits + n);
}

}  // namespace

void op_rescore(Op& op, int ith, int nth) {
    const OpContext& ctx = *op.context;
    Workspace& w = *ctx.work;
    const int rows = ctx.pass.k - ctx.pass.row0;
    const int64_t n_group = ctx.model->output.n_group;
    ArgmaxPart* best = w.best.data() + int64_t{ith} * kMaxDecode;
    float floor[kMaxDecode];
    for (int r = 0; r < rows; r++) {
        floor[r] = sure_logit(ctx, r, nth);
        best[r] = {-INFINITY, INT32_MAX};
    }
    int64_t survivors = 0;
    float logits[kGroupRows];
    share(op, nth, n_group, 8, [&](int64_t begin, int64_t end) {
        for (int r = 0; r < rows; r++) {
            const float* upper = w.upper.data() + r * n_group;
            for (int64_t g = begin; g < end; g++) {
                if (upper[g] < floor[r]) continue;
                survivors++;
                const int64_t n = exact_group(ctx, r, g, logits);
                for (int64_t i = 0; i < n; i++) {
                    const auto token = static_cast<int32_t>(g * kGroupRows + i);
                    const bool first = logits[i] == best[r].value && token < best[r].token;
                    if (logits[i] > best[r].value || first) best[r] = {logits[i], token};
                }
            }
        }
    });
    w.survivors[static_cast<size_t>(ith)] = survivors;
}

namespace {

// The groups with the largest upper bounds, n of them, in any order.
void likeliest_groups(const float* upper, int64_t n_group, size_t n, std::vector<ArgmaxPart>* out) {
    const auto above = [](const ArgmaxPart& a, const ArgmaxPart& b) { return a.value > b.value; };
    out->clear();
    for (int64_t g = 0; g < n_group; g++) {
        if (out->size() == n) {
            if (!(upper[g] > out->front().value)) continue;
            std::pop_heap(out->begin(), out->end(), above);
            out->pop_back();
        }
        out->push_back({upper[g], static_cast<int32_t>(g)});
        std::push_heap(out->begin(), out->end(), above);
    }
}

// A logit that whatever is wished for reaches: n tokens are known to be as likely as the n-th of some.
float sure_floor(const OpContext& ctx, int row) {
    const CandidateWish& wish = ctx.wish;
    const int64_t n_group = ctx.model->output.n_group;
    const auto n = static_cast<size_t>(std::max(1, wish.top_k));
    std::vector<ArgmaxPart> groups;
    likeliest_groups(ctx.work->upper.data() + row * n_group, n_group, n, &groups);
    std::vector<float> exact;
    float logits[kGroupRows];
    for (const ArgmaxPart& group : groups) {
        const int64_t found = exact_group(ctx, row, group.token, logits);
        exact.insert(exact.end(), logits, logits + found);
    }
    float floor = -INFINITY;
    if (wish.top_k > 0 && exact.size() >= n) {
        const auto nth = exact.begin() + static_cast<std::ptrdiff_t>(n - 1);
        std::nth_element(exact.begin(), nth, exact.end(), std::greater<>());
        floor = *nth;
    }
    // the best of all is at least the best of these
    return std::max(floor, *std::max_element(exact.begin(), exact.end()) + wish.log_min_p);
}

}  // namespace

void op_floor(Op& op, int, int nth) {
    const OpContext& ctx = *op.context;
    share(op, nth, ctx.pass.k - ctx.pass.row0, 4, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; r++)
            ctx.work->floor[static_cast<size_t>(r)] = sure_floor(ctx, static_cast<int>(r));
    });
}

void op_candidates(Op& op, int ith, int nth) {
    const OpContext& ctx = *op.context;
    Workspace& w = *ctx.work;
    const int rows = ctx.pass.k - ctx.pass.row0;
    const int64_t n_group = ctx.model->output.n_group;
    std::vector<Candidate>* found = w.found.data() + int64_t{ith} * kMaxDecode;
    for (int r = 0; r < rows; r++) found[r].clear();
    int64_t survivors = 0;
    float logits[kGroupRows];
    share(op, nth, n_group, 8, [&](int64_t begin, int64_t end) {
        for (int r = 0; r < rows; r++) {
            const float* upper = w.upper.data() + r * n_group;
            const float floor = w.floor[static_cast<size_t>(r)];
            for (int64_t g = begin; g < end; g++) {
                if (upper[g] < floor) continue;
                survivors++;
                const int64_t n = exact_group(ctx, r, g, logits);
                for (int64_t i = 0; i < n; i++) {
                    if (logits[i] >= floor)
                        found[r].push_back({logits[i], static_cast<int32_t>(g * kGroupRows + i)});
                }
            }
        }
    });
    w.survivors[static_cast<size_t>(ith)] = survivors;
}

}  // namespace mtp
