#include "graph.h"

#include <algorithm>

namespace mtp {
namespace {

// ggml calls this on every thread of the pool
void run_op(ggml_tensor*, int ith, int nth, void* userdata) {
    Op& op = *static_cast<Op*>(userdata);
    op.run(op, ith, nth);
}

}  // namespace

class GraphBuilder {
  public:
    GraphBuilder(OpContext* context, PassGraph* graph, const PassShape& shape)
        : context_(context), graph_(graph), shape_(shape), width_(shape.width),
          params_(context->model->params) {}

    void build();

  private:
    // Appends an op whose result is [n, rows]; it depends on the op before, which keeps the chain in order.
    Op& append(void (*run)(Op&, int, int), const char* name, int64_t n, int64_t rows, void* data) {
        graph_->ops_.emplace_back();
        Op& op = graph_->ops_.back();
        op.run = run;
        op.context = context_;
        ggml_tensor* sources[1] = {last_};
        ggml_tensor* node = ggml_custom_4d(graph_->ggml_, GGML_TYPE_F32, n, rows, 1, 1, sources,
                                           last_ ? 1 : 0, run_op, GGML_N_TASKS_MAX, &op);
        node->data = data;
        ggml_set_name(node, name);
        ggml_build_forward_expand(graph_->graph_, node);
        last_ = node;
        return op;
    }
    Op& layer_op(int index, void (*run)(Op&, int, int), const char* name, int64_t n, void* data) {
        Op& op = append(run, name, n, width_, data);
        op.layer = &context_->model->layers[static_cast<size_t>(index)];
        op.layer_index = index;
        return op;
    }
    static void feeds(Op& op, std::initializer_list<const PackedMatrix*> readers) {
        for (const PackedMatrix* m : readers)
            (format_is_float(m->format) ? op.want_f32 : op.want_quantized) = true;
    }
    void build_layer(int index);
    void build_capture(int index);

    OpContext* context_;
    PassGraph* graph_;
    PassShape shape_;
    int width_;
    const ModelParams& params_;
    ggml_tensor* last_ = nullptr;
    const float* pending_post_norm_ = nullptr;  // of the branch that waits in y
};

// llama and gemma3 differ by their norms (per head, after each branch), windows and activation: all in Layer.
void GraphBuilder::build_layer(int index) {
    const ModelParams& p = params_;
    Workspace& w = *context_->work;
    const Layer& l = context_->model->layers[static_cast<size_t>(index)];
    const int64_t n_q = int64_t{p.n_head} * p.head_dim, n_kv = int64_t{p.n_head_kv} * p.head_dim;

    Op& attn_norm = layer_op(index, op_norm, "attn_norm", p.n_embd, w.y.data());  // [n_embd, k]
    attn_norm.norm = l.attn_norm;
    attn_norm.post_norm = pending_post_norm_;
    feeds(attn_norm, {&l.q, &l.k, &l.v});
    layer_op(index, op_qkv, "qkv", n_q + 2 * n_kv, w.qkv.data());  // [n_q + 2 n_kv, k]
    layer_op(index, op_rope_store, "rope_store", n_q + 2 * n_kv, w.qkv.data());
    if (shape_.capture) build_capture(index);
    // behind the last layer's keys and values only the tokens that get an output matter
    const bool last = index == p.n_layer - 1;
    if (last && shape_.rows == 0) return;
    const auto tail_op = [&](void (*run)(Op&, int, int), const char* name, int64_t n, void* data) -> Op& {
        Op& op = layer_op(index, run, name, n, data);
        op.tail = last;
        return op;
    };
    Op& attention = tail_op(op_attention, "attention", n_q, w.att.data());  // [n_q, k]
    if (p.head_dim % kBlockCols == 0) {
        feeds(attention, {&l.o});
    } else {
        feeds(tail_op(op_quantize_att, "quantize_att", n_q, w.att.data()), {&l.o});
    }
    tail_op(op_attn_output, "attn_output", p.n_embd, w.x.data()).post_norm = l.attn_post_norm;  // [n_embd, k]

    Op& ffn_norm = tail_op(op_norm, "ffn_norm", p.n_embd, w.y.data());  // [n_embd, k]
    ffn_norm.norm = l.ffn_norm;
    ffn_norm.post_norm = l.attn_post_norm;
    feeds(ffn_norm, {&l.gate, &l.up});
    feeds(tail_op(op_gate_up, "gate_up", p.n_ff, w.act_ff.data()), {&l.down});           // [n_ff, k]
    tail_op(op_ffn_down, "ffn_down", p.n_embd, w.x.data()).post_norm = l.ffn_post_norm;  // [n_embd, k]
    pending_post_norm_ = l.ffn_post_norm;
}

void GraphBuilder::build_capture(int index) {
    const std::vector<int>& layers = context_->capture->layers;
    const auto found = std::find(layers.begin(), layers.end(), index);
    if (found == layers.end()) return;
    layer_op(index, op_capture, "capture", params_.n_embd, context_->capture->x.data()).slot =
        static_cast<int>(found - layers.begin());
}

void GraphBuilder::build() {
    const ModelParams& p = params_;
    Workspace& w = *context_->work;
    append(op_embed, "embed", p.n_embd, width_, w.x.data());  // [n_embd, k]
    for (int i = 0; i < p.n_layer; i++) build_layer(i);
    const int rows = shape_.rows;
    if (rows == 0) return;
    Op& norm = append(op_output_norm, "output_norm", p.n_embd, rows, w.hidden.data());  // [n_embd, rows]
    norm.norm = context_->model->output_norm;
    norm.post_norm = pending_post_norm_;
    if (shape_.output == PassOutput::hidden) return;
    feeds(norm, {&context_->model->output});
    if (shape_.output == PassOutput::screened) {
        append(op_screen, "screen", context_->model->output.n_group, rows,
               w.upper.data());  // [n_group, rows]
        append(op_rescore, "rescore", kMaxDecode, 1, w.best.data());
        return;
    }
    if (shape_.output == PassOutput::candidates) {
        append(op_screen, "screen", context_->model->output.n_group, rows, w.upper.data());
        append(op_floor, "floor", 1, rows, w.floor.data());
        append(op_candidates, "candidates", 1, rows, w.floor.data());
        return;
    }
    append(op_logits, "logits", p.n_vocab, rows, w.logits.get());  // [n_vocab, rows]
    append(op_argmax, "argmax", w.n_span, rows, w.argmax.data());
}

Status PassGraph::build(OpContext* context, const PassShape& shape, std::unique_ptr<PassGraph>* out) {
    const size_t n_node = static_cast<size_t>(context->model->params.n_layer) * 11 + 5;
    ggml_init_params init = {ggml_tensor_overhead() * n_node + ggml_graph_overhead_custom(n_node, false),
                             nullptr, true};
    std::unique_ptr<PassGraph> graph(new PassGraph());
    graph->ggml_ = ggml_init(init);
    if (!graph->ggml_) return Status::error(Code::out_of_memory, "not enough memory for a graph");
    graph->graph_ = ggml_new_graph_custom(graph->ggml_, n_node, false);
    GraphBuilder(context, graph.get(), shape).build();
    *out = std::move(graph);
    return {};
}

PassGraph::~PassGraph() {
    if (ggml_) ggml_free(ggml_);
}

void PassGraph::reset() {
    for (Op& op : ops_) op.next.store(0, std::memory_order_relaxed);
}

}  // namespace mtp
