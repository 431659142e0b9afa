#include "ops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "op_share.h"

namespace mtp {
namespace {

int64_t blocks(int64_t n) { return n / kBlockCols; }

// Several products over the same activations, as one range of row groups.
template <size_t N> void multiply(Op& op, int nth, const MatmulArgs (&products)[N]) {
    int64_t total = 0;
    for (const MatmulArgs& p : products) total += p.w->n_group;
    // in steps of whole pairs: kernels take two groups at a time, and a single one costs as much
    share(
        op, nth, total, 8,
        [&](int64_t begin, int64_t end) {
            int64_t offset = 0;
            for (const MatmulArgs& p : products) {
                const int64_t g0 = std::max<int64_t>(begin - offset, 0),
                              g1 = std::min(end - offset, p.w->n_group);
                if (g0 < g1) op.context->kernels->matmul(p, g0, g1);
                offset += p.w->n_group;
            }
        },
        2);
}

// One column through a norm; the residual stream takes the branch first where there is a post-norm.
void norm_column(Op& op, int c, float* normed, ActBlock* act) {
    const OpContext& ctx = *op.context;
    const ModelParams& p = ctx.model->params;
    Workspace& w = *ctx.work;
    float* x = w.x.data() + int64_t{c} * p.n_embd;
    if (op.post_norm) {
        float* y = w.y.data() + int64_t{c} * p.n_embd;
        ctx.kernels->rms_norm(y, op.post_norm, p.n_embd, p.norm_eps, y);
        ctx.kernels->add(x, y, p.n_embd);
    }
    ctx.kernels->rms_norm(x, op.norm, p.n_embd, p.norm_eps, normed);
    if (op.want_quantized) ctx.kernels->quantize(normed, p.n_embd, act);
}

void rotate(const ModelParams& p, const float* table, float* head) {
    const int half = p.rope_dim / 2;
    for (int i = 0; i < half; i++) {
        const int a = p.rope_halves ? i : 2 * i;
        const int b = p.rope_halves ? i + half : 2 * i + 1;
        const float cos = table[2 * i], sin = table[2 * i + 1];
        const float xa = head[a], xb = head[b];
        head[a] = xa * cos - xb * sin;
        head[b] = xa * sin + xb * cos;
    }
}

// `head` row of the pass's column c: q heads first, then k heads, then v heads
void rope_store_head(Op& op, int c, int head) {
    const OpContext& ctx = *op.context;
    const ModelParams& p = ctx.model->params;
    Workspace& w = *ctx.work;
    const int64_t stride = int64_t{p.n_head + 2 * p.n_head_kv} * p.head_dim;
    float* row = w.qkv.data() + c * stride + int64_t{head} * p.head_dim;
    const bool is_q = head < p.n_head, is_k = !is_q && head < p.n_head + p.n_head_kv;
    if (is_q || is_k) {
        const float* norm = is_q ? op.layer->q_norm : op.layer->k_norm;
        if (norm) ctx.kernels->rms_norm(row, norm, p.head_dim, p.norm_eps, row);
        rotate(p, (op.layer->sliding ? w.rope_sliding : w.rope).data() + int64_t{c} * p.rope_dim, row);
    }
    if (is_q) {
        ctx.kernels->scale(row, 1.0f / std::sqrt(static_cast<float>(p.head_dim)), p.head_dim);
        return;
    }
    const int64_t slot = (ctx.pass.position + c) % ctx.cache->capacity(op.layer_index);
    uint16_t half[kMaxHeadDim];
    ctx.kernels->to_f16(row, p.head_dim, half);
    if (is_k) {
        uint16_t* to = ctx.cache->key(op.layer_index, head - p.n_head) + slot / 8 * 8 * p.head_dim + slot % 8;
        for (int i = 0; i < p.head_dim; i++) to[8 * i] = half[i];
    } else {
        uint16_t* to = ctx.cache->value(op.layer_index, head - p.n_head - p.n_head_kv) + slot * p.head_dim;
        std::copy(half, half + p.head_dim, to);
    }
}

void quantize_rows(Op& op, int nth, const float* rows, int64_t n) {
    if (!op.want_quantized) return;
    const OpContext& ctx = *op.context;
    // split columns too: with one token, all threads take a part of it
    const int64_t c0 = first_token(op), parts = ctx.pass.k >= 4 * nth ? 1 : 4;
    share(op, nth, (ctx.pass.k - c0) * parts, 4, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; u++) {
            const int64_t c = c0 + u / parts, b0 = blocks(n) * (u % parts) / parts,
                          b1 = blocks(n) * (u % parts + 1) / parts;
            ctx.kernels->quantize(rows + c * n + b0 * kBlockCols, (b1 - b0) * kBlockCols,
                                  ctx.work->act.data() + c * blocks(n) + b0);
        }
    });
}

// into the residual stream, or into y when a post-norm comes first
void project(Op& op, int nth, const PackedMatrix& weight, const ActBlock* act, const float* act_f32) {
    const OpContext& ctx = *op.context;
    Workspace& w = *ctx.work;
    const int64_t n = ctx.model->params.n_embd;
    const int64_t c0 = first_token(op);
    const bool joins = op.post_norm == nullptr;
    float* out = (joins ? w.x.data() : w.y.data()) + c0 * n;
    act += c0 * blocks(weight.n_col);
    if (format_is_float(weight.format)) act_f32 += c0 * weight.n_col;
    multiply(op, nth, {MatmulArgs{&weight, act, act_f32, static_cast<int>(ctx.pass.k - c0), out, n, joins}});
}

}  // namespace

void op_embed(Op& op, int, int nth) {
    const OpContext& ctx = *op.context;
    const ModelParams& p = ctx.model->params;
    share(op, nth, ctx.pass.k, 4, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; c++) {
            float* x = ctx.work->x.data() + c * p.n_embd;
            unpack_row(ctx.model->embedding, ctx.pass.tokens[c], x);
            if (p.embed_scale != 1) ctx.kernels->scale(x, p.embed_scale, p.n_embd);
        }
    });
}

void op_norm(Op& op, int, int nth) {
    const OpContext& ctx = *op.context;
    const int64_t n = ctx.model->params.n_embd;
    const int64_t c0 = first_token(op);
    share(op, nth, ctx.pass.k - c0, 4, [&](int64_t begin, int64_t end) {
        for (int64_t c = c0 + begin; c < c0 + end; c++) {
            norm_column(op, static_cast<int>(c), ctx.work->y.data() + c * n,
                        ctx.work->act.data() + c * blocks(n));
        }
    });
}

void op_qkv(Op& op, int, int nth) {
    const OpContext& ctx = *op.context;
    const ModelParams& p = ctx.model->params;
    Workspace& w = *ctx.work;
    const int64_t n_q = int64_t{p.n_head} * p.head_dim, n_kv = int64_t{p.n_head_kv} * p.head_dim;
    const int64_t stride = n_q + 2 * n_kv;
    const auto product = [&](const PackedMatrix& weight, int64_t at) {
        return MatmulArgs{&weight, w.act.data(), w.y.data(), ctx.pass.k, w.qkv.data() + at, stride, false};
    };
    multiply(op, nth, {product(op.layer->q, 0), product(op.layer->k, n_q), product(op.layer->v, n_q + n_kv)});
}

void op_rope_store(Op& op, int, int nth) {
    const OpContext& ctx = *op.context;
    const ModelParams& p = ctx.model->params;
    const int64_t heads = p.n_head + 2 * p.n_head_kv;
    share(op, nth, ctx.pass.k * heads, 2, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; u++) {
            rope_store_head(op, static_cast<int>(u / heads), static_cast<int>(u % heads));
        }
    });
}

void op_capture(Op& op, int, int nth) {
    const OpContext& ctx = *op.context;
    const ModelParams& p = ctx.model->params;
    const int64_t n = p.n_embd, n_q = int64_t{p.n_head} * p.head_dim;
    const int64_t stride = n_q + 2 * int64_t{p.n_head_kv} * p.head_dim, first = int64_t{op.slot} * kMaxWidth;
    share(op, nth, ctx.pass.k, 4, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; c++) {
            std::copy_n(ctx.work->x.data() + c * n, n, ctx.capture->x.data() + (first + c) * n);
            std::copy_n(ctx.work->qkv.data() + c * stride, n_q, ctx.capture->q.data() + (first + c) * n_q);
        }
    });
}

void op_quantize_att(Op& op, int, int nth) {
    const ModelParams& p = op.context->model->params;
    quantize_rows(op, nth, op.context->work->att.data(), int64_t{p.n_head} * p.head_dim);
}

void op_attn_output(Op& op, int, int nth) {
    Workspace& w = *op.context->work;
    project(op, nth, op.layer->o, w.act.data(), w.att.data());
}

namespace {

// Groups [begin, end) of the gate and up products, gated, where the thread has room for them; then to where
// the next product reads them. Columns of the whole width would lie a power of two apart: such stores miss
// every cache.
void gate_up_groups(Op& op, int ith, int64_t begin, int64_t end) {
    const OpContext& ctx = *op.context;
    Workspace& w = *ctx.work;
    const int64_t n_ff = ctx.model->params.n_ff, n_embd = ctx.model->params.n_embd, c0 = first_token(op);
    const int64_t row0 = begin * kGroupRows, n = std::min(end * kGroupRows, n_ff) - row0;
    float* gate = w.glu.data() + int64_t{ith} * 2 * kGluFloats;
    float* up = gate + kGluFloats;
    const auto product = [&](const PackedMatrix& weight, float* out) {
        const MatmulArgs args = {&weight,
                                 w.act.data() + c0 * blocks(n_embd),
                                 w.y.data() + c0 * n_embd,
                                 static_cast<int>(ctx.pass.k - c0),
                                 out,
                                 n,
                                 false,
                                 row0};
        ctx.kernels->matmul(args, begin, end);
    };
    product(op.layer->gate, gate);
    product(op.layer->up, up);
    for (int64_t c = c0; c < ctx.pass.k; c++, gate += n, up += n) {
        ctx.kernels->glu(ctx.model->params.activation, gate, up, n);
        if (op.want_quantized)
            ctx.kernels->quantize(gate, n, w.act_ff.data() + c * blocks(n_ff) + blocks(row0));
        if (op.want_f32) std::copy(gate, gate + n, w.gate.data() + c * n_ff + row0);
    }
}

}  // namespace

void op_gate_up(Op& op, int ith, int nth) {
    // in steps of whole blocks, so that the thread that has a block's values quantises it
    constexpr int64_t multiple = kBlockCols / kGroupRows;
    const int64_t k = op.context->pass.k - first_token(op);
    const int64_t room = kGluFloats / kGroupRows / k / multiple * multiple;
    share(
        op, nth, op.layer->gate.n_group, 8,
        [&](int64_t begin, int64_t end) {
            for (int64_t g = begin; g < end; g += room) gate_up_groups(op, ith, g, std::min(g + room, end));
        },
        multiple);
}

void op_ffn_down(Op& op, int, int nth) {
    Workspace& w = *op.context->work;
    project(op, nth, op.layer->down, w.act_ff.data(), w.gate.data());
}

void op_output_norm(Op& op, int, int nth) {
    const OpContext& ctx = *op.context;
    const int64_t n = ctx.model->params.n_embd;
    share(op, nth, ctx.pass.k - ctx.pass.row0, 4, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; r++) {
            ActBlock* act = ctx.work->act.data() + r * blocks(n);
            norm_column(op, static_cast<int>(ctx.pass.row0 + r), ctx.work->hidden.data() + r * n, act);
            if (!op.want_quantized || !ctx.model->output.has_residual) continue;
            for (int64_t b = 0; b < blocks(n); b++) {
                int sum = 0;
                for (const int8_t q : act[b].q) sum += int{q} * q;
                ctx.work->act_norm[static_cast<size_t>(r * blocks(n) + b)] =
                    act[b].d * std::sqrt(static_cast<float>(sum)) * 1.000001f;
            }
        }
    });
}

void op_logits(Op& op, int, int nth) {
    const OpContext& ctx = *op.context;
    Workspace& w = *ctx.work;
    multiply(op, nth,
             {MatmulArgs{&ctx.model->output, w.act.data(), w.hidden.data(), ctx.pass.k - ctx.pass.row0,
                         w.logits.get(), ctx.model->params.n_vocab, false}});
}

void op_argmax(Op& op, int, int nth) {
    const OpContext& ctx = *op.context;
    Workspace& w = *ctx.work;
    const int64_t n_vocab = ctx.model->params.n_vocab;
    share(op, nth, int64_t{ctx.pass.k - ctx.pass.row0} * w.n_span, 4, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; u++) {
            const int64_t from = u % w.n_span * kArgmaxSpan;
            const float* row = w.logits.get() + u / w.n_span * n_vocab + from;
            const int32_t at = ctx.kernels->argmax(row, std::min<int64_t>(kArgmaxSpan, n_vocab - from));
            w.argmax[static_cast<size_t>(u)] = {row[at], static_cast<int32_t>(from + at)};
        }
    });
}

}  // namespace mtp
