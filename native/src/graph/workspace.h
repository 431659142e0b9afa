// The buffers that one pass works in, allocated once for the widest pass.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "../kernels/kernels.h"
#include "../model/model.h"
#include "candidate.h"

namespace mtp {

constexpr int kMaxDecode = 16;     // widest pass that leaves logits for every token
constexpr int kMaxWidth = 192;     // widest pass: a chunk of a prefill
constexpr int kArgmaxSpan = 8192;  // logits that one unit of arg-max work looks at

constexpr int64_t kPartFloats = 1 << 18;  // room for waiting parts of attention

constexpr int kGluFloats = kMaxWidth * 64;

struct ArgmaxPart {
    float value;
    int32_t token;
};

struct Workspace {
    Workspace(const Model& model, int n_threads);

    // k = tokens of the pass
    std::vector<float> x;     // [k][n_embd] residual stream
    std::vector<float> y;     // [k][n_embd] normed rows, or a branch before its post-norm
    std::vector<float> qkv;   // [k][(n_head + 2 n_head_kv) head_dim]
    std::vector<float> att;   // [k][n_head head_dim]
    std::vector<float> gate;  // [k][n_ff] activation(gate) * up, where a float weight reads it
    std::vector<float> glu;   // [thread][2][kGluFloats] gate and up of the rows that a thread is at
    std::vector<ActBlock>
        act;  // [k][n / 32], quantised: what the next product over n_embd or n_head head_dim reads
    std::vector<ActBlock> act_ff;     // [k][n_ff / 32], quantised gate
    std::vector<float> hidden;        // [rows][n_embd] after the final norm; rows: up to kMaxWidth
    std::unique_ptr<float[]> logits;  // [rows][n_vocab], not touched before it is needed
    std::vector<ArgmaxPart> argmax;   // [rows][spans]
    // screening of the output matrix
    std::vector<float> act_norm;                // [rows][n_embd / 32]
    std::vector<float> upper;                   // [rows][n_group of the output]
    std::vector<float> lower;                   // [thread][rows]
    std::vector<int32_t> lower_group;           // [thread][rows]
    std::vector<ArgmaxPart> best;               // [thread][rows]
    std::vector<float> floor;                   // [rows] what every candidate reaches
    std::vector<std::vector<Candidate>> found;  // [thread][rows] candidates
    std::vector<int64_t> survivors;             // [thread] groups computed in full
    std::vector<float> rope;                    // [k][rope_dim] cos, sin pairs of full layers
    std::vector<float> rope_sliding;            // the same for sliding layers
    std::vector<float> rows;   // [thread] parts of attention that are joined at once (attend.h)
    std::vector<float> parts;  // [kv_head][part][row] parts that wait to be joined
    std::unique_ptr<std::atomic<int64_t>[]> parts_done;  // [kv_head]; 0 between passes
    int n_span = 0;
};

// What changes from pass to pass.
struct Pass {
    int k = 0;                        // tokens
    int64_t position = 0;             // of the first token
    const int32_t* tokens = nullptr;  // [k]
    int row0 = 0;                     // rows [row0, k) get hidden states and logits
};

// What training wants to see of a pass besides its hidden states, for each of `layers`.
struct Capture {
    std::vector<int> layers;
    std::vector<float> x;  // [layer][kMaxWidth][n_embd] what goes into the layer, before its norm
    std::vector<float> q;  // [layer][kMaxWidth][n_head head_dim] queries after norm and RoPE, scaled
};

// Fill the tables of cos and sin for the positions of a pass.
void rope_tables(const Model& model, const Pass& pass, Workspace* work);

}  // namespace mtp
