// Our own reader for SentencePiece vocabularies with scores (tokenizer kind "llama"): pairs are merged in
// the order of their scores, what is no token falls back to bytes. It works on the mapped file and keeps
// only tables of numbers, so that a vocabulary of 262,144 tokens is ready in some milliseconds.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace mtp {

class SpmTokenizer : public Tokenizer {
  public:
    // False for other kinds, and for vocabularies with peculiarities that only libllama knows.
    static bool handles(const Vocabulary& vocabulary);
    static Status make(std::unique_ptr<Vocabulary> vocabulary, std::unique_ptr<Tokenizer>* out);

    int32_t n_tokens() const override { return vocabulary_->n_tokens(); }
    std::string piece(int32_t token) const override;
    bool is_end(int32_t token) const override;

  protected:
    Status split(std::string_view text, bool special, std::vector<int32_t>* out) const override;
    int32_t bos() const override { return bos_; }

  private:
    // Where a token stands in the text as it is: found before the text around it is split.
    struct Match {
        size_t begin;
        size_t end;
        int32_t token;
    };

    explicit SpmTokenizer(std::unique_ptr<Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}
    void find_end_tokens();
    void index_literals();
    bool is_control(int32_t token) const;
    int32_t literal_at(std::string_view text, size_t begin, size_t longest, bool special) const;
    std::vector<Match> literals(std::string_view text, bool special) const;
    void merge(std::string_view escaped, std::vector<int32_t>* out) const;
    void bytes(std::string_view text, std::vector<int32_t>* out) const;

    std::unique_ptr<Vocabulary> vocabulary_;
    int32_t bos_ = -1;
    bool space_in_front_ = true;
    std::vector<int32_t> ends_;            // sorted
    std::vector<int32_t> forced_control_;  // sorted: control by their text, whatever type the file gives
    std::vector<int32_t> byte_tokens_;     // 256: for what is no token
    size_t longest_ = 0;                   // bytes of the longest token
    // Tokens that are looked for in the raw text: rank by precedence, and their lengths by first byte.
    std::unordered_map<std::string_view, int32_t> literal_rank_;
    std::vector<int32_t> literals_;  // by rank
    std::vector<std::vector<uint32_t>> lengths_;
};

}  // namespace mtp
