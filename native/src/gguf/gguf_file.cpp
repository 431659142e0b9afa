#include "gguf/gguf_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gguf/gguf_parser.h"
#include "gguf/read_at.h"

namespace mtp {

namespace {

std::optional<int64_t> integer_at(GgufType type, const uint8_t* p) {
    switch (type) {
    case GgufType::u8:
        return read_at<uint8_t>(p);
    case GgufType::i8:
        return read_at<int8_t>(p);
    case GgufType::u16:
        return read_at<uint16_t>(p);
    case GgufType::i16:
        return read_at<int16_t>(p);
    case GgufType::u32:
        return read_at<uint32_t>(p);
    case GgufType::i32:
        return read_at<int32_t>(p);
    case GgufType::i64:
        return read_at<int64_t>(p);
    case GgufType::u64: {
        const uint64_t value = read_at<uint64_t>(p);
        if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
        return static_cast<int64_t>(value);
    }
    default:
        return std::nullopt;
    }
}

std::optional<float> real_at(GgufType type, const uint8_t* p) {
    if (type == GgufType::f32) return read_at<float>(p);
    if (type != GgufType::f64) return std::nullopt;
    const double value = read_at<double>(p);
    // Only what a float holds: an out-of-range conversion is undefined.
    if (!(value >= -std::numeric_limits<float>::max() && value <= std::numeric_limits<float>::max())) {
        return std::nullopt;
    }
    return static_cast<float>(value);
}

// One element per entry through `read`, which gives an optional; empty when any element is empty.
template <typename T, typename Read>
std::optional<std::vector<T>> numbers(const GgufValue* value, Read read) {
    if (!value || !value->is_array) return std::nullopt;
    if (value->count == 0) return std::vector<T>{};
    if (value->type == GgufType::string) return std::nullopt;
    const size_t step = value->n_bytes / value->count;
    std::vector<T> out;
    out.reserve(value->count);  // bounded: every element takes at least a byte of the file
    for (uint64_t i = 0; i < value->count; ++i) {
        const auto number = read(value->type, value->data + i * step);
        if (!number) return std::nullopt;
        out.push_back(static_cast<T>(*number));
    }
    return out;
}

Status open_error(const std::string& path, int error) {
    std::string what;
    switch (error) {
    case ENOENT:
        what = "no such file";
        break;
    case ENOTDIR:
        what = "no such file";
        break;
    case EACCES:
        what = "no permission to read it";
        break;
    case ENOMEM:
        return Status::error(Code::out_of_memory, path + ": not enough memory to open it");
    default:
        what = std::string("cannot be read: ") + std::strerror(error);
    }
    return Status::error(Code::bad_file, path + ": " + what);
}

struct Descriptor {
    int fd;
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
};

// Maps the whole file; on success *base and *size describe the mapping.
Status map_file(const std::string& path, const uint8_t** base, size_t* size) {
    // Non-blocking, so that opening a named pipe does not wait for a writer; no effect on plain files.
    Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.fd < 0) return open_error(path, errno);
    struct stat info{};
    if (::fstat(file.fd, &info) != 0) return open_error(path, errno);
    if (S_ISDIR(info.st_mode)) return Status::error(Code::bad_file, path + ": a folder, not a model file");
    if (!S_ISREG(info.st_mode)) return Status::error(Code::bad_file, path + ": not a plain file");
    if (info.st_size == 0) return Status::error(Code::bad_file, path + ": empty file");
    *size = static_cast<size_t>(info.st_size);
    void* mapping = ::mmap(nullptr, *size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (mapping == MAP_FAILED) return open_error(path, errno);
    *base = static_cast<const uint8_t*>(mapping);
    return {};
}

}  // namespace

Status GgufFile::open(const std::string& path, std::unique_ptr<GgufFile>* out) {
    out->reset();
    try {
        std::unique_ptr<GgufFile> file(new GgufFile);
        file->path_ = path;
        Status status = map_file(path, &file->base_, &file->size_);
        if (!status.ok()) return status;
        status = GgufParser(file.get()).parse();
        if (!status.ok()) return Status::error(status.code, path + ": " + status.message);
        *out = std::move(file);
        return {};
    } catch (const std::bad_alloc&) {
        return Status::error(Code::out_of_memory, "not enough memory to read the model's header");
    } catch (const std::exception& error) {
        return Status::error(Code::internal, std::string("reading the model's header: ") + error.what());
    }
}

GgufFile::~GgufFile() {
    if (base_) ::munmap(const_cast<uint8_t*>(base_), size_);
}

const GgufTensor* GgufFile::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

const GgufValue* GgufFile::value(std::string_view key) const {
    const auto found = keys_.find(key);
    return found == keys_.end() ? nullptr : &found->second;
}

std::optional<int64_t> GgufFile::i64(std::string_view key) const {
    const GgufValue* v = value(key);
    if (!v || v->is_array) return std::nullopt;
    return integer_at(v->type, v->data);
}

std::optional<uint32_t> GgufFile::u32(std::string_view key) const {
    const auto number = i64(key);
    if (!number || *number < 0 || *number > std::numeric_limits<uint32_t>::max()) return std::nullopt;
    return static_cast<uint32_t>(*number);
}

std::optional<float> GgufFile::f32(std::string_view key) const {
    const GgufValue* v = value(key);
    if (!v || v->is_array) return std::nullopt;
    return real_at(v->type, v->data);
}

std::optional<bool> GgufFile::boolean(std::string_view key) const {
    const GgufValue* v = value(key);
    if (!v || v->is_array || v->type != GgufType::boolean) return std::nullopt;
    return *v->data != 0;
}

std::optional<std::string_view> GgufFile::string(std::string_view key) const {
    const GgufValue* v = value(key);
    if (!v || v->is_array || v->type != GgufType::string) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(v->data), v->n_bytes);
}

std::optional<uint64_t> GgufFile::array_length(std::string_view key) const {
    const GgufValue* v = value(key);
    if (!v || !v->is_array) return std::nullopt;
    return v->count;
}

std::optional<std::vector<float>> GgufFile::f32_array(std::string_view key) const {
    return numbers<float>(value(key), real_at);
}

std::optional<std::vector<int32_t>> GgufFile::i32_array(std::string_view key) const {
    return numbers<int32_t>(value(key), [](GgufType type, const uint8_t* p) {
        auto number = integer_at(type, p);
        if (number && (*number < std::numeric_limits<int32_t>::min() ||
                       *number > std::numeric_limits<int32_t>::max())) {
            number.reset();
        }
        return number;
    });
}

std::optional<std::vector<bool>> GgufFile::bool_array(std::string_view key) const {
    return numbers<bool>(value(key), [](GgufType type, const uint8_t* p) -> std::optional<bool> {
        if (type != GgufType::boolean) return std::nullopt;
        return *p != 0;
    });
}

std::optional<std::vector<std::string_view>> GgufFile::string_array(std::string_view key) const {
    const GgufValue* v = value(key);
    if (!v || !v->is_array || v->type != GgufType::string) return std::nullopt;
    std::vector<std::string_view> out;
    out.reserve(v->count);  // bounded: every string takes at least 8 bytes of the file
    const uint8_t* p = v->data;
    for (uint64_t i = 0; i < v->count; ++i) {  // lengths were checked by the parser
        const uint64_t length = read_at<uint64_t>(p);
        out.emplace_back(reinterpret_cast<const char*>(p + 8), length);
        p += 8 + length;
    }
    return out;
}

void GgufFile::release_pages(const GgufTensor& tensor) const { release(tensor.data, tensor.n_bytes); }

void GgufFile::release_header() const { release(base_, data_offset_); }

void GgufFile::release(const uint8_t* begin, size_t n_bytes) const {
    // Whole pages only, but a page shared by two released tensors is dropped too: it is only a cache of the
    // file.
    const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t first = static_cast<size_t>(begin - base_) / page * page;
    const size_t last = static_cast<size_t>(begin - base_) + n_bytes;
    if (last > first) {
        ::madvise(const_cast<uint8_t*>(base_) + first, last - first, MADV_DONTNEED);
    }
}

}  // namespace mtp
