#include "gguf/gguf_parser.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "gguf/shown.h"

namespace mtp {

namespace {

constexpr size_t max_name = 1024;        // bytes in a key or a tensor name
constexpr size_t min_key_bytes = 13;     // length, type, one byte of value
constexpr size_t min_tensor_bytes = 32;  // length, dimensions, one extent, type, offset

Status damaged(const std::string& what) { return Status::error(Code::bad_file, "damaged file: " + what); }

Status unsupported(const std::string& what) { return Status::error(Code::unsupported, what); }

// 98362432 -> 98,362,432
std::string grouped(uint64_t number) {
    std::string digits = std::to_string(number);
    for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3)
        digits.insert(static_cast<size_t>(i), ",");
    return digits;
}

size_t scalar_bytes(GgufType type) {
    switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean:
        return 1;
    case GgufType::u16:
    case GgufType::i16:
        return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32:
        return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64:
        return 8;
    default:
        return 0;
    }
}

bool multiply(uint64_t a, uint64_t b, uint64_t* out) { return !__builtin_mul_overflow(a, b, out); }

}  // namespace

bool GgufParser::take(void* out, size_t n_bytes) {
    if (n_bytes > left()) return false;
    std::memcpy(out, file_->base_ + at_, n_bytes);
    at_ += n_bytes;
    return true;
}

bool GgufParser::text(std::string_view* out) {
    uint64_t length = 0;
    if (!number(&length) || length > left()) return false;
    *out = {reinterpret_cast<const char*>(file_->base_ + at_), static_cast<size_t>(length)};
    at_ += static_cast<size_t>(length);
    return true;
}

Status GgufParser::header_ends(const std::string& where) const {
    return Status::error(Code::bad_file, "damaged or incomplete file: the header runs past the end (" +
                                             grouped(size_) + " bytes) at " + where + ": pull it again");
}

Status GgufParser::parse() {
    Status status = magic_and_version();
    if (!status.ok()) return status;
    uint64_t n_tensors = 0;
    uint64_t n_keys = 0;
    if (!number(&n_tensors) || !number(&n_keys)) return header_ends("the counts");
    if (n_keys > left() / min_key_bytes) {
        return damaged(grouped(n_keys) + " metadata keys claimed in " + grouped(size_) + " bytes");
    }
    for (uint64_t i = 0; i < n_keys; ++i) {
        status = key_value(i);
        if (!status.ok()) return status;
    }
    if (n_tensors > left() / min_tensor_bytes) {
        return damaged(grouped(n_tensors) + " tensors claimed in the " + grouped(left()) + " bytes left");
    }
    if (file_->u32("split.count").value_or(1) > 1) {
        return unsupported("one part of a split model; join the parts first");
    }
    const auto architecture = file_->string("general.architecture");
    if (!architecture || architecture->empty()) return damaged("no architecture named");
    file_->architecture_ = shown(*architecture);
    file_->architecture_ = file_->architecture_.substr(1, file_->architecture_.size() - 2);
    status = alignment();
    if (!status.ok()) return status;
    for (uint64_t i = 0; i < n_tensors; ++i) {
        status = tensor(i);
        if (!status.ok()) return status;
    }
    return place_tensors();
}

Status GgufParser::magic_and_version() {
    char magic[4];
    if (!number(&magic) || std::memcmp(magic, "GGUF", 4) != 0) {
        const auto* start = reinterpret_cast<const char*>(file_->base_);
        return Status::error(Code::bad_file, "not a GGUF file (it starts with " +
                                                 shown({start, std::min<size_t>(size_, 4)}) + ")");
    }
    uint32_t version = 0;
    if (!number(&version)) return header_ends("the version");
    // A little number seen from the wrong end has its low half empty.
    if (version != 0 && (version & 0xffff) == 0)
        return unsupported("a big-endian GGUF file; only little-endian ones are read");
    if (version != 2 && version != 3) {
        return unsupported("GGUF version " + std::to_string(version) + "; only 2 and 3 are read");
    }
    file_->version_ = version;
    return {};
}

Status GgufParser::key_value(uint64_t index) {
    std::string_view key;
    uint32_t type = 0;
    if (!text(&key) || !number(&type)) return header_ends("metadata key " + std::to_string(index + 1));
    if (key.empty() || key.size() > max_name)
        return damaged("metadata key with " + grouped(key.size()) + " bytes");
    if (type > static_cast<uint32_t>(GgufType::f64)) {
        return damaged("metadata key " + shown(key) + " has unknown type " + std::to_string(type));
    }
    GgufValue value;
    value.type = static_cast<GgufType>(type);
    if (value.type == GgufType::array) {
        Status status = array(key, &value);
        if (!status.ok()) return status;
    } else if (value.type == GgufType::string) {
        std::string_view content;
        if (!text(&content)) return header_ends("metadata key " + shown(key));
        value.data = reinterpret_cast<const uint8_t*>(content.data());
        value.n_bytes = content.size();
    } else {
        value.data = file_->base_ + at_;
        value.n_bytes = scalar_bytes(value.type);
        if (value.n_bytes > left()) return header_ends("metadata key " + shown(key));
        at_ += value.n_bytes;
    }
    if (!file_->keys_.emplace(key, value).second)
        return damaged("metadata key " + shown(key) + " comes twice");
    return {};
}

Status GgufParser::array(std::string_view key, GgufValue* value) {
    uint32_t type = 0;
    if (!number(&type) || !number(&value->count)) return header_ends("metadata key " + shown(key));
    if (type > static_cast<uint32_t>(GgufType::f64) || type == static_cast<uint32_t>(GgufType::array)) {
        return damaged("metadata key " + shown(key) + " is an array of unknown type " + std::to_string(type));
    }
    value->is_array = true;
    value->type = static_cast<GgufType>(type);
    value->data = file_->base_ + at_;
    const size_t start = at_;
    const size_t step = value->type == GgufType::string ? sizeof(uint64_t) : scalar_bytes(value->type);
    if (value->count > left() / step) {
        return header_ends("metadata key " + shown(key) + ", which claims " + grouped(value->count) +
                           " elements");
    }
    if (value->type == GgufType::string) {
        std::string_view element;
        for (uint64_t i = 0; i < value->count; ++i) {
            if (!text(&element)) return header_ends("metadata key " + shown(key) + ", element " + grouped(i));
        }
    } else {
        at_ += static_cast<size_t>(value->count) * step;
    }
    value->n_bytes = at_ - start;
    return {};
}

Status GgufParser::alignment() {
    if (!file_->has("general.alignment")) return {};
    const uint64_t claimed = file_->u32("general.alignment").value_or(0);
    if (claimed < 8 || claimed > (1u << 20) || (claimed & (claimed - 1)) != 0) {
        return damaged("general.alignment is not a power of two from 8 to 1,048,576");
    }
    alignment_ = static_cast<size_t>(claimed);
    return {};
}

Status GgufParser::tensor(uint64_t index) {
    GgufTensor tensor;
    std::string_view name;
    if (!text(&name)) return header_ends("tensor " + grouped(index + 1));
    if (name.empty() || name.size() > max_name)
        return damaged("tensor name with " + grouped(name.size()) + " bytes");
    tensor.name = std::string(name);
    uint32_t n_dims = 0;
    if (!number(&n_dims)) return header_ends("tensor " + shown(name));
    if (n_dims < 1 || n_dims > 4) {
        return damaged("tensor " + shown(name) + " has " + grouped(n_dims) + " dimensions, not 1 to 4");
    }
    tensor.n_dims = static_cast<int>(n_dims);
    for (uint32_t i = 0; i < n_dims; ++i) {
        if (!number(&tensor.ne[i])) return header_ends("tensor " + shown(name));
        if (tensor.ne[i] <= 0)
            return damaged("tensor " + shown(name) + " has an empty or negative dimension");
    }
    uint32_t type = 0;
    uint64_t offset = 0;
    if (!number(&type) || !number(&offset)) return header_ends("tensor " + shown(name));
    // Types that were taken out of the format keep their number and have no size.
    if (type >= static_cast<uint32_t>(GGML_TYPE_COUNT) || ggml_blck_size(static_cast<ggml_type>(type)) <= 0 ||
        ggml_type_size(static_cast<ggml_type>(type)) == 0) {
        return unsupported("tensor " + shown(name) + " has unknown weight type " + std::to_string(type));
    }
    tensor.type = static_cast<ggml_type>(type);
    Status status = shape(&tensor);
    if (!status.ok()) return status;
    if (offset % alignment_ != 0) return damaged("tensor " + shown(name) + " starts at an unaligned offset");
    offsets_.push_back(offset);
    file_->tensors_.push_back(std::move(tensor));
    return {};
}

// Sets n_bytes from type and extents.
Status GgufParser::shape(GgufTensor* tensor) {
    const auto block = static_cast<uint64_t>(ggml_blck_size(tensor->type));
    const auto row = static_cast<uint64_t>(tensor->ne[0]);
    if (row % block != 0) {
        return damaged("tensor " + shown(tensor->name) + " has rows of " + grouped(row) +
                       " values, not a multiple of " + std::to_string(block) + " as " +
                       ggml_type_name(tensor->type) + " needs");
    }
    uint64_t n_values = row;
    uint64_t n_bytes = 0;
    bool fits = multiply(row / block, ggml_type_size(tensor->type), &n_bytes);
    for (int i = 1; i < 4; ++i) {
        const auto extent = static_cast<uint64_t>(tensor->ne[i]);
        fits = fits && multiply(n_bytes, extent, &n_bytes) && multiply(n_values, extent, &n_values);
    }
    const auto limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (!fits || n_bytes > limit || n_values > limit) {
        return damaged("tensor " + shown(tensor->name) + " has an impossible size");
    }
    tensor->n_bytes = static_cast<size_t>(n_bytes);
    return {};
}

// Checks that the tensors lie inside the file, apart from each other, and sets their pointers.
Status GgufParser::place_tensors() {
    // at_ <= size_ <= max(int64), so that padding cannot overflow.
    const size_t data_offset = (at_ + alignment_ - 1) / alignment_ * alignment_;
    file_->data_offset_ = std::min(data_offset, size_);
    auto& tensors = file_->tensors_;
    uint64_t needed = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
        uint64_t end = 0;
        if (__builtin_add_overflow(offsets_[i], static_cast<uint64_t>(data_offset), &end) ||
            __builtin_add_overflow(end, static_cast<uint64_t>(tensors[i].n_bytes), &end)) {
            return damaged("tensor " + shown(tensors[i].name) + " starts at an impossible offset");
        }
        needed = std::max(needed, end);
    }
    if (needed > size_) {
        return Status::error(Code::bad_file, "incomplete file: tensors need " + grouped(needed) +
                                                 " bytes, found " + grouped(size_) + ": pull it again");
    }
    std::vector<size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [this](size_t a, size_t b) { return offsets_[a] < offsets_[b]; });
    for (size_t i = 1; i < order.size(); ++i) {
        if (offsets_[order[i]] < offsets_[order[i - 1]] + tensors[order[i - 1]].n_bytes) {
            return damaged("tensors " + shown(tensors[order[i - 1]].name) + " and " +
                           shown(tensors[order[i]].name) + " overlap");
        }
    }
    file_->by_name_.reserve(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
        tensors[i].data = file_->base_ + data_offset + offsets_[i];
        if (!file_->by_name_.emplace(tensors[i].name, i).second) {
            return damaged("tensor " + shown(tensors[i].name) + " comes twice");
        }
    }
    return {};
}

}  // namespace mtp
