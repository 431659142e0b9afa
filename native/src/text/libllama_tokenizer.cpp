#include "text/libllama_tokenizer.h"

#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>

#include "gguf/shown.h"
#include "llama.h"

namespace mtp {

namespace {

void append(std::string* out, const void* data, size_t n_bytes) {
    out->append(static_cast<const char*>(data), n_bytes);
}

template <typename T> void append_number(std::string* out, T value) { append(out, &value, sizeof value); }

void append_text(std::string* out, std::string_view text) {
    append_number<uint64_t>(out, text.size());
    append(out, text.data(), text.size());
}

void append_value(std::string* out, std::string_view key, const GgufValue& value) {
    append_text(out, key);
    if (value.is_array) {
        append_number(out, static_cast<uint32_t>(GgufType::array));
        append_number(out, static_cast<uint32_t>(value.type));
        append_number<uint64_t>(out, value.count);
    } else {
        append_number(out, static_cast<uint32_t>(value.type));
        if (value.type == GgufType::string) append_number<uint64_t>(out, value.n_bytes);
    }
    append(out, value.data, value.n_bytes);
}

// A GGUF file in memory with the vocabulary alone. libllama stops the process on some values of a damaged
// header that have nothing to do with the vocabulary; what it does not see cannot make it stop.
std::string vocabulary_file(const GgufFile& file) {
    std::string body;
    uint64_t n_keys = 1;
    append_text(&body, "general.architecture");
    append_number(&body, static_cast<uint32_t>(GgufType::string));
    append_text(&body, "llama");
    constexpr std::string_view wanted = "tokenizer.ggml.";
    for (const auto& [key, value] : file.values()) {
        // The model's name changes how some vocabularies treat white space.
        if (key.substr(0, wanted.size()) != wanted && key != "general.name") continue;
        append_value(&body, key, value);
        ++n_keys;
    }
    std::string out = "GGUF";
    append_number<uint32_t>(&out, 3);
    append_number<uint64_t>(&out, 0);  // tensors
    append_number<uint64_t>(&out, n_keys);
    out += body;
    out.append(64, '\0');  // room for the alignment of the (empty) data
    return out;
}

// Keeps libllama's messages away from stderr, and its last error for us, while it lives. The log is one for
// the whole process: one holder at a time, and what was set before comes back.
class QuietLog {
  public:
    QuietLog() : lock_(mutex()) {
        llama_log_get(&callback_, &user_data_);
        llama_log_set(&QuietLog::take, this);
    }
    ~QuietLog() { llama_log_set(callback_, user_data_); }
    const std::string& last_error() const { return last_error_; }

  private:
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    static void take(ggml_log_level level, const char* text, void* self) {
        if (level != GGML_LOG_LEVEL_ERROR || !text) return;
        auto& kept = static_cast<QuietLog*>(self)->last_error_;
        if (!kept.empty()) return;  // the first one says why, the others that it failed
        std::string_view line(text);
        while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
        const size_t function = line.rfind("model: ");  // "...: error loading model: WHY"
        kept = std::string(function == std::string_view::npos ? line : line.substr(function + 7));
        for (char& c : kept) {
            if (static_cast<unsigned char>(c) < 0x20) c = ' ';
        }
    }

    std::lock_guard<std::mutex> lock_;
    ggml_log_callback callback_ = nullptr;
    void* user_data_ = nullptr;
    std::string last_error_;
};

// libllama gives empty tokens a name made from their number, and stops the process when it is taken.
bool empty_token_name_taken(const Vocabulary& vocabulary) {
    if (!vocabulary.has_empty_token()) return false;
    for (int32_t i = 0; i < vocabulary.n_tokens(); ++i) {
        if (vocabulary.text(i).empty() && vocabulary.find("[EMPTY_" + std::to_string(i) + "]") >= 0)
            return true;
    }
    return false;
}

}  // namespace

Status LibllamaTokenizer::make(const Vocabulary& vocabulary, std::unique_ptr<Tokenizer>* out) {
    const std::string& kind = vocabulary.model();
    // The kinds with token texts that a text model may have; others are for other jobs.
    if (kind != "llama" && kind != "gpt2" && kind != "gemma4") {
        return Status::error(Code::unsupported, "tokenizer kind " + shown(kind));
    }
    if (empty_token_name_taken(vocabulary)) {
        return Status::error(Code::bad_file, "damaged vocabulary: an empty token: pull the file again");
    }
    std::string content = vocabulary_file(vocabulary.file());
    std::FILE* stream = ::fmemopen(content.data(), content.size(), "rb");
    if (!stream) return Status::error(Code::out_of_memory, "not enough memory to read the vocabulary");
    llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    params.n_gpu_layers = 0;
    params.load_mode = LLAMA_LOAD_MODE_NONE;
    llama_model* model = nullptr;
    std::string why;
    {
        QuietLog log;
        model = llama_model_load_from_file_ptr(stream, params);
        why = log.last_error();
    }
    std::fclose(stream);
    if (!model)
        return Status::error(Code::bad_file,
                             "the vocabulary cannot be read" + (why.empty() ? why : ": " + why));
    out->reset(new LibllamaTokenizer(model));
    if ((*out)->n_tokens() != vocabulary.n_tokens()) {
        out->reset();
        return Status::error(Code::bad_file, "damaged vocabulary: pull the file again");
    }
    return {};
}

LibllamaTokenizer::LibllamaTokenizer(llama_model* model)
    : model_(model), vocab_(llama_model_get_vocab(model)) {}

LibllamaTokenizer::~LibllamaTokenizer() { llama_model_free(model_); }

int32_t LibllamaTokenizer::n_tokens() const { return llama_vocab_n_tokens(vocab_); }

bool LibllamaTokenizer::is_end(int32_t token) const {
    return token >= 0 && token < n_tokens() && llama_vocab_is_eog(vocab_, token);
}

int32_t LibllamaTokenizer::bos() const {
    const int32_t token = llama_vocab_bos(vocab_);
    return llama_vocab_get_add_bos(vocab_) && token >= 0 && token < n_tokens() ? token : -1;
}

std::string LibllamaTokenizer::piece(int32_t token) const {
    if (token < 0 || token >= n_tokens()) return {};
    std::string out(32, '\0');
    int32_t n_bytes =
        llama_token_to_piece(vocab_, token, out.data(), static_cast<int32_t>(out.size()), 0, false);
    if (n_bytes < 0) {
        out.resize(static_cast<size_t>(-n_bytes));
        n_bytes = llama_token_to_piece(vocab_, token, out.data(), static_cast<int32_t>(out.size()), 0, false);
    }
    out.resize(n_bytes > 0 ? static_cast<size_t>(n_bytes) : 0);
    return out;
}

Status LibllamaTokenizer::split(std::string_view text, bool special, std::vector<int32_t>* out) const {
    if (text.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max() / 2)) {
        return Status::error(Code::bad_argument, "the text is too long to split into tokens at once");
    }
    const size_t start = out->size();
    int32_t room = static_cast<int32_t>(text.size()) / 3 + 16;
    for (int attempt = 0; attempt < 2; ++attempt) {  // the second time with the exact number
        out->resize(start + static_cast<size_t>(room));
        const int32_t n = llama_tokenize(vocab_, text.data(), static_cast<int32_t>(text.size()),
                                         out->data() + start, room, false, special);
        if (n >= 0) {
            out->resize(start + static_cast<size_t>(n));
            return {};
        }
        if (n == std::numeric_limits<int32_t>::min()) break;
        room = -n;
    }
    out->resize(start);
    return Status::error(Code::internal, "the text could not be split into tokens");
}

}  // namespace mtp
