#include "text/tokenizer.h"

#include <exception>
#include <limits>
#include <new>

#include "gguf/gguf_file.h"
#include "llama.h"
#include "text/libllama_tokenizer.h"
#include "text/spm_tokenizer.h"
#include "text/vocabulary.h"

namespace mtp {

namespace {

Status with_path(const std::string& path, Status status) {
    status.message = path + ": " + status.message;
    return status;
}

}  // namespace

Status Tokenizer::load(const std::string& path, std::unique_ptr<Tokenizer>* out, Reader reader) {
    out->reset();
    try {
        std::unique_ptr<GgufFile> file;
        Status status = GgufFile::open(path, &file);
        if (!status.ok()) return status;
        const std::string chat_template(file->string("tokenizer.chat_template").value_or(""));
        auto vocabulary = std::make_unique<Vocabulary>();
        status = vocabulary->load(std::move(file));
        if (!status.ok()) return with_path(path, status);
        std::unique_ptr<Tokenizer> made;
        if (reader != Reader::libllama && SpmTokenizer::handles(*vocabulary)) {
            status = SpmTokenizer::make(std::move(vocabulary), &made);
        } else if (reader == Reader::own) {
            status = Status::error(Code::unsupported, "no own reader for this kind of vocabulary");
        } else {
            status = LibllamaTokenizer::make(*vocabulary, &made);
        }
        if (!status.ok()) return with_path(path, status);
        made->chat_template_ = chat_template;
        *out = std::move(made);
        return {};
    } catch (const std::bad_alloc&) {
        return Status::error(Code::out_of_memory, "not enough memory to read the vocabulary");
    } catch (const std::exception& error) {
        return Status::error(Code::internal, std::string("reading the vocabulary: ") + error.what());
    }
}

Status Tokenizer::encode(std::string_view text, bool with_bos, bool special,
                         std::vector<int32_t>* out) const {
    out->clear();
    Status status;
    try {
        status = split(text, special, out);
        const int32_t first = with_bos ? bos() : -1;
        const bool there = special && !out->empty() && out->front() == first;
        if (status.ok() && first >= 0 && !there) out->insert(out->begin(), first);
    } catch (const std::bad_alloc&) {
        status = Status::error(Code::out_of_memory, "not enough memory to split the text into tokens");
    } catch (const std::exception& error) {
        status =
            Status::error(Code::internal, std::string("splitting the text into tokens: ") + error.what());
    }
    if (!status.ok()) out->clear();
    return status;
}

Status Tokenizer::chat_prompt(const std::vector<std::pair<std::string, std::string>>& messages,
                              bool open_answer, std::string* out) const {
    out->clear();
    if (!has_chat_template()) return Status::error(Code::unsupported, "this model has no chat template");
    if (messages.empty())
        return Status::error(Code::bad_argument, "a chat prompt needs at least one message");
    try {
        std::vector<llama_chat_message> chat;
        size_t n_bytes = 1024;
        for (const auto& [role, content] : messages) {
            // C strings below: a NUL would cut the text without a word.
            if ((role + content).find('\0') != std::string::npos) {
                return Status::error(Code::bad_argument, "the text holds a NUL character");
            }
            chat.push_back({role.c_str(), content.c_str()});
            n_bytes += 2 * (role.size() + content.size());
        }
        if (n_bytes > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
            return Status::error(Code::bad_argument, "the text is too long for one prompt");
        }
        for (int attempt = 0; attempt < 2; ++attempt) {  // the second time with the exact size
            out->resize(n_bytes);
            const int32_t needed =
                llama_chat_apply_template(chat_template_.c_str(), chat.data(), chat.size(), open_answer,
                                          out->data(), static_cast<int32_t>(n_bytes));
            if (needed < 0) break;
            if (static_cast<size_t>(needed) <= n_bytes) {
                out->resize(static_cast<size_t>(needed));
                return {};
            }
            n_bytes = static_cast<size_t>(needed);
        }
        out->clear();
        return Status::error(Code::unsupported,
                             "this model's chat template is of a kind that is not known here");
    } catch (const std::bad_alloc&) {
        return Status::error(Code::out_of_memory, "not enough memory for the prompt");
    } catch (const std::exception& error) {
        return Status::error(Code::internal, std::string("applying the chat template: ") + error.what());
    }
}

}  // namespace mtp
