// Reads the header of a mapped GGUF file into a GgufFile. Internal to gguf/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gguf/gguf_file.h"
#include "status.h"

namespace mtp {

class GgufParser {
  public:
    explicit GgufParser(GgufFile* file) : file_(file), size_(file->size_) {}
    Status parse();

  private:
    Status magic_and_version();
    Status key_value(uint64_t index);
    Status array(std::string_view key, GgufValue* value);
    Status tensor(uint64_t index);
    Status shape(GgufTensor* tensor);
    Status alignment();
    Status place_tensors();

    bool take(void* out, size_t n_bytes);
    template <typename T> bool number(T* out) { return take(out, sizeof *out); }
    bool text(std::string_view* out);
    size_t left() const { return size_ - at_; }
    Status header_ends(const std::string& where) const;

    GgufFile* file_;
    size_t size_;
    size_t at_ = 0;
    size_t alignment_ = 32;
    std::vector<uint64_t> offsets_;  // of each tensor, from the start of the data
};

}  // namespace mtp
