#include "workspace.h"

#include <algorithm>
#include <cmath>

#include "attend.h"

namespace mtp {

Workspace::Workspace(const Model& model, int n_threads) {
    const ModelParams& p = model.params;
    const auto floats = [](int64_t rows, int64_t n) { return static_cast<size_t>(rows * n); };
    const int64_t n_q = int64_t{p.n_head} * p.head_dim, n_kv = int64_t{p.n_head_kv} * p.head_dim;
    const int64_t widest = std::max(int64_t{p.n_embd}, n_q);
    x.resize(floats(kMaxWidth, p.n_embd));
    y.resize(floats(kMaxWidth, p.n_embd));
    qkv.resize(floats(kMaxWidth, n_q + 2 * n_kv));
    att.resize(floats(kMaxWidth, n_q));
    const bool float_down = std::any_of(model.layers.begin(), model.layers.end(),
                                        [](const Layer& l) { return format_is_float(l.down.format); });
    if (float_down) gate.resize(floats(kMaxWidth, p.n_ff));
    glu.resize(floats(int64_t{n_threads} * 2, kGluFloats));
    act.resize(floats(kMaxWidth, widest / kBlockCols + 1));
    act_ff.resize(floats(kMaxWidth, p.n_ff / kBlockCols + 1));
    hidden.resize(floats(kMaxWidth, p.n_embd));
    logits.reset(new float[floats(kMaxDecode, p.n_vocab)]);
    n_span = (p.n_vocab + kArgmaxSpan - 1) / kArgmaxSpan;
    argmax.resize(floats(kMaxDecode, n_span));
    if (model.output.has_residual) {
        act_norm.resize(floats(kMaxDecode, p.n_embd / kBlockCols));
        upper.resize(floats(kMaxDecode, model.output.n_group));
        lower.resize(floats(n_threads, kMaxDecode));
        lower_group.resize(floats(n_threads, kMaxDecode));
        best.resize(floats(n_threads, kMaxDecode));
        survivors.resize(static_cast<size_t>(n_threads));
        floor.resize(kMaxDecode);
        found.resize(floats(n_threads, kMaxDecode));
    }
    rope.resize(floats(kMaxWidth, p.rope_dim));
    rope_sliding.resize(p.window > 0 ? floats(kMaxWidth, p.rope_dim) : 0);
    rows.resize(floats(n_threads, attend_scratch(p.head_dim)));
    parts.resize(static_cast<size_t>(kPartFloats));
    parts_done.reset(new std::atomic<int64_t>[static_cast<size_t>(p.n_head_kv)]());
}

namespace {

void fill_table(const Model& model, const Pass& pass, double base, double scale, float* table) {
    const int dim = model.params.rope_dim;
    for (int c = 0; c < pass.k; c++) {
        for (int i = 0; i < dim / 2; i++) {
            double frequency = std::pow(base, -2.0 * i / dim);
            if (model.rope_factors) frequency /= static_cast<double>(model.rope_factors[i]);
            const double angle = static_cast<double>(pass.position + c) * scale * frequency;
            table[c * dim + 2 * i] = static_cast<float>(std::cos(angle));
            table[c * dim + 2 * i + 1] = static_cast<float>(std::sin(angle));
        }
    }
}

}  // namespace

void rope_tables(const Model& model, const Pass& pass, Workspace* work) {
    const ModelParams& p = model.params;
    fill_table(model, pass, p.rope_base, p.rope_scale, work->rope.data());
    if (p.window > 0) fill_table(model, pass, p.rope_base_sliding, 1.0, work->rope_sliding.data());
}

}  // namespace mtp
