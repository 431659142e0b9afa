#include "text/spm_tokenizer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <queue>
#include <utility>

namespace mtp {

namespace {

constexpr std::string_view space_mark = "\xe2\x96\x81";  // U+2581 stands for a space in token texts

// Texts that end an answer wherever a vocabulary has them.
constexpr std::array<std::string_view, 17> end_texts = {"</s>",
                                                        "<eos>",
                                                        "<end_of_turn>",
                                                        "<turn|>",
                                                        "<end_of_utterance>",
                                                        "<|im_end|>",
                                                        "<|endoftext|>",
                                                        "<|end_of_text|>",
                                                        "<|eot_id|>",
                                                        "<|eom_id|>",
                                                        "<|end|>",
                                                        "<EOT>",
                                                        "_<EOT>",
                                                        "[EOT]",
                                                        "[EOS]",
                                                        "[e~[",
                                                        "<\xef\xbd\x9c"
                                                        "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>"};

// Texts with a meaning of their own in some families (infilling, channels, tools): left to libllama.
constexpr std::array<std::string_view, 36> peculiar_texts = {
    "<|channel|>",       "<|message|>",     "<|start|>",
    "<|constrain|>",     "<|return|>",      "<|call|>",
    "<|calls|>",         "<|flush|>",       "<|tool_response>",
    "<|plamo:eos|>",     "<|fim_prefix|>",  "<fim-prefix>",
    "<fim_prefix>",      "<PRE>",           "\xe2\x96\x81<PRE>",
    "<|code_prefix|>",   "<|prefix|>",      "<|fim_suffix|>",
    "<fim-suffix>",      "<fim_suffix>",    "<SUF>",
    "\xe2\x96\x81<SUF>", "<|code_suffix|>", "<|suffix|>",
    "<|fim_middle|>",    "<fim-middle>",    "<MID>",
    "\xe2\x96\x81<MID>", "<|code_middle|>", "<|middle|>",
    "<|fim_pad|>",       "<PAD>",           "[PAD]",
    "<|fim_repo|>",      "<|repo_name|>",   "<|file_sep|>"};

// Bytes of the UTF-8 character that starts with `first`, as it claims; 1 for what cannot start one.
size_t character_bytes(char first) {
    const auto byte = static_cast<uint8_t>(first);
    if (byte < 0xc0) return 1;
    return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

bool SpmTokenizer::handles(const Vocabulary& vocabulary) {
    if (vocabulary.model() != "llama" || vocabulary.has_empty_token()) return false;
    for (std::string_view text : peculiar_texts) {
        if (vocabulary.find(text) >= 0) return false;
    }
    for (std::string_view key :
         {"prefix", "suffix", "middle", "fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep"}) {
        if (vocabulary.file().has("tokenizer.ggml." + std::string(key) + "_token_id")) return false;
    }
    std::string name(vocabulary.file().string("general.name").value_or(""));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name.find("phi-3") == std::string::npos && name.find("phi3") == std::string::npos;
}

Status SpmTokenizer::make(std::unique_ptr<Vocabulary> vocabulary, std::unique_ptr<Tokenizer>* out) {
    std::unique_ptr<SpmTokenizer> made(new SpmTokenizer(std::move(vocabulary)));
    const Vocabulary& words = *made->vocabulary_;
    const GgufFile& file = words.file();
    const int32_t bos = words.special("tokenizer.ggml.bos_token_id", 1);
    made->bos_ = file.boolean("tokenizer.ggml.add_bos_token").value_or(true) ? bos : -1;
    made->space_in_front_ = file.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
    for (int32_t i = 0; i < words.n_tokens(); ++i)
        made->longest_ = std::max(made->longest_, words.text(i).size());
    const int32_t unknown = words.special("tokenizer.ggml.unknown_token_id", 0);
    for (int byte = 0; byte < 256; ++byte) {
        constexpr std::string_view digits = "0123456789ABCDEF";
        const std::string name = {'<', '0', 'x', digits[static_cast<size_t>(byte) >> 4], digits[byte & 15],
                                  '>'};
        int32_t token = words.find(name);
        if (token < 0) token = words.find(std::string(1, static_cast<char>(byte)));
        made->byte_tokens_.push_back(token >= 0 ? token : unknown);
    }
    made->find_end_tokens();
    made->index_literals();
    *out = std::move(made);
    return {};
}

void SpmTokenizer::find_end_tokens() {
    for (std::string_view text : end_texts) {
        const int32_t token = vocabulary_->find(text);
        if (token < 0) continue;
        ends_.push_back(token);
        forced_control_.push_back(token);
    }
    for (const char* key : {"eos", "eot", "eom"}) {
        const int32_t otherwise = std::string_view(key) == "eos" ? 2 : -1;
        const int32_t token =
            vocabulary_->special("tokenizer.ggml." + std::string(key) + "_token_id", otherwise);
        if (token >= 0) ends_.push_back(token);
    }
    std::sort(ends_.begin(), ends_.end());
    std::sort(forced_control_.begin(), forced_control_.end());
}

bool SpmTokenizer::is_control(int32_t token) const {
    const auto type = vocabulary_->type(token);
    return type == Vocabulary::control || type == Vocabulary::unknown ||
           std::binary_search(forced_control_.begin(), forced_control_.end(), token);
}

void SpmTokenizer::index_literals() {
    for (int32_t i = 0; i < n_tokens(); ++i) {
        if (is_control(i) || vocabulary_->type(i) == Vocabulary::user_defined) literals_.push_back(i);
    }
    // Longer ones take precedence. Among equally long ones the order is what this very algorithm leaves:
    // the reference sorts the same list in the same way.
    std::sort(literals_.begin(), literals_.end(), [this](int32_t a, int32_t b) {
        return vocabulary_->text(a).size() > vocabulary_->text(b).size();
    });
    lengths_.resize(256);
    literal_rank_.reserve(literals_.size());
    for (size_t rank = 0; rank < literals_.size(); ++rank) {
        const std::string_view text = vocabulary_->text(literals_[rank]);
        literal_rank_.emplace(text, static_cast<int32_t>(rank));
        auto& lengths = lengths_[static_cast<uint8_t>(text[0])];
        const auto length = static_cast<uint32_t>(text.size());
        if (lengths.empty() || lengths.back() != length)
            lengths.push_back(length);  // they come longest first
    }
}

bool SpmTokenizer::is_end(int32_t token) const {
    return std::binary_search(ends_.begin(), ends_.end(), token);
}

std::string SpmTokenizer::piece(int32_t token) const {
    if (token < 0 || token >= n_tokens() || is_control(token)) return {};
    std::string text(vocabulary_->text(token));
    switch (vocabulary_->type(token)) {
    case Vocabulary::user_defined:
        return text;
    case Vocabulary::byte: {
        if (text.size() < 5) return {};
        return std::string(1, static_cast<char>(std::strtol(text.substr(3, 2).c_str(), nullptr, 16)));
    }
    case Vocabulary::normal:
        break;
    default:
        return {};
    }
    std::string out;
    for (size_t at = 0; at < text.size();) {
        if (text.compare(at, space_mark.size(), space_mark) == 0) {
            out += ' ';
            at += space_mark.size();
        } else {
            out += text[at++];
        }
    }
    return out;
}

// Rank of the longest literal at `begin` that has at most `longest` bytes; -1: none.
int32_t SpmTokenizer::literal_at(std::string_view text, size_t begin, size_t longest, bool special) const {
    for (const uint32_t length : lengths_[static_cast<uint8_t>(text[begin])]) {
        if (length > longest) continue;
        const auto found = literal_rank_.find(text.substr(begin, length));
        if (found == literal_rank_.end()) continue;
        if (special || !is_control(literals_[static_cast<size_t>(found->second)])) return found->second;
    }
    return -1;
}

// Disjoint, in the order of the text. By precedence, then from the left: a shorter token has only what the
// longer ones left. Every place offers its longest one, and the next shorter one when that does not fit.
std::vector<SpmTokenizer::Match> SpmTokenizer::literals(std::string_view text, bool special) const {
    using Candidate = std::pair<int32_t, size_t>;  // rank, begin
    std::vector<Candidate> candidates;
    for (size_t at = 0; at < text.size(); ++at) {
        const int32_t rank = literal_at(text, at, text.size() - at, special);
        if (rank >= 0) candidates.emplace_back(rank, at);
    }
    std::vector<Match> out;
    if (candidates.empty()) return out;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<Candidate>> queue(
        std::greater<Candidate>(), std::move(candidates));
    std::string taken(text.size(), '\0');  // 1 where a match lies
    while (!queue.empty()) {
        const auto [rank, begin] = queue.top();
        queue.pop();
        if (taken[begin]) continue;
        const int32_t token = literals_[static_cast<size_t>(rank)];
        const size_t length = vocabulary_->text(token).size();
        const void* blocked = std::memchr(&taken[begin], 1, length);
        if (!blocked) {
            std::memset(&taken[begin], 1, length);
            out.push_back({begin, begin + length, token});
            continue;
        }
        const auto room = static_cast<size_t>(static_cast<const char*>(blocked) - &taken[begin]);
        const int32_t shorter = literal_at(text, begin, room, special);
        if (shorter >= 0) queue.emplace(shorter, begin);
    }
    std::sort(out.begin(), out.end(), [](const Match& a, const Match& b) { return a.begin < b.begin; });
    return out;
}

Status SpmTokenizer::split(std::string_view text, bool special, std::vector<int32_t>* out) const {
    if (text.size() > (1u << 29)) {
        return Status::error(Code::bad_argument, "the text is too long to split into tokens at once");
    }
    std::string escaped;
    bool after_literal = true;  // the start counts as such
    const auto plain = [&](std::string_view part) {
        if (part.empty()) return;
        escaped.clear();
        if (space_in_front_ && after_literal) escaped += space_mark;
        for (char c : part) {
            if (c == ' ') {
                escaped += space_mark;
            } else {
                escaped += c;
            }
        }
        merge(escaped, out);
        after_literal = false;
    };
    size_t at = 0;
    for (const Match& match : literals(text, special)) {
        plain(text.substr(at, match.begin - at));
        out->push_back(match.token);
        after_literal = true;
        at = match.end;
    }
    plain(text.substr(at));
    return {};
}

void SpmTokenizer::merge(std::string_view escaped, std::vector<int32_t>* out) const {
    struct Symbol {
        int32_t previous;
        int32_t next;
        uint32_t begin;
        uint32_t n_bytes;  // 0: became part of the one before
    };
    struct Pair {
        float score;
        int32_t left;
        int32_t right;
        uint32_t n_bytes;
        // The queue gives the greatest: best score, then furthest to the left.
        bool operator<(const Pair& other) const {
            return score < other.score || (score == other.score && left > other.left);
        }
    };
    std::vector<Symbol> symbols;
    symbols.reserve(escaped.size());
    for (size_t at = 0; at < escaped.size();) {
        const size_t n_bytes = std::min(character_bytes(escaped[at]), escaped.size() - at);
        const auto index = static_cast<int32_t>(symbols.size());
        symbols.push_back({index - 1, index + 1, static_cast<uint32_t>(at), static_cast<uint32_t>(n_bytes)});
        at += n_bytes;
    }
    symbols.back().next = -1;

    std::vector<Pair> storage;
    storage.reserve(symbols.size());
    std::priority_queue<Pair> pairs(std::less<Pair>(), std::move(storage));
    const auto offer = [&](int32_t left, int32_t right) {
        if (left < 0 || right < 0) return;
        const Symbol& first = symbols[static_cast<size_t>(left)];
        const uint32_t n_bytes = first.n_bytes + symbols[static_cast<size_t>(right)].n_bytes;
        if (n_bytes > longest_) return;
        const int32_t token = vocabulary_->find(escaped.substr(first.begin, n_bytes));
        if (token >= 0) pairs.push({vocabulary_->score(token), left, right, n_bytes});
    };
    for (size_t i = 1; i < symbols.size(); ++i) offer(static_cast<int32_t>(i) - 1, static_cast<int32_t>(i));
    while (!pairs.empty()) {
        const Pair best = pairs.top();
        pairs.pop();
        Symbol& left = symbols[static_cast<size_t>(best.left)];
        Symbol& right = symbols[static_cast<size_t>(best.right)];
        // Out of date when one of the two was merged in the meantime.
        if (left.n_bytes == 0 || right.n_bytes == 0 || left.n_bytes + right.n_bytes != best.n_bytes) continue;
        left.n_bytes += right.n_bytes;
        right.n_bytes = 0;
        left.next = right.next;
        if (right.next >= 0) symbols[static_cast<size_t>(right.next)].previous = best.left;
        offer(left.previous, best.left);
        offer(best.left, left.next);
    }
    for (int32_t i = 0; i >= 0; i = symbols[static_cast<size_t>(i)].next) {
        const Symbol& symbol = symbols[static_cast<size_t>(i)];
        const std::string_view text = escaped.substr(symbol.begin, symbol.n_bytes);
        const int32_t token = vocabulary_->find(text);
        if (token >= 0) {
            out->push_back(token);
        } else {
            bytes(text, out);
        }
    }
}

void SpmTokenizer::bytes(std::string_view text, std::vector<int32_t>* out) const {
    for (char c : text) {
        const int32_t token = byte_tokens_[static_cast<uint8_t>(c)];
        if (token >= 0) out->push_back(token);
    }
}

}  // namespace mtp
