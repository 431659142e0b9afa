// The cache of keys and values: a full pool, and a ring for layers with a sliding window.
//
// f16. Keys of a KV head: blocks of 8 positions, [capacity / 8][head_dim][8]; values: [capacity][head_dim].
// Position p lies in slot p % capacity. Going back is moving the length; nothing is copied.
#pragma once

#include <cstdint>
#include <vector>

#include "../status.h"

namespace mtp {

struct KvShape {
    int n_layer = 0;
    int n_head_kv = 0;
    int head_dim = 0;
    int64_t n_ctx = 0;
    int64_t window = 0;         // positions that a sliding layer sees, itself included; 0: no such layers
    int64_t ring_slack = 0;     // slots beyond the window: what one pass may add, and going back
    std::vector<bool> sliding;  // by layer
};

class KvCache {
  public:
    KvCache() = default;
    ~KvCache();
    KvCache(const KvCache&) = delete;
    KvCache& operator=(const KvCache&) = delete;

    // Reserves address space; memory is used as positions are written. Fresh slots are zero.
    Status init(const KvShape& shape);

    uint16_t* key(int layer, int head) const;
    uint16_t* value(int layer, int head) const;
    int64_t capacity(int layer) const { return shape_.sliding[static_cast<size_t>(layer)] ? ring_ : full_; }
    // First position that a query at `position` of this layer sees.
    int64_t first_visible(int layer, int64_t position) const;

    int64_t length() const { return length_; }
    // A pass is about to write n positions from `length` on; whether it ends or not, what they displace in
    // the ring is gone. `extend` then takes them into the sequence.
    void reserve(int64_t n);
    void extend(int64_t n) { length_ += n; }
    // Fails when the ring no longer holds the window before `length`.
    Status truncate(int64_t length);
    int64_t n_ctx() const { return shape_.n_ctx; }
    double attended(int64_t position) const;  // positions before it that a query sees, averaged over layers
    size_t reserved_bytes() const { return bytes_; }

    // Empties the cache for a while: the sequence comes back when this goes. Passes meanwhile may write the
    // first kAside positions and no others.
    class Aside {
      public:
        explicit Aside(KvCache* cache);
        ~Aside();
        Aside(const Aside&) = delete;
        Aside& operator=(const Aside&) = delete;

      private:
        KvCache* cache_;
        int64_t length_, high_;
        std::vector<uint16_t> front_;  // what lies in the first slots
    };
    static constexpr int64_t kAside = 16;

  private:
    // Calls copy(first element, n) for the runs of slots [0, kAside) of all keys and values.
    template <class Copy> void each_front(const Copy& copy) const;

    KvShape shape_;
    int64_t full_ = 0;  // slots of a full layer
    int64_t ring_ = 0;  // slots of a sliding layer
    int64_t length_ = 0;
    int64_t high_ = 0;            // one past the last position that a pass wrote since the cache was empty
    std::vector<size_t> offset_;  // of each layer, in elements
    uint16_t* base_ = nullptr;
    size_t bytes_ = 0;
};

}  // namespace mtp
