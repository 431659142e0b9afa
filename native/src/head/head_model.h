// The weights of a draft head, read from its own GGUF file (architecture mtp-head).
//
// One draft step, for the newest token t with the backbone's state h (after the final norm), D = n_embd:
//   z = [rms(embed(t)); rms(h); rms(embed(guess))]   guess: what copying would say next, zeros without one
//   x = W_in z + b[kind of guess]
//   each layer: q = W_q (first layer: [z without guess], later ones: norm(x)); attention of q over the cached
//   keys and values of the source layers, side by side; x += W_o att; x += W_down act(W_gate norm(x)) (W_up
//   norm(x))
//   h' = norm(x): its products with the backbone's output rows are the draft logits, and it is the state h of
//   the next step. Only the query position moves on; drafted tokens are in no cache.
//
// Before anything is drafted, a small net (which a file need not have) tells what is worth trying:
//   p = sigmoid(V silu(W z + c[kind of guess]) + v): that the guess is right; that the head's token will be
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../model/model.h"

namespace mtp {

constexpr int kMaxHeadLayers = 4;
constexpr int kMaxHeadSources = 8;  // of one layer
constexpr int kOutlookWidth = 32;

// See above; without rows there is none.
struct OutlookNet {
    PackedMatrix input;             // W [kOutlookWidth, 3 n_embd]
    const float* bias = nullptr;    // c [kGuessClasses][kOutlookWidth]
    const float* output = nullptr;  // V [2][kOutlookWidth]
    const float* output_bias = nullptr;
};

struct HeadLayer {
    std::vector<int> sources;          // backbone layers whose cache it reads
    const float* attn_norm = nullptr;  // later layers only
    const float* q_norm = nullptr;     // [source][head_dim], where the backbone has such norms
    const float* ffn_norm = nullptr;
    PackedMatrix q, o, gate, up, down;
};

class HeadModel {
  public:
    // Fails (bad_file, unsupported) when the file is damaged or was not made for this backbone.
    static Status load(const std::string& path, const Model& backbone, std::unique_ptr<HeadModel>* out);

    PackedMatrix input;                  // [n_embd, 3 n_embd]
    const float* guess_bias = nullptr;   // [kGuessClasses][n_embd]
    const float* output_norm = nullptr;  // [n_embd]
    std::vector<HeadLayer> layers;
    OutlookNet outlook;
    std::vector<int32_t> groups;  // draft vocabulary: groups of 8 token ids, the most frequent first
    int n_ff = 0;
    size_t file_bytes = 0;
    size_t weight_bytes = 0;

  private:
    friend class HeadLoader;
    HeadModel() = default;
    std::vector<uint8_t> arena_;
};

}  // namespace mtp
