#include "head_step.h"

#include <algorithm>
#include <cmath>

#include "../graph/attend.h"
#include "../graph/share.h"

namespace mtp {
namespace {

constexpr int32_t kUnitGroups = 16;

size_t count(int64_t n) { return static_cast<size_t>(n); }

// y = x / sqrt(mean(x^2) + eps)
void unit_rms(float* x, int64_t n, float eps) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += double{x[i]} * double{x[i]};
    const auto inverse = static_cast<float>(1 / std::sqrt(sum / static_cast<double>(n) + double{eps}));
    for (int64_t i = 0; i < n; i++) x[i] *= inverse;
}

void rotate(const ModelParams& p, const float* table, float* head) {
    const int half = p.rope_dim / 2;
    for (int i = 0; i < half; i++) {
        float& a = head[p.rope_halves ? i : 2 * i];
        float& b = head[p.rope_halves ? i + half : 2 * i + 1];
        const float cos = table[2 * i], sin = table[2 * i + 1], from_a = a, from_b = b;
        a = from_a * cos - from_b * sin;
        b = from_a * sin + from_b * cos;
    }
}

// Groups [group, group + n) of a matrix as a matrix of their own. Of Q8_0 rows the high plane alone, which is
// laid out as Q4_0: half of the bytes, and near enough for a draft.
PackedMatrix draft_rows(const PackedMatrix& m, int64_t group, int64_t n) {
    PackedMatrix out = m;
    if (m.format == Format::q8_0) out.format = Format::q4_0;
    out.data += group * m.group_bytes;
    out.low = nullptr;
    out.n_row = std::min(n * kGroupRows, m.n_row - group * kGroupRows);
    out.n_group = n;
    return out;
}

// w = d (16 high + low - 128) is about 16 d (high - 7.53), and a Q4_0 product computes d (high - 8).
void adjust_to_high_plane(std::vector<ActBlock>* act) {
    for (ActBlock& block : *act) {
        block.d *= 16;
        block.a *= 7.53125f / 8;
    }
}

}  // namespace

HeadStep::~HeadStep() {
    if (ggml_) ggml_free(ggml_);
}

void HeadStep::call(ggml_tensor*, int ith, int nth, void* userdata) {
    Op& op = *static_cast<Op*>(userdata);
    (op.step->*op.run)(*op.layer, op, ith, nth);
}

void HeadStep::append(void (HeadStep::*run)(const HeadLayer&, Op&, int, int), const char* name,
                      const HeadLayer* layer, bool first) {
    ops_.emplace_back();
    Op& op = ops_.back();
    op.run = run;
    op.step = this;
    op.layer = layer;
    op.first = first;
    ggml_tensor* sources[1] = {last_};
    last_ =
        ggml_custom_4d(ggml_, GGML_TYPE_F32, 1, 1, 1, 1, sources, last_ ? 1 : 0, call, GGML_N_TASKS_MAX, &op);
    last_->data = x_.data();
    ggml_set_name(last_, name);
    ggml_build_forward_expand(graph_, last_);
}

Status HeadStep::build(const Model* backbone, const HeadModel* head, const KernelSet* kernels,
                       const KvCache* cache, int n_threads, std::unique_ptr<HeadStep>* out) {
    std::unique_ptr<HeadStep> s(new HeadStep());
    const ModelParams& p = backbone->params;
    s->backbone_ = backbone;
    s->head_ = head;
    s->kernels_ = kernels;
    s->cache_ = cache;
    const int64_t n = p.n_embd, n_head_q = int64_t{p.n_head} * p.head_dim;
    size_t most_sources = 0;
    for (const HeadLayer& l : head->layers) most_sources = std::max(most_sources, l.sources.size());
    s->state_.resize(count(n));
    s->z_.resize(count(3 * n));
    s->act_z_.resize(count(3 * n / kBlockCols));
    s->x_.resize(count(n));
    s->q_.resize(most_sources * count(n_head_q));
    s->att_.resize(s->q_.size());
    s->act_att_.resize(s->q_.size() / kBlockCols);
    s->gate_.resize(count(head->n_ff));
    s->up_.resize(count(head->n_ff));
    s->act_ff_.resize(count(head->n_ff / kBlockCols));
    s->normed_.assign(count(n_threads), std::vector<float>(count(n)));
    s->act_normed_.assign(count(n_threads), std::vector<ActBlock>(count(n / kBlockCols)));
    s->scratch_.assign(count(n_threads), std::vector<float>(count(attend_scratch(p.head_dim))));
    s->parts_.resize(count(n_threads));
    for (int i = 0; i < p.rope_dim / 2; i++) {
        const double power = -2.0 * i / p.rope_dim;
        const double factor = backbone->rope_factors ? double{backbone->rope_factors[i]} : 1.0;
        s->frequency_.push_back(double{p.rope_scale} * std::pow(double{p.rope_base}, power) / factor);
        s->frequency_sliding_.push_back(std::pow(double{p.rope_base_sliding}, power) / factor);
    }
    s->rope_.resize(count(p.rope_dim));
    s->rope_sliding_.resize(count(p.rope_dim));

    const size_t n_node = 6 * head->layers.size() + 2;
    s->ggml_ = ggml_init(
        {ggml_tensor_overhead() * n_node + ggml_graph_overhead_custom(n_node, false), nullptr, true});
    if (!s->ggml_) return Status::error(Code::out_of_memory, "not enough memory for a graph");
    s->graph_ = ggml_new_graph_custom(s->ggml_, n_node, false);
    for (const HeadLayer& l : head->layers) {
        const bool first = &l == &head->layers.front();
        s->append(first ? &HeadStep::run_input : &HeadStep::run_query, "head_query", &l, first);
        s->append(&HeadStep::run_attention, "head_attention", &l, first);
        s->append(&HeadStep::run_attn_out, "head_attn_output", &l, first);
        s->append(&HeadStep::run_gate_up, "head_gate_up", &l, first);
        s->append(&HeadStep::run_down, "head_down", &l, first);
    }
    s->append(&HeadStep::run_logits, "head_logits", &head->layers.back(), false);
    s->set_vocabulary({});
    *out = std::move(s);
    return {};
}

size_t HeadStep::buffer_bytes() const {
    size_t floats = state_.size() + z_.size() + x_.size() + 2 * q_.size() + 2 * gate_.size() + logits_.size();
    for (const auto& v : normed_) floats += v.size();
    for (const auto& v : scratch_) floats += v.size();
    size_t blocks = act_z_.size() + act_att_.size() + act_ff_.size();
    for (const auto& v : act_normed_) blocks += v.size();
    return floats * sizeof(float) + blocks * sizeof(ActBlock) + units_.size() * sizeof(Unit);
}

void HeadStep::set_vocabulary(const std::vector<int32_t>& tokens) {
    std::vector<int32_t> groups = head_->groups;
    for (const int32_t token : tokens) groups.push_back(token / kGroupRows);
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    units_.clear();
    n_group_ = 0;
    for (const int32_t group : groups) {
        const bool joins = !units_.empty() && units_.back().group + units_.back().count == group &&
                           units_.back().count < kUnitGroups;
        if (joins) {
            units_.back().count++;
        } else {
            units_.push_back({group, 1, n_group_ * kGroupRows});
        }
        n_group_++;
    }
    logits_.resize(count(n_group_ * kGroupRows));
}

void HeadStep::begin(const float* hidden) {
    std::copy_n(hidden, backbone_->params.n_embd, state_.data());
    cached_ = position_ = cache_->length();
}

void HeadStep::fill_rope(int64_t position) {
    for (size_t i = 0; i < frequency_.size(); i++) {
        const double full = static_cast<double>(position) * frequency_[i];
        rope_[2 * i] = static_cast<float>(std::cos(full));
        rope_[2 * i + 1] = static_cast<float>(std::sin(full));
        if (backbone_->params.window == 0) continue;
        const double sliding = static_cast<double>(position) * frequency_sliding_[i];
        rope_sliding_[2 * i] = static_cast<float>(std::cos(sliding));
        rope_sliding_[2 * i + 1] = static_cast<float>(std::sin(sliding));
    }
}

void HeadStep::fill_input(int32_t token, const Guess& guess) {
    const ModelParams& p = backbone_->params;
    const int64_t n = p.n_embd;
    unpack_row(backbone_->embedding, token, z_.data());
    unit_rms(z_.data(), n, p.norm_eps);
    std::copy(state_.begin(), state_.end(), z_.begin() + n);
    unit_rms(z_.data() + n, n, p.norm_eps);
    if (guess.kind > 0) {
        unpack_row(backbone_->embedding, guess.token, z_.data() + 2 * n);
        unit_rms(z_.data() + 2 * n, n, p.norm_eps);
    } else {
        std::fill_n(z_.begin() + 2 * n, n, 0.0f);
    }
    kernels_->quantize(z_.data(), 3 * n, act_z_.data());
}

Outlook HeadStep::outlook(int32_t token, const Guess& guess) {
    const OutlookNet& net = head_->outlook;
    fill_input(token, guess);
    float hidden[kOutlookWidth];
    std::copy_n(net.bias + guess.kind * kOutlookWidth, kOutlookWidth, hidden);
    const MatmulArgs in{&net.input, act_z_.data(), z_.data(), 1, hidden, kOutlookWidth, true};
    kernels_->matmul(in, 0, net.input.n_group);
    float sums[2] = {net.output_bias[0], net.output_bias[1]};
    for (int i = 0; i < kOutlookWidth; i++) {
        const float x = hidden[i] / (1 + std::exp(-hidden[i]));
        sums[0] += net.output[i] * x;
        sums[1] += net.output[kOutlookWidth + i] * x;
    }
    return {guess.kind > 0 ? 1 / (1 + std::exp(-sums[0])) : 0.0f, 1 / (1 + std::exp(-sums[1]))};
}

void HeadStep::prepare(int32_t token, const Guess& guess) {
    const int64_t n = backbone_->params.n_embd;
    fill_input(token, guess);
    std::copy_n(head_->guess_bias + guess.kind * n, n, x_.data());
    fill_rope(position_++);
    std::fill(parts_.begin(), parts_.end(), Part{-INFINITY, 0, 0});
    for (Op& op : ops_) op.next.store(0, std::memory_order_relaxed);
}

void HeadStep::norm(int ith, const float* weight) {
    const ModelParams& p = backbone_->params;
    float* y = normed_[count(ith)].data();
    kernels_->rms_norm(x_.data(), weight, p.n_embd, p.norm_eps, y);
    kernels_->quantize(y, p.n_embd, act_normed_[count(ith)].data());
}

// x [n_embd] += W_in z; q [sources n_head head_dim] = W_q of its first two parts
void HeadStep::run_input(const HeadLayer& layer, Op& op, int, int nth) {
    const MatmulArgs in{&head_->input, act_z_.data(), z_.data(), 1, x_.data(), backbone_->params.n_embd,
                        true};
    const MatmulArgs query{&layer.q, act_z_.data(), z_.data(), 1, q_.data(), layer.q.n_row, false};
    const int64_t n_in = in.w->n_group;
    share_units(op.next, nth, n_in + layer.q.n_group, 8, [&](int64_t begin, int64_t end) {
        if (begin < n_in) kernels_->matmul(in, begin, std::min(end, n_in));
        if (end > n_in) kernels_->matmul(query, std::max(begin, n_in) - n_in, end - n_in);
    });
}

void HeadStep::run_query(const HeadLayer& layer, Op& op, int ith, int nth) {
    norm(ith, layer.attn_norm);
    const MatmulArgs query{
        &layer.q, act_normed_[count(ith)].data(), normed_[count(ith)].data(), 1, q_.data(), layer.q.n_row,
        false};
    share_units(op.next, nth, layer.q.n_group, 8,
                [&](int64_t begin, int64_t end) { kernels_->matmul(query, begin, end); });
}

// Norm, RoPE and scale on n query heads of one source.
void HeadStep::query_rows(const HeadLayer& layer, int source, int head, int n) {
    const ModelParams& p = backbone_->params;
    const Layer& read = backbone_->layers[count(layer.sources[count(source)])];
    for (int h = head; h < head + n; h++) {
        float* row = q_.data() + (int64_t{source} * p.n_head + h) * p.head_dim;
        if (layer.q_norm)
            kernels_->rms_norm(row, layer.q_norm + int64_t{source} * p.head_dim, p.head_dim, p.norm_eps, row);
        rotate(p, (read.sliding ? rope_sliding_ : rope_).data(), row);
        kernels_->scale(row, 1.0f / std::sqrt(static_cast<float>(p.head_dim)), p.head_dim);
    }
}

// att [sources n_head head_dim]: straight from the cache of the source layers
void HeadStep::run_attention(const HeadLayer& layer, Op& op, int ith, int nth) {
    const ModelParams& p = backbone_->params;
    const int group = p.n_head / p.n_head_kv, tiles = (group + kQueryTile - 1) / kQueryTile;
    const auto n_source = static_cast<int64_t>(layer.sources.size());
    share_units(op.next, nth, n_source * p.n_head_kv * tiles, 64, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; u++) {
            const int source = static_cast<int>(u / (p.n_head_kv * tiles));
            const int kv_head = static_cast<int>(u / tiles % p.n_head_kv);
            const int in_group = static_cast<int>(u % tiles) * kQueryTile;
            const int head = kv_head * group + in_group, n = std::min(kQueryTile, group - in_group);
            query_rows(layer, source, head, n);
            const int read = layer.sources[count(source)];
            const float* query[kQueryTile];
            float* out[kQueryTile];
            int64_t first[kQueryTile], last[kQueryTile];
            for (int r = 0; r < n; r++) {
                const int64_t at = (int64_t{source} * p.n_head + head + r) * p.head_dim;
                query[r] = q_.data() + at;
                out[r] = att_.data() + at;
                // the newest cached position stays in sight, however far a draft has moved on
                first[r] = std::min(cache_->first_visible(read, position_ - 1), cached_ - 1);
                last[r] = cached_ - 1;
            }
            const AttentionArgs args = {p.head_dim,
                                        n,
                                        query,
                                        first,
                                        last,
                                        cache_->key(read, kv_head),
                                        cache_->value(read, kv_head),
                                        cache_->capacity(read)};
            attend_rows(*kernels_, args, out, scratch_[count(ith)].data());
            // a tile is a whole number of blocks (see HeadLoader::read_metadata)
            kernels_->quantize(out[0], int64_t{n} * p.head_dim,
                               act_att_.data() + (out[0] - att_.data()) / kBlockCols);
        }
    });
}

void HeadStep::run_attn_out(const HeadLayer& layer, Op& op, int, int nth) {
    const MatmulArgs out{&layer.o,  act_att_.data(),          att_.data(), 1,
                         x_.data(), backbone_->params.n_embd, true};
    share_units(op.next, nth, layer.o.n_group, 8,
                [&](int64_t begin, int64_t end) { kernels_->matmul(out, begin, end); });
}

void HeadStep::run_gate_up(const HeadLayer& layer, Op& op, int ith, int nth) {
    norm(ith, layer.ffn_norm);
    const ActBlock* act = act_normed_[count(ith)].data();
    const float* y = normed_[count(ith)].data();
    const int64_t n_ff = head_->n_ff;
    const MatmulArgs gate{&layer.gate, act, y, 1, gate_.data(), n_ff, false};
    const MatmulArgs up{&layer.up, act, y, 1, up_.data(), n_ff, false};
    constexpr int64_t groups = kBlockCols / kGroupRows;  // whole blocks: who has the values quantises them
    share_units(
        op.next, nth, layer.gate.n_group, 8,
        [&](int64_t begin, int64_t end) {
            kernels_->matmul(gate, begin, end);
            kernels_->matmul(up, begin, end);
            const int64_t row = begin * kGroupRows, n = std::min(end * kGroupRows, n_ff) - row;
            kernels_->glu(backbone_->params.activation, gate_.data() + row, up_.data() + row, n);
            kernels_->quantize(gate_.data() + row, n, act_ff_.data() + row / kBlockCols);
        },
        groups);
}

void HeadStep::run_down(const HeadLayer& layer, Op& op, int, int nth) {
    const MatmulArgs down{&layer.down, act_ff_.data(),           gate_.data(), 1,
                          x_.data(),   backbone_->params.n_embd, true};
    share_units(op.next, nth, layer.down.n_group, 8,
                [&](int64_t begin, int64_t end) { kernels_->matmul(down, begin, end); });
}

// state [n_embd] = norm(x); logits of the draft vocabulary, and what a softmax needs of them
void HeadStep::run_logits(const HeadLayer&, Op& op, int ith, int nth) {
    norm(ith, head_->output_norm);
    const ActBlock* act = act_normed_[count(ith)].data();
    const float* y = normed_[count(ith)].data();
    if (ith == 0) std::copy_n(y, backbone_->params.n_embd, state_.data());
    if (backbone_->output.format == Format::q8_0) adjust_to_high_plane(&act_normed_[count(ith)]);
    constexpr float negligible = 14;
    Part part{-INFINITY, 0, 0};
    share_units(op.next, nth, static_cast<int64_t>(units_.size()), 8, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; u++) {
            const Unit& unit = units_[count(u)];
            const PackedMatrix rows = draft_rows(backbone_->output, unit.group, unit.count);
            float* out = logits_.data() + unit.at;
            kernels_->matmul({&rows, act, y, 1, out, rows.n_row, false}, 0, unit.count);
            const int32_t best = kernels_->argmax(out, rows.n_row);
            if (out[best] > part.top) {
                part.sum *= std::exp(part.top - out[best]);
                part.top = out[best];
                part.token = unit.group * kGroupRows + best;
            }
            for (int64_t i = 0; i < rows.n_row; i++) {
                if (out[i] > part.top - negligible) part.sum += std::exp(out[i] - part.top);
            }
        }
    });
    parts_[count(ith)] = part;
}

HeadDraft HeadStep::result() const {
    const Part* top = parts_.data();
    for (const Part& part : parts_) {
        if (part.top > top->top || (part.top == top->top && part.token < top->token)) top = &part;
    }
    float sum = 0;
    for (const Part& part : parts_) {
        if (part.sum > 0) sum += part.sum * std::exp(part.top - top->top);
    }
    return {top->token, 1 / sum};
}

}  // namespace mtp
