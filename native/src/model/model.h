// A model's weights in our layouts, and what its file says about its shape.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../gguf/gguf_file.h"
#include "../kernels/kernels.h"
#include "../status.h"

namespace mtp {

struct ModelParams {
    std::string architecture;
    std::string name;
    int n_layer = 0;
    int n_embd = 0;
    int n_ff = 0;
    int n_head = 0;
    int n_head_kv = 0;
    int head_dim = 0;
    int n_vocab = 0;
    int64_t n_ctx_train = 0;
    float norm_eps = 0;
    int rope_dim = 0;
    bool rope_halves = false;  // pairs (i, i + dim / 2); otherwise (2 i, 2 i + 1)
    float rope_base = 10000;
    float rope_base_sliding = 10000;  // layers with a sliding window
    float rope_scale = 1;             // positions are multiplied by this in full layers
    int64_t window = 0;               // 0: no sliding layers
    float embed_scale = 1;
    Activation activation = Activation::silu;
};

struct Layer {
    const float* attn_norm = nullptr;
    const float* attn_post_norm = nullptr;  // gemma
    const float* q_norm = nullptr;          // per head, gemma and qwen3
    const float* k_norm = nullptr;
    const float* ffn_norm = nullptr;
    const float* ffn_post_norm = nullptr;
    PackedMatrix q, k, v, o, gate, up, down;
    bool sliding = false;
};

// Called with (done, total) bytes; returning false cancels.
using LoadProgress = std::function<bool(size_t, size_t)>;

class Model {
  public:
    // Maps the file, checks it and packs the weights, as the kernels want them, with n_threads threads.
    static Status load(const std::string& path, RowOrder order, int n_threads, const LoadProgress& progress,
                       std::unique_ptr<Model>* out);
    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    ModelParams params;
    RowOrder row_order = RowOrder::lanes;  // of all matrices
    std::vector<Layer> layers;
    PackedMatrix embedding;  // [n_vocab, n_embd]
    PackedMatrix output;     // the same bytes when the file ties them
    const float* output_norm = nullptr;
    const float* rope_factors = nullptr;  // [rope_dim / 2] divisors of the frequencies, or null
    std::string
        fingerprint;  // of the file: a hash over its tensors' names, types, shapes and samples of them
    size_t file_bytes = 0;
    int64_t n_parameters = 0;
    std::map<std::string, size_t> type_bytes;  // file bytes by weight type

  private:
    friend class ModelLoader;
    Model() = default;
    uint8_t* arena_ = nullptr;  // all packed weights and vectors
    size_t arena_bytes_ = 0;
};

}  // namespace mtp
