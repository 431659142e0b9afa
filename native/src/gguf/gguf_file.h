// A GGUF file (version 2 or 3, little endian) mapped read-only. Everything that the file claims about
// itself is checked against its size before use; arrays and tensors stay in the mapping.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ggml.h"
#include "status.h"

namespace mtp {

struct GgufTensor {
    std::string name;
    ggml_type type = GGML_TYPE_F32;
    int n_dims = 0;
    std::array<int64_t, 4> ne = {1, 1, 1, 1};  // ne[0] is the row length; unused dimensions are 1
    const uint8_t* data = nullptr;             // in the mapping, valid as long as the GgufFile
    size_t n_bytes = 0;
};

// Value types as the file numbers them.
enum class GgufType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

// A metadata value in the mapping. For an array, `type` is the element's and `count` the number of elements.
struct GgufValue {
    GgufType type = GgufType::u8;
    bool is_array = false;
    uint64_t count = 1;
    const uint8_t* data = nullptr;  // unaligned, little endian
    size_t n_bytes = 0;
};

class GgufFile {
  public:
    // Codes: bad_file (missing, unreadable, damaged, incomplete), unsupported (version, byte order, weight
    // type, split model), out_of_memory. Messages start with the path.
    static Status open(const std::string& path, std::unique_ptr<GgufFile>* out);
    ~GgufFile();
    GgufFile(const GgufFile&) = delete;
    GgufFile& operator=(const GgufFile&) = delete;

    const std::string& path() const { return path_; }
    const std::string& architecture() const { return architecture_; }
    uint32_t version() const { return version_; }
    size_t file_bytes() const { return size_; }

    const std::vector<GgufTensor>& tensors() const { return tensors_; }
    const GgufTensor* find(std::string_view name) const;  // nullptr: no such tensor

    // Metadata. Empty: no such key, or another type. Numbers may be of any integer type that holds the value.
    bool has(std::string_view key) const { return keys_.count(key) != 0; }
    std::optional<uint32_t> u32(std::string_view key) const;
    std::optional<int64_t> i64(std::string_view key) const;
    std::optional<float> f32(std::string_view key) const;  // from f32 or f64
    std::optional<bool> boolean(std::string_view key) const;
    std::optional<std::string_view> string(std::string_view key) const;  // points into the mapping
    std::optional<uint64_t> array_length(std::string_view key) const;
    std::optional<std::vector<float>> f32_array(std::string_view key) const;
    std::optional<std::vector<int32_t>> i32_array(std::string_view key) const;
    std::optional<std::vector<bool>> bool_array(std::string_view key) const;
    std::optional<std::vector<std::string_view>> string_array(std::string_view key) const;
    const GgufValue* value(std::string_view key) const;  // nullptr: no such key
    const std::unordered_map<std::string_view, GgufValue>& values() const { return keys_; }

    // Tells the system that these pages are not needed any more (the weights are repacked), so that they do
    // not count as resident. Reading them again is allowed: it reads the file.
    void release_pages(const GgufTensor& tensor) const;
    // The same for any bytes of the mapping.
    void release(const uint8_t* begin, size_t n_bytes) const;
    // The same for the whole header: keys, token strings, tensor descriptions.
    void release_header() const;

  private:
    friend class GgufParser;
    GgufFile() = default;

    std::string path_;
    std::string architecture_;
    uint32_t version_ = 0;
    const uint8_t* base_ = nullptr;
    size_t size_ = 0;
    size_t data_offset_ = 0;
    std::unordered_map<std::string_view, GgufValue> keys_;  // key strings lie in the mapping
    std::vector<GgufTensor> tensors_;
    std::unordered_map<std::string_view, size_t> by_name_;
};

}  // namespace mtp
