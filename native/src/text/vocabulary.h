// The tokens of a GGUF file as they lie in it, checked, and a table from text to id.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf_file.h"
#include "status.h"

namespace mtp {

class Vocabulary {
  public:
    // Token types as the file numbers them.
    enum Type : int32_t {
        undefined = 0,
        normal = 1,
        unknown = 2,
        control = 3,
        user_defined = 4,
        unused = 5,
        byte = 6
    };

    // Takes the file over. Codes: bad_file (no tokens, wrong types, lengths that differ, a token twice).
    Status load(std::unique_ptr<GgufFile> file);

    const GgufFile& file() const { return *file_; }
    const std::string& model() const { return model_; }  // "llama", "gpt2", ...
    int32_t n_tokens() const { return static_cast<int32_t>(offsets_.size()); }
    std::string_view text(int32_t token) const;
    Type type(int32_t token) const;
    float score(int32_t token) const;
    bool has_empty_token() const { return has_empty_token_; }

    int32_t find(std::string_view text) const;  // -1: no such token

    // The token that the key names, `otherwise` when there is no such key or it is out of range.
    int32_t special(std::string_view key, int32_t otherwise) const;

  private:
    Status check_arrays();
    Status fill_table();
    bool insert(int32_t token, uint64_t key);

    std::unique_ptr<GgufFile> file_;
    std::string model_;
    const uint8_t* strings_ = nullptr;  // the token array: each a 64-bit length and the bytes
    const uint8_t* types_ = nullptr;    // int32 each, or null: all normal
    const uint8_t* scores_ = nullptr;   // float each, or null: all 0
    std::vector<uint32_t> offsets_;     // of each token's length in strings_
    std::vector<uint64_t> table_;       // open addressing: upper half of the hash, id + 1; 0 is free
    bool has_empty_token_ = false;
};

}  // namespace mtp
