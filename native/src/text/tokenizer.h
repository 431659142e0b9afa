// Text to token ids and back, and the model's own chat template.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "status.h"

namespace mtp {

class GgufFile;

// Safe to use from several threads once loaded.
class Tokenizer {
  public:
    // How to read the vocabulary. `automatic` takes our own reader where it knows the kind (it loads many
    // times faster) and libllama's for the others; the two give the same tokens.
    enum class Reader { automatic, own, libllama };

    // Codes: bad_file (missing or damaged vocabulary), unsupported, out_of_memory.
    static Status load(const std::string& path, std::unique_ptr<Tokenizer>* out,
                       Reader reader = Reader::automatic);
    virtual ~Tokenizer() = default;
    Tokenizer(const Tokenizer&) = delete;
    Tokenizer& operator=(const Tokenizer&) = delete;

    virtual int32_t n_tokens() const = 0;

    // bos: put the model's begin-of-text token in front, unless the model wants none or, with `special` on,
    // the text starts with it already. special: read control tokens such as <|im_start|> in the text as
    // tokens. Any bytes are taken: wrong UTF-8 becomes some tokens. Replaces *out.
    Status encode(std::string_view text, bool bos, bool special, std::vector<int32_t>* out) const;

    // The bytes of one token, maybe a part of a UTF-8 character; "" for control tokens and for ids outside
    // of [0, n_tokens).
    virtual std::string piece(int32_t token) const = 0;

    // End-of-text and end-of-turn tokens; false for ids outside of [0, n_tokens).
    virtual bool is_end(int32_t token) const = 0;

    bool has_chat_template() const { return !chat_template_.empty(); }

    // messages: (role, content) pairs; roles are system, user, assistant. open_answer: end with the opening
    // of the assistant's turn. Tokenize the result with `special` on. Codes: unsupported (no template, or one
    // of an unknown kind), bad_argument (no message, a NUL character).
    Status chat_prompt(const std::vector<std::pair<std::string, std::string>>& messages, bool open_answer,
                       std::string* out) const;

  protected:
    Tokenizer() = default;

    // Appends the tokens of `text` alone, nothing in front or after.
    virtual Status split(std::string_view text, bool special, std::vector<int32_t>* out) const = 0;
    // The begin-of-text token to put in front, or -1 when the model wants none.
    virtual int32_t bos() const = 0;

  private:
    std::string chat_template_;
};

}  // namespace mtp
