// Any vocabulary that libllama reads, through its public API.
#pragma once

#include <memory>

#include "text/tokenizer.h"
#include "text/vocabulary.h"

struct llama_model;
struct llama_vocab;

namespace mtp {

class LibllamaTokenizer : public Tokenizer {
  public:
    static Status make(const Vocabulary& vocabulary, std::unique_ptr<Tokenizer>* out);
    ~LibllamaTokenizer() override;

    int32_t n_tokens() const override;
    std::string piece(int32_t token) const override;
    bool is_end(int32_t token) const override;

  protected:
    Status split(std::string_view text, bool special, std::vector<int32_t>* out) const override;
    int32_t bos() const override;

  private:
    explicit LibllamaTokenizer(llama_model* model);

    llama_model* model_;
    const llama_vocab* vocab_;
};

}  // namespace mtp
