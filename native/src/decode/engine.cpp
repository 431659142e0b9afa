#include "engine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

#include "ggml-cpu.h"

namespace mtp {
namespace {

constexpr int64_t kDefaultCtx = 4096;
constexpr int64_t kRingSlack = 512;  // room to go back in sliding layers; at least the widest pass
constexpr int kMaxThreads = 64;
static_assert(kRingSlack >= kMaxWidth);

Status choose_kernels(const std::string& name, const KernelSet** out) {
    std::string names;
    for (const KernelSet* set : kernel_sets_usable()) {
        if (name == set->name || name == "auto") {
            *out = set;
            return {};
        }
        names += std::string(names.empty() ? "" : ", ") + set->name;
    }
    return Status::error(Code::bad_argument,
                         "kernel set '" + name + "' cannot run here (auto, " + names + " can)");
}

}  // namespace

Engine::~Engine() {
    if (pool_) ggml_threadpool_free(pool_);
}

Status Engine::open(const std::string& path, const EngineOptions& options, const Progress& progress,
                    const Interrupt& interrupt, std::unique_ptr<Engine>* out) {
    std::unique_ptr<Engine> engine(new Engine());
    engine->options_ = options;
    if (options.n_threads < 1 || options.n_threads > kMaxThreads) {
        return Status::error(Code::bad_argument, "threads must be 1 to " + std::to_string(kMaxThreads));
    }
    if (Status s = choose_kernels(options.kernel, &engine->context_.kernels); !s.ok()) return s;

    // the vocabulary is read beside the weights
    Status vocabulary;
    std::thread reader([&] { vocabulary = Tokenizer::load(path, &engine->tokenizer_); });
    const auto report = [&](size_t done, size_t total) {
        if (progress) progress(static_cast<int64_t>(done), static_cast<int64_t>(total));
        return !(interrupt && interrupt());
    };
    const Status weights =
        Model::load(path, engine->context_.kernels->order, options.n_threads, report, &engine->model_);
    reader.join();
    if (!weights.ok()) return weights;
    if (!vocabulary.ok()) return vocabulary;
    if (engine->tokenizer_->n_tokens() > engine->model_->params.n_vocab) {
        return Status::error(Code::bad_file,
                             path + ": the vocabulary has more tokens than the embedding has rows");
    }
    if (Status s = engine->set_up(); !s.ok()) return s;
    *out = std::move(engine);
    return {};
}

Status Engine::set_up() {
    const ModelParams& p = model_->params;
    int64_t n_ctx = options_.n_ctx > 0 ? options_.n_ctx : std::min(p.n_ctx_train, kDefaultCtx);
    if (n_ctx > p.n_ctx_train) {
        return Status::error(Code::bad_argument, "a context of " + std::to_string(n_ctx) +
                                                     " tokens is more than the model's " +
                                                     std::to_string(p.n_ctx_train));
    }
    KvShape shape;
    shape.n_layer = p.n_layer;
    shape.n_head_kv = p.n_head_kv;
    shape.head_dim = p.head_dim;
    shape.n_ctx = n_ctx;
    shape.window = p.window;
    shape.ring_slack = kRingSlack;
    for (const Layer& l : model_->layers) shape.sliding.push_back(l.sliding);
    if (Status s = cache_.init(shape); !s.ok()) return s;

    work_ = std::make_unique<Workspace>(*model_, options_.n_threads);
    context_.model = model_.get();
    context_.cache = &cache_;
    context_.work = work_.get();
    ggml_threadpool_params pool = ggml_threadpool_params_default(options_.n_threads);
    pool_ = ggml_threadpool_new(&pool);
    if (!pool_) return Status::error(Code::out_of_memory, "cannot start threads");
    return {};
}

Status Engine::check(const int32_t* tokens, int64_t n) const {
    if (n < 1) return Status::error(Code::bad_argument, "no tokens");
    if (cache_.length() + n > cache_.n_ctx()) {
        return Status::error(Code::context_full, "the context of " + std::to_string(cache_.n_ctx()) +
                                                     " tokens is full (" + std::to_string(cache_.length()) +
                                                     " used, " + std::to_string(n) + " more asked for)");
    }
    for (int64_t i = 0; i < n; i++) {
        if (tokens[i] < 0 || tokens[i] >= model_->params.n_vocab) {
            return Status::error(Code::bad_argument,
                                 "token id " + std::to_string(tokens[i]) + " is outside of the vocabulary");
        }
    }
    return {};
}

bool Engine::poll_abort(void* self) {
    Engine& engine = *static_cast<Engine*>(self);
    if (!engine.aborted_ && engine.interrupt_ && engine.interrupt_()) engine.aborted_ = true;
    return engine.aborted_;
}

Status Engine::graph(const PassShape& shape, PassGraph** out) {
    auto& slot = graphs_[shape];
    if (!slot) {
        if (Status s = PassGraph::build(&context_, shape, &slot); !s.ok()) return s;
    }
    *out = slot.get();
    return {};
}

bool Engine::screening() {
    if (!screening_allowed_ || !model_->output.has_residual) return false;
    if (screen_.pause == 0) return true;
    screen_.pause--;
    screen_.full_passes++;
    return false;
}

Status Engine::compute(ggml_cgraph* graph) {
    ggml_cplan plan = ggml_graph_plan(graph, options_.n_threads, pool_);
    if (plan.work_size > plan_buffer_.size()) plan_buffer_.resize(plan.work_size);
    plan.work_data = plan_buffer_.data();
    plan.abort_callback = poll_abort;
    plan.abort_callback_data = this;
    const ggml_status status = ggml_graph_compute(graph, &plan);
    if (status == GGML_STATUS_ABORTED) {
        aborted_ = false;
        return Status::error(Code::aborted, "aborted");
    }
    if (status != GGML_STATUS_SUCCESS) return Status::error(Code::internal, "a pass failed in ggml");
    return {};
}

Status Engine::forward(const int32_t* tokens, const PassShape& shape) {
    PassGraph* graph = nullptr;
    const int k = shape.width, rows = shape.rows;
    if (Status s = this->graph(shape, &graph); !s.ok()) return s;
    context_.pass = {k, cache_.length(), tokens, k - rows};
    rope_tables(*model_, context_.pass, work_.get());
    graph->reset();
    // a runtime may give fewer threads than asked for: what the others would have found is nothing
    std::fill(work_->best.begin(), work_->best.end(), ArgmaxPart{-INFINITY, INT32_MAX});
    for (auto& found : work_->found) found.clear();
    std::fill(work_->survivors.begin(), work_->survivors.end(), int64_t{0});
    rows_end_ = -1;
    cache_.reserve(k);
    if (Status s = compute(graph->graph()); !s.ok()) return s;
    cache_.extend(k);
    rows_ = rows;
    rows_end_ = rows > 0 ? cache_.length() : -1;
    output_ = shape.output;
    if (output_ == PassOutput::screened || output_ == PassOutput::candidates) count_survivors(rows);
    return {};
}

// A flat distribution leaves many rows that could win; computing them one by one then costs more than reading
// all.
void Engine::count_survivors(int rows) {
    constexpr double too_many = 0.25;
    constexpr int rest_least = 32, rest_most = 4096;
    int64_t survivors = 0;
    for (const int64_t n : work_->survivors) survivors += n;
    const int64_t groups = rows * model_->output.n_group;
    screen_.passes++;
    screen_.groups += groups;
    screen_.survivors += survivors;
    const double bucket = 8 * std::log2(1 + static_cast<double>(survivors) / rows);
    screen_.by_survivors[static_cast<size_t>(
        std::min(kSurvivorBuckets - 1, static_cast<int>(std::lround(bucket))))]++;
    screen_.share += 0.2 * (static_cast<double>(survivors) / static_cast<double>(groups) - screen_.share);
    if (screen_.share > too_many) {
        screen_.share = 0;
        screen_.rest = std::min(rest_most, std::max(rest_least, 2 * screen_.rest));
        screen_.pause = screen_.rest;
    } else if (screen_.share < too_many / 2) {
        screen_.rest = screen_.rest > 1 ? screen_.rest - 1 : 0;
    }
}

void Engine::candidates(int row, std::vector<Candidate>* out) const {
    out->clear();
    for (int t = 0; t < options_.n_threads; t++) {
        const auto& found = work_->found[static_cast<size_t>(t * kMaxDecode + row)];
        out->insert(out->end(), found.begin(), found.end());
    }
    std::sort(out->begin(), out->end(),
              [](const Candidate& a, const Candidate& b) { return a.token < b.token; });
}

int32_t Engine::best(int row) const {
    if (output_ == PassOutput::candidates) {
        Candidate top = {-INFINITY, INT32_MAX};
        for (int t = 0; t < options_.n_threads; t++) {
            for (const Candidate& one : work_->found[static_cast<size_t>(t * kMaxDecode + row)]) {
                if (one.logit > top.logit || (one.logit == top.logit && one.token < top.token)) top = one;
            }
        }
        return top.token;
    }
    if (output_ == PassOutput::screened) {
        ArgmaxPart top = work_->best[static_cast<size_t>(row)];
        for (int t = 1; t < options_.n_threads; t++) {
            const ArgmaxPart& part = work_->best[static_cast<size_t>(t * kMaxDecode + row)];
            if (part.value > top.value || (part.value == top.value && part.token < top.token)) top = part;
        }
        return top.token;
    }
    const ArgmaxPart* parts = work_->argmax.data() + int64_t{row} * work_->n_span;
    const ArgmaxPart* top = parts;
    for (int i = 1; i < work_->n_span; i++) {
        if (parts[i].value > top->value) top = parts + i;
    }
    return top->token;
}

Status Engine::prefill(const int32_t* tokens, int64_t n, const Progress& progress, int32_t* next) {
    if (Status s = check(tokens, n); !s.ok()) return s;
    aborted_ = false;
    for (int64_t done = 0; done < n;) {
        const int k = static_cast<int>(std::min<int64_t>(kMaxWidth, n - done));
        const bool last = done + k == n;
        if (Status s = forward(tokens + done, {k, last ? 1 : 0}); !s.ok()) return s;
        done += k;
        if (progress) progress(done, n);
    }
    *next = best(0);
    return {};
}

Status Engine::decode(const int32_t* tokens, int n, int32_t* next, Want want, const CandidateWish& wish) {
    if (n > kMaxDecode)
        return Status::error(Code::bad_argument,
                             "a pass takes at most " + std::to_string(kMaxDecode) + " tokens");
    if (Status s = check(tokens, n); !s.ok()) return s;
    aborted_ = false;
    PassOutput output = PassOutput::logits;
    if (want != Want::logits && screening())
        output = want == Want::best ? PassOutput::screened : PassOutput::candidates;
    context_.wish = wish;
    if (Status s = forward(tokens, {n, n, output}); !s.ok()) return s;
    for (int i = 0; i < n; i++) next[i] = best(i);
    return {};
}

Status Engine::logits(const int32_t* tokens, int64_t n, float* out) {
    if (Status s = check(tokens, n); !s.ok()) return s;
    aborted_ = false;
    const int64_t n_vocab = model_->params.n_vocab;
    for (int64_t done = 0; done < n;) {
        const int k = static_cast<int>(std::min<int64_t>(kMaxDecode, n - done));
        if (Status s = forward(tokens + done, {k, k}); !s.ok()) return s;
        std::memcpy(out + done * n_vocab, work_->logits.get(),
                    static_cast<size_t>(k * n_vocab) * sizeof(float));
        done += k;
    }
    return {};
}

Status Engine::open_head(const std::string& path) {
    std::unique_ptr<HeadModel> head;
    std::unique_ptr<HeadStep> step;
    if (Status s = HeadModel::load(path, *model_, &head); !s.ok()) return s;
    if (Status s =
            HeadStep::build(model_.get(), head.get(), context_.kernels, &cache_, options_.n_threads, &step);
        !s.ok())
        return s;
    head_step_ = std::move(step);
    head_ = std::move(head);
    return {};
}

Status Engine::head_begin(int row) {
    if (!head_step_) return Status::error(Code::bad_argument, "there is no draft head");
    if (row < 0 || row >= kMaxWidth || cache_.length() == 0)
        return Status::error(Code::bad_argument, "no state to draft from");
    head_step_->begin(work_->hidden.data() + int64_t{row} * model_->params.n_embd);
    return {};
}

Status Engine::head_draft(int32_t token, const Guess& guess, HeadDraft* out) {
    if (!head_step_) return Status::error(Code::bad_argument, "there is no draft head");
    head_step_->prepare(token, guess);
    if (Status s = compute(head_step_->graph()); !s.ok()) return s;
    *out = head_step_->result();
    return {};
}

Status Engine::capture(const int32_t* tokens, int64_t n, const std::vector<int>& layers, float* hidden,
                       float* x, float* q) {
    const ModelParams& p = model_->params;
    if (Status s = check(tokens, n); !s.ok()) return s;
    for (const int layer : layers) {
        if (layer < 0 || layer >= p.n_layer) return Status::error(Code::bad_argument, "layer out of range");
    }
    aborted_ = false;
    const int64_t n_q = int64_t{p.n_head} * p.head_dim;
    if (capture_.layers != layers) {  // the graphs know the layers
        for (auto it = graphs_.begin(); it != graphs_.end();)
            it = it->first.capture ? graphs_.erase(it) : std::next(it);
        capture_.layers = layers;
        capture_.x.resize(layers.size() * static_cast<size_t>(kMaxWidth * p.n_embd));
        capture_.q.resize(layers.size() * static_cast<size_t>(kMaxWidth * n_q));
        context_.capture = &capture_;
    }
    for (int64_t done = 0; done < n;) {
        const int k = static_cast<int>(std::min<int64_t>(kMaxWidth, n - done));
        if (Status s = forward(tokens + done, {k, k, PassOutput::hidden, !layers.empty()}); !s.ok()) return s;
        rows_end_ = -1;  // no logits
        std::copy_n(work_->hidden.data(), k * p.n_embd, hidden + done * p.n_embd);
        for (size_t i = 0; i < layers.size(); i++) {
            const auto slot = static_cast<int64_t>(i);
            std::copy_n(capture_.x.data() + slot * kMaxWidth * p.n_embd, k * p.n_embd,
                        x + (slot * n + done) * p.n_embd);
            std::copy_n(capture_.q.data() + slot * kMaxWidth * n_q, k * n_q, q + (slot * n + done) * n_q);
        }
        done += k;
    }
    return {};
}

Status Engine::read_cache(int layer, int64_t begin, int64_t end, uint16_t* key, uint16_t* value) const {
    const ModelParams& p = model_->params;
    if (layer < 0 || layer >= p.n_layer || begin < 0 || end > cache_.length() || begin > end)
        return Status::error(Code::bad_argument, "no such layer or positions in the cache");
    if (cache_.length() - begin > cache_.capacity(layer))
        return Status::error(Code::bad_argument, "the sliding window has dropped these positions");
    for (int64_t position = begin; position < end; position++) {
        const int64_t slot = position % cache_.capacity(layer);
        for (int head = 0; head < p.n_head_kv; head++) {
            const uint16_t* from = cache_.key(layer, head) + slot / 8 * 8 * p.head_dim + slot % 8;
            for (int i = 0; i < p.head_dim; i++) *key++ = from[8 * i];
            value = std::copy_n(cache_.value(layer, head) + slot * p.head_dim, p.head_dim, value);
        }
    }
    return {};
}

}  // namespace mtp
