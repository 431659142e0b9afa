#include "kv_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

namespace mtp {
namespace {

int64_t round_up8(int64_t n) { return (n + 7) / 8 * 8; }

}  // namespace

KvCache::~KvCache() {
    if (base_) munmap(base_, bytes_);
}

Status KvCache::init(const KvShape& shape) {
    shape_ = shape;
    full_ = round_up8(shape.n_ctx);
    ring_ = std::min(full_, round_up8(shape.window + shape.ring_slack));
    size_t total = 0;
    offset_.clear();
    for (int layer = 0; layer < shape.n_layer; layer++) {
        offset_.push_back(total);
        total +=
            static_cast<size_t>(2 * capacity(layer)) * static_cast<size_t>(shape.n_head_kv * shape.head_dim);
    }
    bytes_ = total * sizeof(uint16_t);
    void* mapped =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        bytes_ = 0;
        return Status::error(Code::out_of_memory, "no memory for a context of " +
                                                      std::to_string(shape.n_ctx) +
                                                      " tokens: choose a smaller one with --ctx");
    }
    base_ = static_cast<uint16_t*>(mapped);
    return {};
}

uint16_t* KvCache::key(int layer, int head) const {
    const int64_t per_head = capacity(layer) * shape_.head_dim;
    return base_ + offset_[static_cast<size_t>(layer)] + head * per_head;
}

uint16_t* KvCache::value(int layer, int head) const { return key(layer, shape_.n_head_kv + head); }

int64_t KvCache::first_visible(int layer, int64_t position) const {
    if (!shape_.sliding[static_cast<size_t>(layer)]) return 0;
    return std::max<int64_t>(0, position - shape_.window + 1);
}

double KvCache::attended(int64_t position) const {
    double total = 0;
    for (int layer = 0; layer < shape_.n_layer; layer++)
        total += static_cast<double>(position - first_visible(layer, position));
    return total / std::max(1, shape_.n_layer);
}

template <class Copy> void KvCache::each_front(const Copy& copy) const {
    for (int layer = 0; layer < shape_.n_layer; layer++) {
        const int64_t n = std::min(capacity(layer), kAside) * shape_.head_dim;
        for (int head = 0; head < shape_.n_head_kv; head++) {
            copy(key(layer, head), n);
            copy(value(layer, head), n);
        }
    }
}

KvCache::Aside::Aside(KvCache* cache) : cache_(cache), length_(cache->length_), high_(cache->high_) {
    cache_->each_front([&](const uint16_t* at, int64_t n) { front_.insert(front_.end(), at, at + n); });
    cache_->length_ = cache_->high_ = 0;
}

KvCache::Aside::~Aside() {
    const uint16_t* from = front_.data();
    cache_->each_front([&](uint16_t* at, int64_t n) {
        std::copy_n(from, n, at);
        from += n;
    });
    cache_->length_ = length_;
    cache_->high_ = high_;
}

void KvCache::reserve(int64_t n) { high_ = std::max(high_, length_ + n); }

Status KvCache::truncate(int64_t length) {
    if (length < 0 || length > length_) {
        return Status::error(Code::bad_argument, "cannot roll back to " + std::to_string(length) +
                                                     ": the cache holds " + std::to_string(length_) +
                                                     " positions");
    }
    const bool has_ring = std::any_of(shape_.sliding.begin(), shape_.sliding.end(), [](bool s) { return s; });
    if (has_ring && length > 0 && std::max<int64_t>(0, length - shape_.window + 1) < high_ - ring_) {
        return Status::error(Code::bad_argument, "cannot roll back to " + std::to_string(length) +
                                                     ": the sliding window has dropped positions before it");
    }
    length_ = length;
    if (length == 0) high_ = 0;
    return {};
}

}  // namespace mtp
