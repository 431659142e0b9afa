// One draft step of a head as a ggml graph, and the buffers it works in.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "../draft/copy_guess.h"
#include "../kernels/kernels.h"
#include "../kv/kv_cache.h"
#include "../model/model.h"
#include "ggml.h"
#include "head_model.h"

namespace mtp {

// The most likely next token by the head, and the share it gives it among its draft vocabulary.
struct HeadDraft {
    int32_t token = 0;
    float probability = 0;
};

// Chances, before anything is drafted: of copying's guess, and of the head's first token.
struct Outlook {
    float copy = 0;
    float head = 0;
};

class HeadStep {
  public:
    static Status build(const Model* backbone, const HeadModel* head, const KernelSet* kernels,
                        const KvCache* cache, int n_threads, std::unique_ptr<HeadStep>* out);
    ~HeadStep();
    HeadStep(const HeadStep&) = delete;
    HeadStep& operator=(const HeadStep&) = delete;

    // The draft vocabulary: the head's own groups of tokens, and those of `tokens`.
    void set_vocabulary(const std::vector<int32_t>& tokens);
    // The state after the newest cached token: [n_embd], copied.
    void begin(const float* hidden);
    // What the next run of the graph is about: the token behind the state, and what copying would say next.
    void prepare(int32_t token, const Guess& guess);
    // What to expect of a first step about these; a few microseconds. Only if has_outlook().
    Outlook outlook(int32_t token, const Guess& guess);
    bool has_outlook() const { return head_->outlook.bias != nullptr; }
    ggml_cgraph* graph() const { return graph_; }
    HeadDraft result() const;
    const float* state() const { return state_.data(); }  // [n_embd] h' of the last step
    int64_t vocabulary() const { return 8 * n_group_; }
    size_t buffer_bytes() const;

  private:
    struct Op {
        void (HeadStep::*run)(const HeadLayer&, Op&, int ith, int nth) = nullptr;
        HeadStep* step = nullptr;
        const HeadLayer* layer = nullptr;
        bool first = false;
        std::atomic<int64_t> next{0};
    };
    struct Unit {  // neighbouring groups of output rows
        int32_t group;
        int32_t count;
        int64_t at;  // of the first logit
    };
    struct Part {  // of a softmax, by thread
        float top;
        float sum;  // of exp(logit - top)
        int32_t token;
    };

    HeadStep() = default;
    void append(void (HeadStep::*run)(const HeadLayer&, Op&, int, int), const char* name,
                const HeadLayer* layer, bool first);
    static void call(ggml_tensor*, int ith, int nth, void* userdata);

    void run_input(const HeadLayer& layer, Op& op, int ith, int nth);      // z -> x, q
    void run_query(const HeadLayer& layer, Op& op, int ith, int nth);      // x -> q
    void run_attention(const HeadLayer& layer, Op& op, int ith, int nth);  // q, cache -> att
    void run_attn_out(const HeadLayer& layer, Op& op, int ith, int nth);   // x += W_o att
    void run_gate_up(const HeadLayer& layer, Op& op, int ith, int nth);    // x -> gate
    void run_down(const HeadLayer& layer, Op& op, int ith, int nth);       // x += W_down gate
    void run_logits(const HeadLayer& layer, Op& op, int ith, int nth);     // x -> state, logits
    void query_rows(const HeadLayer& layer, int source, int head, int n);
    void norm(int ith, const float* weight);  // x -> normed_[ith], quantised too
    void fill_rope(int64_t position);
    void fill_input(int32_t token, const Guess& guess);  // z_

    const Model* backbone_ = nullptr;
    const HeadModel* head_ = nullptr;
    const KernelSet* kernels_ = nullptr;
    const KvCache* cache_ = nullptr;
    ggml_context* ggml_ = nullptr;
    ggml_cgraph* graph_ = nullptr;
    ggml_tensor* last_ = nullptr;
    std::deque<Op> ops_;

    std::vector<Unit> units_;
    int64_t n_group_ = 0;
    int64_t cached_ = 0;    // positions in the cache when the draft began
    int64_t position_ = 0;  // of the token behind the state

    std::vector<float> state_;                           // [n_embd]
    std::vector<float> z_;                               // [3 n_embd]
    std::vector<ActBlock> act_z_;                        // [3 n_embd / 32]
    std::vector<float> x_;                               // [n_embd]
    std::vector<float> q_, att_;                         // [sources n_head head_dim]
    std::vector<ActBlock> act_att_;                      // [sources n_head head_dim / 32]
    std::vector<float> gate_, up_;                       // [n_ff]
    std::vector<ActBlock> act_ff_;                       // [n_ff / 32]
    std::vector<std::vector<float>> normed_;             // [thread][n_embd]
    std::vector<std::vector<ActBlock>> act_normed_;      // [thread][n_embd / 32]
    std::vector<std::vector<float>> scratch_;            // [thread] of attend_rows
    std::vector<double> frequency_, frequency_sliding_;  // [rope_dim / 2]
    std::vector<float> rope_, rope_sliding_;             // [rope_dim] cos, sin pairs
    std::vector<float> logits_;                          // [8 groups]
    std::vector<Part> parts_;                            // [thread]
};

}  // namespace mtp
