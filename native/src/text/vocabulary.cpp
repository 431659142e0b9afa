#include "text/vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "gguf/read_at.h"

namespace mtp {

namespace {

// Eight bytes a step, mixed by a multiplication; tokens are short, so that the tail matters most.
uint64_t hash(std::string_view text) {
    constexpr uint64_t odd = 0x9e3779b97f4a7c15u;
    const char* p = text.data();
    size_t left = text.size();
    uint64_t state = (left + 1) * odd;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t word;
        std::memcpy(&word, p, 8);
        state = (state ^ word) * odd;
        state ^= state >> 32;
    }
    uint64_t word = 0;
    if (left) std::memcpy(&word, p, left);
    state = (state ^ word) * odd;
    state ^= state >> 29;
    state *= 0xbf58476d1ce4e5b9u;
    return state ^ (state >> 32);
}

Status damaged(const std::string& what) {
    return Status::error(Code::bad_file, "damaged vocabulary: " + what + ": pull the file again");
}

constexpr uint64_t id_mask = 0xffffffffu;

}  // namespace

Status Vocabulary::load(std::unique_ptr<GgufFile> file) {
    file_ = std::move(file);
    const auto model = file_->string("tokenizer.ggml.model");
    if (!model) return Status::error(Code::bad_file, "the file names no tokenizer");
    model_ = std::string(*model);
    Status status = check_arrays();
    if (!status.ok()) return status;
    return fill_table();
}

Status Vocabulary::check_arrays() {
    const GgufValue* tokens = file_->value("tokenizer.ggml.tokens");
    if (!tokens || !tokens->is_array || tokens->type != GgufType::string || tokens->count == 0) {
        return damaged("no list of tokens");
    }
    // Bounds that make 32-bit offsets and ids enough; a hundred times what models have.
    if (tokens->n_bytes > std::numeric_limits<uint32_t>::max() || tokens->count > (1u << 26)) {
        return Status::error(Code::unsupported,
                             "a vocabulary of " + std::to_string(tokens->count) + " tokens");
    }
    strings_ = tokens->data;
    offsets_.resize(static_cast<size_t>(tokens->count));
    uint64_t at = 0;
    for (auto& offset : offsets_) {  // lengths were checked when the file was opened
        offset = static_cast<uint32_t>(at);
        const uint64_t length = read_at<uint64_t>(strings_ + at);
        has_empty_token_ = has_empty_token_ || length == 0;
        at += 8 + length;
    }
    if (const GgufValue* types = file_->value("tokenizer.ggml.token_type")) {
        if (!types->is_array || types->type != GgufType::i32 || types->count < tokens->count) {
            return damaged("token types do not match the tokens");
        }
        types_ = types->data;
    }
    if (const GgufValue* scores = file_->value("tokenizer.ggml.scores")) {
        const bool fits = scores->is_array && scores->count >= tokens->count;
        if (!fits || scores->type != GgufType::f32) return damaged("scores do not match the tokens");
        scores_ = scores->data;
        for (int32_t i = 0; i < n_tokens(); ++i) {
            if (std::isnan(score(i))) return damaged("a score is not a number");
        }
    }
    return {};
}

Status Vocabulary::fill_table() {
    size_t size = 1024;
    while (size < 2 * offsets_.size()) size *= 2;
    table_.assign(size, 0);
    const size_t mask = size - 1;
    // The table is larger than the caches near the core: ask for the slots of a whole batch, then fill them.
    std::array<uint64_t, 32> keys;
    for (int32_t first = 0; first < n_tokens(); first += static_cast<int32_t>(keys.size())) {
        const auto count = std::min(keys.size(), static_cast<size_t>(n_tokens() - first));
        for (size_t i = 0; i < count; ++i) {
            keys[i] = hash(text(first + static_cast<int32_t>(i)));
            __builtin_prefetch(&table_[keys[i] & mask], 1);
        }
        for (size_t i = 0; i < count; ++i) {
            const int32_t token = first + static_cast<int32_t>(i);
            if (!insert(token, keys[i])) return damaged("token " + std::to_string(token) + " comes twice");
        }
    }
    return {};
}

// False when the text is there already.
bool Vocabulary::insert(int32_t token, uint64_t key) {
    const size_t mask = table_.size() - 1;
    size_t slot = key & mask;
    for (; table_[slot] != 0; slot = (slot + 1) & mask) {
        const bool same_key = ((table_[slot] ^ key) & ~id_mask) == 0;
        if (same_key && text(static_cast<int32_t>((table_[slot] & id_mask) - 1)) == text(token)) return false;
    }
    table_[slot] = (key & ~id_mask) | (static_cast<uint64_t>(token) + 1);
    return true;
}

int32_t Vocabulary::find(std::string_view name) const {
    const size_t mask = table_.size() - 1;
    const uint64_t key = hash(name);
    for (size_t slot = key & mask; table_[slot] != 0; slot = (slot + 1) & mask) {
        if (((table_[slot] ^ key) & ~id_mask) != 0) continue;
        const auto token = static_cast<int32_t>((table_[slot] & id_mask) - 1);
        if (text(token) == name) return token;
    }
    return -1;
}

std::string_view Vocabulary::text(int32_t token) const {
    const uint8_t* p = strings_ + offsets_[static_cast<size_t>(token)];
    return {reinterpret_cast<const char*>(p + 8), static_cast<size_t>(read_at<uint64_t>(p))};
}

Vocabulary::Type Vocabulary::type(int32_t token) const {
    if (!types_) return normal;
    const int32_t type = read_at<int32_t>(types_ + 4 * static_cast<size_t>(token));
    return type >= undefined && type <= byte ? static_cast<Type>(type) : undefined;
}

float Vocabulary::score(int32_t token) const {
    return scores_ ? read_at<float>(scores_ + 4 * static_cast<size_t>(token)) : 0.0f;
}

int32_t Vocabulary::special(std::string_view key, int32_t otherwise) const {
    const auto token = file_->u32(key);
    if (token && *token < static_cast<uint32_t>(n_tokens())) return static_cast<int32_t>(*token);
    return otherwise >= 0 && otherwise < n_tokens() ? otherwise : -1;
}

}  // namespace mtp
