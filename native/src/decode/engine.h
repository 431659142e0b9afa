// One sequence on one model: forward passes, arg-max, logits, roll back, abort.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../graph/graph.h"
#include "../kv/kv_cache.h"
#include "../model/model.h"
#include "../text/tokenizer.h"

struct ggml_threadpool;

namespace mtp {

struct EngineOptions {
    int64_t n_ctx = 0;  // 0: the model's own, at most 4096
    int n_threads = 1;
    std::string kernel = "auto";  // or the name of a set
};

// Asked every few milliseconds during long work, on the calling thread; true stops it.
using Interrupt = std::function<bool()>;
using Progress = std::function<void(int64_t done, int64_t total)>;

// Screened passes: groups of 8 output rows looked at (for each token), and those of them computed in full.
struct ScreenStats {
    int64_t passes = 0;
    int64_t full_passes = 0;  // arg-max passes that read everything because screening left too much
    int64_t groups = 0;
    int64_t survivors = 0;
    double share = 0;  // survivors / groups, lately
    int pause = 0;     // passes that screening sits out
    int rest = 0;      // how long the next pause will be: it doubles while screening goes on to fail
};

class Engine {
  public:
    static Status open(const std::string& path, const EngineOptions& options, const Progress& progress,
                       const Interrupt& interrupt, std::unique_ptr<Engine>* out);
    ~Engine();

    // Any number of tokens in chunks; *next is the arg-max after the last. An abort leaves the finished
    // chunks.
    Status prefill(const int32_t* tokens, int64_t n, const Progress& progress, int32_t* next);
    // One pass over 1..kMaxDecode tokens; next[i] is the arg-max after token i. with_logits: logits_row works
    // too, which takes reading the whole output matrix.
    Status decode(const int32_t* tokens, int n, int32_t* next, bool with_logits = false);
    // Any number of tokens; out: [n][n_vocab].
    Status logits(const int32_t* tokens, int64_t n, float* out);
    Status rollback(int64_t length) { return cache_.truncate(length); }
    void abort() { aborted_ = true; }
    void set_interrupt(Interrupt interrupt) { interrupt_ = std::move(interrupt); }

    // [rows][n_embd] after the final norm, of the last pass's rows
    const float* hidden() const { return work_->hidden.data(); }
    // [n_vocab] of row `row` of the last pass; sampling may change it in place
    float* logits_row(int row) { return work_->logits.get() + int64_t{row} * model_->params.n_vocab; }
    int32_t best(int row) const;  // arg-max of that row
    // Row of the last pass that belongs to the newest token in the cache; -1 when there is none (any more).
    int newest_row() const { return rows_end_ == cache_.length() ? rows_ - 1 : -1; }
    int64_t length() const { return cache_.length(); }
    int64_t n_ctx() const { return cache_.n_ctx(); }
    int n_threads() const { return options_.n_threads; }
    const Model& model() const { return *model_; }
    const Tokenizer& tokenizer() const { return *tokenizer_; }
    const char* kernel_name() const { return context_.kernels->name; }
    const ScreenStats& screen_stats() const { return screen_; }
    void allow_screening(bool allowed) { screening_allowed_ = allowed; }
    size_t cache_bytes() const { return cache_.reserved_bytes(); }
    KvCache& cache() { return cache_; }

  private:
    Engine() = default;
    Status set_up();
    Status check(const int32_t* tokens, int64_t n) const;
    // Runs one pass and appends its tokens to the cache; the last `rows` of them get logits.
    Status forward(const int32_t* tokens, int k, int rows, bool screened);
    Status graph(int k, int rows, bool screened, PassGraph** out);
    bool screening();  // whether an arg-max is to be screened: it pays, most of the time
    void count_survivors(int rows);
    static bool poll_abort(void* self);

    EngineOptions options_;
    std::unique_ptr<Model> model_;
    std::unique_ptr<Tokenizer> tokenizer_;
    KvCache cache_;
    ScreenStats screen_;
    bool screening_allowed_ = true;
    bool screened_ = false;  // the last pass
    int rows_ = 0;           // rows with logits of the last pass
    int64_t rows_end_ = -1;  // length of the cache after it
    std::unique_ptr<Workspace> work_;
    OpContext context_;
    std::map<std::tuple<int, int, bool>, std::unique_ptr<PassGraph>> graphs_;  // by (width, rows, screened)
    ggml_threadpool* pool_ = nullptr;
    std::vector<uint8_t> plan_buffer_;
    Interrupt interrupt_;
    std::atomic<bool> aborted_{false};
};

}  // namespace mtp
