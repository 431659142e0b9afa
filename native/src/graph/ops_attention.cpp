// Attention of a pass. Two ways to divide the work, with the same result: wide passes give each thread a tile
// of query rows over all positions; narrow ones have too few rows for that and give each a part of the
// positions.
#include <algorithm>
#include <cstdint>

#include "attend.h"
#include "op_share.h"
#include "ops.h"

namespace mtp {
namespace {

constexpr int kMostRows = 128;  // of a KV head in a narrow pass

// Query rows of one KV head are numbered token by token, from the first of the op: row = c * group + g.
struct Rows {
    Rows(const Op& op, int kv_head, int row0, int n) {
        const OpContext& ctx = *op.context;
        const ModelParams& p = ctx.model->params;
        const int group = p.n_head / p.n_head_kv;
        const int64_t stride = int64_t{p.n_head + 2 * p.n_head_kv} * p.head_dim;
        for (int r = 0; r < n; r++) {
            const int c = static_cast<int>(first_token(op)) + (row0 + r) / group;
            const int head = kv_head * group + (row0 + r) % group;
            last[r] = ctx.pass.position + c;
            first[r] = ctx.cache->first_visible(op.layer_index, last[r]);
            query[r] = ctx.work->qkv.data() + c * stride + int64_t{head} * p.head_dim;
            out[r] = ctx.work->att.data() + (int64_t{c} * p.n_head + head) * p.head_dim;
        }
        args = {p.head_dim,
                n,
                query,
                first,
                last,
                ctx.cache->key(op.layer_index, kv_head),
                ctx.cache->value(op.layer_index, kv_head),
                ctx.cache->capacity(op.layer_index)};
    }
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    const float* query[kMostRows];
    float* out[kMostRows];
    int64_t first[kMostRows], last[kMostRows];
    AttentionArgs args;
};

void quantize_heads(const Op& op, const Rows& rows) {
    if (!op.want_quantized) return;
    const OpContext& ctx = *op.context;
    for (int r = 0; r < rows.args.n_query; r++) {  // a head is a whole number of blocks
        const int64_t at = (rows.out[r] - ctx.work->att.data()) / kBlockCols;
        ctx.kernels->quantize(rows.out[r], rows.args.head_dim, ctx.work->act.data() + at);
    }
}

void attend_wide(Op& op, int ith, int nth, int n_row) {
    const OpContext& ctx = *op.context;
    const ModelParams& p = ctx.model->params;
    const int64_t tiles = (n_row + kQueryTile - 1) / kQueryTile;
    float* scratch = ctx.work->rows.data() + ith * attend_scratch(p.head_dim);
    share(op, nth, tiles * p.n_head_kv, 16, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; u++) {
            const int row0 = static_cast<int>(u % tiles) * kQueryTile;
            const Rows rows(op, static_cast<int>(u / tiles), row0, std::min(kQueryTile, n_row - row0));
            attend_rows(*ctx.kernels, rows.args, rows.out, scratch);
            quantize_heads(op, rows);
        }
    });
}

// The parts of all rows of one KV head, in order; `parts` holds n_part * n_row of them.
void join_parts(const Op& op, const Rows& rows, float* parts, int64_t n_part) {
    const KernelSet& kernels = *op.context->kernels;
    const int head_dim = rows.args.head_dim;
    const int64_t stride = part_floats(head_dim), n_row = rows.args.n_query;
    for (int64_t r = 0; r < n_row; r++) {
        float* state = parts + r * stride;  // of the first part
        for (int64_t part = 1; part < n_part; part++)
            kernels.attend_join(head_dim, parts + (part * n_row + r) * stride, state);
        kernels.attend_finish(head_dim, state, rows.out[r]);
    }
    quantize_heads(op, rows);
}

// Positions that the pass sees in this layer, as parts [begin, end).
struct PartRange {
    PartRange(const Op& op) {
        const OpContext& ctx = *op.context;
        const int64_t span = attention_part(ctx.model->params.head_dim);
        begin = ctx.cache->first_visible(op.layer_index, ctx.pass.position + first_token(op)) / span;
        end = (ctx.pass.position + ctx.pass.k - 1) / span + 1;
    }
    int64_t size() const { return end - begin; }
    int64_t begin, end;
};

void attend_narrow(Op& op, int nth, int n_row, const PartRange& range) {
    const OpContext& ctx = *op.context;
    const ModelParams& p = ctx.model->params;
    const int64_t n_part = range.size(), stride = part_floats(p.head_dim);
    share(op, nth, n_part * p.n_head_kv, 64, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; u++) {
            const int64_t kv_head = u / n_part, part = u % n_part;
            const Rows rows(op, static_cast<int>(kv_head), 0, n_row);
            float* parts = ctx.work->parts.data() + kv_head * n_part * n_row * stride;
            ctx.kernels->attend_part(rows.args, range.begin + part, parts + part * n_row * stride, stride);
            // whoever finishes a head's last part joins them all
            std::atomic<int64_t>& done = ctx.work->parts_done[static_cast<size_t>(kv_head)];
            if (done.fetch_add(1, std::memory_order_acq_rel) + 1 < n_part) continue;
            done.store(0, std::memory_order_relaxed);
            join_parts(op, rows, parts, n_part);
        }
    });
}

}  // namespace

void op_attention(Op& op, int ith, int nth) {
    const OpContext& ctx = *op.context;
    const ModelParams& p = ctx.model->params;
    const int n_row = static_cast<int>(ctx.pass.k - first_token(op)) * (p.n_head / p.n_head_kv);
    const PartRange range(op);
    const bool has_room = range.size() * p.n_head_kv * n_row * part_floats(p.head_dim) <= kPartFloats;
    // few tiles do not go round; and a part's keys and values serve all rows from the first-level cache
    const bool few = n_row / kQueryTile * p.n_head_kv < 8 * nth;
    if (few && has_room && n_row <= kMostRows) {
        attend_narrow(op, nth, n_row, range);
    } else {
        attend_wide(op, ith, nth, n_row);
    }
}

}  // namespace mtp
