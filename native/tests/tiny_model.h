// Writes tiny random model files, made of whole numbers only: the same bytes on every machine.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "ggml.h"
#include "gguf.h"
#include "random_blocks.h"

struct TinyModel {
    const char* arch;  // llama or gemma3
    ggml_type type;
    int n_layer = 2, n_embd = 256, n_head = 4, n_head_kv = 2, head_dim = 64, n_ff = 256;
    int n_vocab = 1088;  // enough rows for an output matrix that is screened
    int n_ctx = 1024;
    int window = 8;  // gemma3: of every other layer

    std::string name() const { return std::string(arch) + "-" + ggml_type_name(type); }
};

class TinyWriter {
  public:
    explicit TinyWriter(const TinyModel& model)
        : model_(model), random_(static_cast<uint64_t>(model.type) + 100), file_(gguf_init_empty()),
          tensors_(ggml_init({size_t{64} << 20, nullptr, false})) {}
    ~TinyWriter() {
        gguf_free(file_);
        ggml_free(tensors_);
    }
    TinyWriter(const TinyWriter&) = delete;
    TinyWriter& operator=(const TinyWriter&) = delete;

    bool write(const std::string& path) {
        header();
        vocabulary();
        const TinyModel& m = model_;
        const bool gemma = std::string(m.arch) == "gemma3";
        const int q = m.n_head * m.head_dim, kv = m.n_head_kv * m.head_dim;
        matrix("token_embd.weight", m.n_vocab, m.n_embd);
        vector("output_norm.weight", m.n_embd);
        for (int i = 0; i < m.n_layer; i++) {
            const std::string at = "blk." + std::to_string(i) + ".";
            vector(at + "attn_norm.weight", m.n_embd);
            matrix(at + "attn_q.weight", q, m.n_embd);
            matrix(at + "attn_k.weight", kv, m.n_embd);
            matrix(at + "attn_v.weight", kv, m.n_embd);
            matrix(at + "attn_output.weight", m.n_embd, q);
            vector(at + "ffn_norm.weight", m.n_embd);
            matrix(at + "ffn_gate.weight", m.n_ff, m.n_embd);
            matrix(at + "ffn_up.weight", m.n_ff, m.n_embd);
            matrix(at + "ffn_down.weight", m.n_embd, m.n_ff);
            if (!gemma) continue;
            vector(at + "attn_q_norm.weight", m.head_dim);
            vector(at + "attn_k_norm.weight", m.head_dim);
            vector(at + "post_attention_norm.weight", m.n_embd);
            vector(at + "post_ffw_norm.weight", m.n_embd);
        }
        return gguf_write_to_file(file_, path.c_str(), false);
    }

  private:
    void number(const char* key, int value) {
        gguf_set_val_u32(file_, (std::string(model_.arch) + "." + key).c_str(), static_cast<uint32_t>(value));
    }
    void header() {
        gguf_set_val_str(file_, "general.architecture", model_.arch);
        gguf_set_val_str(file_, "general.name", "tiny");
        number("block_count", model_.n_layer);
        number("context_length", model_.n_ctx);
        number("embedding_length", model_.n_embd);
        number("feed_forward_length", model_.n_ff);
        number("attention.head_count", model_.n_head);
        number("attention.head_count_kv", model_.n_head_kv);
        number("attention.key_length", model_.head_dim);
        number("attention.value_length", model_.head_dim);
        if (std::string(model_.arch) == "gemma3") {
            number("attention.sliding_window", model_.window);
            number("attention.sliding_window_pattern", 2);
        }
        const std::string arch = model_.arch;
        gguf_set_val_f32(file_, (arch + ".attention.layer_norm_rms_epsilon").c_str(), 1e-5f);
        gguf_set_val_f32(file_, (arch + ".rope.freq_base").c_str(), 10000.0f);
    }
    void vocabulary() {
        std::vector<std::string> texts = {"<unk>", "<s>", "</s>"};
        std::vector<int32_t> types = {2, 3, 3};  // unknown, control
        for (int byte = 0; byte < 256; byte++) {
            char name[8];
            std::snprintf(name, sizeof(name), "<0x%02X>", byte);
            texts.emplace_back(name);
            types.push_back(6);
        }
        while (texts.size() < static_cast<size_t>(model_.n_vocab)) {
            texts.push_back("w" + std::to_string(texts.size()));
            types.push_back(1);
        }
        std::vector<const char*> pointers;
        for (const std::string& text : texts) pointers.push_back(text.c_str());
        const std::vector<float> scores(texts.size(), 0.0f);
        gguf_set_val_str(file_, "tokenizer.ggml.model", "llama");
        gguf_set_arr_str(file_, "tokenizer.ggml.tokens", pointers.data(), pointers.size());
        gguf_set_arr_data(file_, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, scores.data(), scores.size());
        gguf_set_arr_data(file_, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types.data(), types.size());
        gguf_set_val_u32(file_, "tokenizer.ggml.bos_token_id", 1);
        gguf_set_val_u32(file_, "tokenizer.ggml.eos_token_id", 2);
        gguf_set_val_u32(file_, "tokenizer.ggml.unknown_token_id", 0);
    }
    void add(const std::string& name, ggml_type type, int64_t n_row, int64_t n_col, const void* bytes) {
        ggml_tensor* t = n_row ? ggml_new_tensor_2d(tensors_, type, n_col, n_row)
                               : ggml_new_tensor_1d(tensors_, type, n_col);
        ggml_set_name(t, name.c_str());
        std::memcpy(t->data, bytes, ggml_nbytes(t));
        gguf_add_tensor(file_, t);
    }
    void matrix(const std::string& name, int64_t n_row, int64_t n_col) {
        add(name, model_.type, n_row, n_col,
            random_rows(model_.type, n_row, n_col, -4, false, random_).data());
    }
    void vector(const std::string& name, int64_t n) {
        std::vector<float> x;
        for (int64_t i = 0; i < n; i++) x.push_back(1.0f + random_.normal() / 8);
        add(name, GGML_TYPE_F32, 0, n, x.data());
    }

    const TinyModel& model_;
    Random random_;
    gguf_context* file_;
    ggml_context* tensors_;
};
