// The operations of a pass as ggml custom ops. Each runs on all threads; units of work are handed out by a
// counter, so a slow core holds nobody up. Which thread takes a unit never changes its result.
#pragma once

#include <atomic>
#include <cmath>
#include <deque>

#include "../kernels/kernels.h"
#include "../kv/kv_cache.h"
#include "../model/model.h"
#include "ggml.h"
#include "workspace.h"

namespace mtp {

// Which tokens a screened pass is to name besides the arg-max: no fewer than these.
struct CandidateWish {
    int top_k = 0;                // so many of the likeliest; 0: as many as there are
    float log_min_p = -INFINITY;  // whose logit is at least the best one's and this
};

// Everything the ops of one engine share.
struct OpContext {
    const Model* model = nullptr;
    const KernelSet* kernels = nullptr;
    KvCache* cache = nullptr;
    Workspace* work = nullptr;
    Pass pass;
    CandidateWish wish;
    Capture* capture = nullptr;  // filled by op_capture
};

// One node of a graph: what it does is `run`, what it needs stands here.
struct Op {
    void (*run)(Op& op, int ith, int nth) = nullptr;
    OpContext* context = nullptr;
    const Layer* layer = nullptr;
    int layer_index = 0;
    const float* norm = nullptr;       // weight of the norm that this op applies
    const float* post_norm = nullptr;  // of the norm on the branch, before it joins the residual stream
    int slot = 0;                      // of the layer in Capture
    bool tail = false;  // only the tokens that get an output: the last layer, once keys and values are stored
    bool want_f32 = false;         // a float weight reads this op's result
    bool want_quantized = false;   // a quantised weight does
    std::atomic<int64_t> next{0};  // units handed out
};

void op_embed(Op& op, int ith, int nth);       // tokens -> x
void op_norm(Op& op, int ith, int nth);        // (x += post_norm(y)); y = norm(x); act = quantised y
void op_qkv(Op& op, int ith, int nth);         // act -> qkv
void op_rope_store(Op& op, int ith, int nth);  // (q, k norms); RoPE on q and k; k, v -> cache
void op_capture(Op& op, int ith, int nth);     // x, q -> Capture
void op_attention(Op& op, int ith, int nth);  // q, cache -> att; act where a head is a whole number of blocks
void op_quantize_att(Op& op, int ith, int nth);  // att -> act, for other widths of a head
void op_attn_output(Op& op, int ith, int nth);   // act -> x += or y =
void op_gate_up(Op& op, int ith, int nth);       // act -> gate = activation(gate) * up; act_ff
void op_ffn_down(Op& op, int ith, int nth);      // act_ff -> x += or y =
void op_output_norm(Op& op, int ith, int nth);   // (x += post_norm(y)); hidden = norm(x); act
void op_logits(Op& op, int ith, int nth);        // act -> logits
void op_argmax(Op& op, int ith, int nth);        // logits -> partial arg-max

void op_screen(Op& op, int ith, int nth);   // act -> bounds on the logits of every group of rows
void op_rescore(Op& op, int ith, int nth);  // groups that can still win, in full -> arg-max by thread
void op_floor(Op& op, int ith, int nth);  // bounds -> a logit that all wished candidates reach, for each row
void op_candidates(Op& op, int ith, int nth);  // groups that can reach it, in full -> found by thread

}  // namespace mtp
