#include "engine.h"

#include <algorithm>
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
    const Status weights = Model::load(path, options.n_threads, report, &engine->model_);
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

    work_ = std::make_unique<Workspace>(*model_, n_ctx, options_.n_threads);
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

Status Engine::graph(int k, int rows, bool screened, PassGraph** out) {
    auto& slot = graphs_[{k, rows, screened}];
    if (!slot) {
        if (Status s = PassGraph::build(&context_, k, rows, screened, &slot); !s.ok()) return s;
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

Status Engine::forward(const int32_t* tokens, int k, int rows, bool screened) {
    PassGraph* graph = nullptr;
    if (Status s = this->graph(k, rows, screened, &graph); !s.ok()) return s;
    context_.pass = {k, cache_.length(), tokens, k - rows};
    rope_tables(*model_, context_.pass, work_.get());
    graph->reset();
    ggml_cplan plan = ggml_graph_plan(graph->graph(), options_.n_threads, pool_);
    if (plan.work_size > plan_buffer_.size()) plan_buffer_.resize(plan.work_size);
    plan.work_data = plan_buffer_.data();
    plan.abort_callback = poll_abort;
    plan.abort_callback_data = this;
    rows_end_ = -1;
    cache_.reserve(k);
    const ggml_status status = ggml_graph_compute(graph->graph(), &plan);
    if (status == GGML_STATUS_ABORTED) {
        aborted_ = false;
        return Status::error(Code::aborted, "aborted");
    }
    if (status != GGML_STATUS_SUCCESS) return Status::error(Code::internal, "a pass failed in ggml");
    cache_.extend(k);
    rows_ = rows;
    rows_end_ = rows > 0 ? cache_.length() : -1;
    screened_ = screened;
    if (screened) count_survivors(rows);
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
    screen_.share += 0.2 * (static_cast<double>(survivors) / static_cast<double>(groups) - screen_.share);
    if (screen_.share > too_many) {
        screen_.share = 0;
        screen_.rest = std::min(rest_most, std::max(rest_least, 2 * screen_.rest));
        screen_.pause = screen_.rest;
    } else if (screen_.share < too_many / 2) {
        screen_.rest = screen_.rest > 1 ? screen_.rest - 1 : 0;
    }
}

int32_t Engine::best(int row) const {
    if (screened_) {
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
        if (Status s = forward(tokens + done, k, last ? 1 : 0, false); !s.ok()) return s;
        done += k;
        if (progress) progress(done, n);
    }
    *next = best(0);
    return {};
}

Status Engine::decode(const int32_t* tokens, int n, int32_t* next, bool with_logits) {
    if (n > kMaxDecode)
        return Status::error(Code::bad_argument,
                             "a pass takes at most " + std::to_string(kMaxDecode) + " tokens");
    if (Status s = check(tokens, n); !s.ok()) return s;
    aborted_ = false;
    if (Status s = forward(tokens, n, n, !with_logits && screening()); !s.ok()) return s;
    for (int i = 0; i < n; i++) next[i] = best(i);
    return {};
}

Status Engine::logits(const int32_t* tokens, int64_t n, float* out) {
    if (Status s = check(tokens, n); !s.ok()) return s;
    aborted_ = false;
    const int64_t n_vocab = model_->params.n_vocab;
    for (int64_t done = 0; done < n;) {
        const int k = static_cast<int>(std::min<int64_t>(kMaxDecode, n - done));
        if (Status s = forward(tokens + done, k, k, false); !s.ok()) return s;
        std::memcpy(out + done * n_vocab, work_->logits.get(),
                    static_cast<size_t>(k * n_vocab) * sizeof(float));
        done += k;
    }
    return {};
}

}  // namespace mtp
