// One sequence on one model: forward passes, arg-max, logits, roll back, abort.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../graph/graph.h"
#include "../head/head_step.h"
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

constexpr int kSurvivorBuckets = 160;

// Screened passes: groups of 8 output rows looked at (for each token), and those of them computed in full.
struct ScreenStats {
    int64_t passes = 0;
    // passes by groups that survived, for each token: bucket b holds those around 2^(b / 8) - 1
    std::array<int64_t, kSurvivorBuckets> by_survivors{};
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
    // One pass over 1..kMaxDecode tokens; next[i] is the arg-max after token i. logits: logits_row works too,
    // which takes reading the whole output matrix. candidates: of each row the tokens that the wish names and
    // perhaps a few more, in candidates(), unless has_logits() tells that it was cheaper to compute all.
    enum class Want : uint8_t { best, candidates, logits };
    Status decode(const int32_t* tokens, int n, int32_t* next, Want want = Want::best,
                  const CandidateWish& wish = {});
    // Any number of tokens; out: [n][n_vocab].
    Status logits(const int32_t* tokens, int64_t n, float* out);
    // Any number of tokens, for training: hidden states [n][n_embd] of all of them, and for each of `layers`
    // what goes in, x [layer][n][n_embd], and the queries, q [layer][n][n_head head_dim].
    Status capture(const int32_t* tokens, int64_t n, const std::vector<int>& layers, float* hidden, float* x,
                   float* q);
    // Cached keys and values of one layer, positions [begin, end): f16 [end - begin][n_head_kv][head_dim].
    Status read_cache(int layer, int64_t begin, int64_t end, uint16_t* key, uint16_t* value) const;
    // A draft head for this model. Errors leave the engine as it was, without one.
    Status open_head(const std::string& path);
    const HeadModel* head() const { return head_.get(); }
    HeadStep* head_step() { return head_step_.get(); }
    // The state after the newest token of the cache goes into the head: hidden row `row` of the last pass.
    Status head_begin(int row);
    // What follows `token`, the first that is in no cache; then what follows the result, and so on.
    Status head_draft(int32_t token, const Guess& guess, HeadDraft* out);
    Status rollback(int64_t length) { return cache_.truncate(length); }
    void abort() { aborted_ = true; }
    void set_interrupt(Interrupt interrupt) { interrupt_ = std::move(interrupt); }

    // [rows][n_embd] after the final norm, of the last pass's rows
    const float* hidden() const { return work_->hidden.data(); }
    // [n_vocab] of row `row` of the last pass; sampling may change it in place
    float* logits_row(int row) { return work_->logits.get() + int64_t{row} * model_->params.n_vocab; }
    int32_t best(int row) const;  // arg-max of that row
    // Of that row, by token; after a pass that gave candidates.
    void candidates(int row, std::vector<Candidate>* out) const;
    // Row of the last pass that belongs to the newest token in the cache; -1 when there is none (any more).
    bool has_logits() const { return output_ == PassOutput::logits; }  // of the last pass
    int newest_row() const { return rows_end_ == cache_.length() ? rows_ - 1 : -1; }
    int64_t length() const { return cache_.length(); }
    int64_t n_ctx() const { return cache_.n_ctx(); }
    // Positions that a token at `position` sees, averaged over the layers.
    double attended(int64_t position) const { return cache_.attended(position); }
    // The sequence, out of the way as long as this lives: passes start from an empty cache.
    KvCache::Aside put_aside() { return KvCache::Aside(&cache_); }
    int n_threads() const { return options_.n_threads; }
    const Model& model() const { return *model_; }
    const Tokenizer& tokenizer() const { return *tokenizer_; }
    const char* kernel_name() const { return context_.kernels->name; }
    const ScreenStats& screen_stats() const { return screen_; }
    // Also ends a pause.
    void allow_screening(bool allowed) {
        screening_allowed_ = allowed;
        screen_.pause = screen_.rest = 0;
        screen_.share = 0;
    }
    size_t cache_bytes() const { return cache_.reserved_bytes(); }
    KvCache& cache() { return cache_; }

  private:
    Engine() = default;
    Status set_up();
    Status check(const int32_t* tokens, int64_t n) const;
    // Runs one pass and appends its tokens to the cache.
    Status forward(const int32_t* tokens, const PassShape& shape);
    Status graph(const PassShape& shape, PassGraph** out);
    bool screening();  // whether an arg-max is to be screened: it pays, most of the time
    void count_survivors(int rows);
    Status compute(ggml_cgraph* graph);
    static bool poll_abort(void* self);

    EngineOptions options_;
    std::unique_ptr<Model> model_;
    std::unique_ptr<Tokenizer> tokenizer_;
    KvCache cache_;
    ScreenStats screen_;
    bool screening_allowed_ = true;
    PassOutput output_ = PassOutput::logits;  // of the last pass
    int rows_ = 0;                            // rows with logits of the last pass
    int64_t rows_end_ = -1;                   // length of the cache after it
    std::unique_ptr<Workspace> work_;
    OpContext context_;
    std::map<PassShape, std::unique_ptr<PassGraph>> graphs_;
    Capture capture_;
    std::unique_ptr<HeadModel> head_;
    std::unique_ptr<HeadStep> head_step_;
    ggml_threadpool* pool_ = nullptr;
    std::vector<uint8_t> plan_buffer_;
    Interrupt interrupt_;
    std::atomic<bool> aborted_{false};
};

}  // namespace mtp
