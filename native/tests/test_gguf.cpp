// Opens GGUF files and looks at everything in them.
//
//   test_gguf FILE...            one line each: "ok ARCHITECTURE KEYS TENSORS" or "CODE MESSAGE"
//   test_gguf --fuzz FILE N SEED damages the file in N ways (in a copy) and opens each; no way may end the
//   process test_gguf --pages FILE       resident KiB after reading all tensors, and after releasing them
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include "gguf/gguf_file.h"
#include "text/tokenizer.h"

namespace {

const char* const code_names[] = {"ok",           "bad_file", "unsupported",   "bad_argument",
                                  "context_full", "aborted",  "out_of_memory", "internal"};

// Reads every byte that the file offers, through each getter; the sum keeps the reads from being dropped.
uint64_t touch_all(const mtp::GgufFile& file) {
    uint64_t sum = file.architecture().size() + file.file_bytes();
    for (const auto& [key, value] : file.values()) {
        for (size_t i = 0; i < value.n_bytes; ++i) sum += value.data[i];
        sum += file.u32(key).value_or(1) + file.boolean(key).value_or(false) +
               file.string(key).value_or("").size();
        sum += file.f32(key).has_value() + file.array_length(key).value_or(0);
        if (const auto array = file.f32_array(key)) sum += array->size();
        if (const auto array = file.i32_array(key)) sum += array->size();
        if (const auto array = file.bool_array(key)) sum += array->size();
        if (const auto array = file.string_array(key)) {
            for (std::string_view text : *array) sum += text.size() + (text.empty() ? 0 : text.back());
        }
    }
    for (const auto& tensor : file.tensors()) {
        sum += file.find(tensor.name) == &tensor;
        for (size_t i = 0; i < tensor.n_bytes; i += 512) sum += tensor.data[i];
        sum += tensor.data[tensor.n_bytes - 1];
    }
    return sum;
}

// "" when nothing is wrong with the answer itself: a refusal needs a code and one line of text.
std::string fault(const mtp::Status& status) {
    if (status.ok()) return "";
    if (status.message.empty()) return "no message";
    for (unsigned char c : status.message) {
        if (c < 0x20 || c == 0x7f) return "control character in: " + status.message;
    }
    return status.code == mtp::Code::internal ? "internal: " + status.message : "";
}

void damage(std::string* bytes, std::mt19937* random, size_t header) {
    const auto below = [&](size_t n) { return static_cast<size_t>((*random)() % std::max<size_t>(n, 1)); };
    for (size_t round = 0, rounds = 1 + below(2); round < rounds && !bytes->empty(); ++round) {
        const size_t at = below(std::min(header, bytes->size()));
        switch (below(6)) {
        case 0:
            (*bytes)[at] = static_cast<char>((*random)());
            break;
        case 1:
            (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << below(8)));
            break;
        case 2: {  // a 64-bit number: huge, negative, or near a limit
            static const uint64_t values[] = {
                0, 1, ~0ull, 1ull << 63, 1ull << 62, 0x7fffffffffffffffull, 1ull << 32, 0xffffffffull};
            const uint64_t value = values[below(8)] - below(3);
            for (size_t i = 0; i < 8 && at + i < bytes->size(); ++i)
                (*bytes)[at + i] = static_cast<char>(value >> (8 * i));
            break;
        }
        case 3:
            bytes->resize(below(bytes->size()) + 1);
            break;
        case 4:
            bytes->erase(at, below(16));
            break;
        default:
            bytes->insert(at, std::string(below(16), static_cast<char>((*random)())));
        }
    }
}

int fuzz(const char* path, long n, unsigned seed) {
    std::ifstream stream(path, std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(stream)), {});
    std::unique_ptr<mtp::GgufFile> file;
    const mtp::Status first = mtp::GgufFile::open(path, &file);
    if (!first.ok()) return 2;
    // Damage goes into what comes before the tensors' data, where every byte means something.
    const uint8_t* begin = nullptr;
    const uint8_t* end = nullptr;
    for (const auto& tensor : file->tensors()) {
        begin = !begin ? tensor.data : std::min(begin, tensor.data);
        end = std::max(end, tensor.data + tensor.n_bytes);
    }
    const size_t header = whole.size() - static_cast<size_t>(end - begin);
    file.reset();
    std::mt19937 random(seed);
    const std::string copy = std::string(path) + ".damaged";
    std::map<std::string, long> seen;
    uint64_t sum = 0;
    for (long i = 0; i < n; ++i) {
        std::string bytes = whole;
        damage(&bytes, &random, header);
        std::ofstream(copy, std::ios::binary | std::ios::trunc)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        const mtp::Status status = mtp::GgufFile::open(copy, &file);
        std::string wrong = fault(status);
        if (file) sum += touch_all(*file);
        if (file && wrong.empty()) {
            std::unique_ptr<mtp::Tokenizer> tokenizer;
            const mtp::Status loaded = mtp::Tokenizer::load(copy, &tokenizer);
            wrong = fault(loaded);
            ++seen[std::string("tokenizer ") + code_names[static_cast<int>(loaded.code)]];
            std::vector<int32_t> tokens;
            if (tokenizer) {
                for (bool special : {false, true}) {
                    const mtp::Status split =
                        tokenizer->encode("The  <b>of</s>\n \xff\xf0\x9f\x98\x80", true, special, &tokens);
                    for (int32_t token : tokens)
                        sum += tokenizer->piece(token).size() + tokenizer->is_end(token);
                    wrong += split.ok() ? "" : fault(split);
                }
            }
        }
        ++seen[code_names[static_cast<int>(status.code)]];
        if (!wrong.empty()) {
            std::cout << "damage " << i << " of seed " << seed << ": " << wrong << "\n";
            return 1;
        }
    }
    std::remove(copy.c_str());
    for (const auto& [code, count] : seen) std::cout << code << " " << count << "\n";
    std::cout << "done " << n << (sum == 1 ? "." : "") << "\n";
    return 0;
}

long resident_kib() {
    long total = 0;
    long resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * ::sysconf(_SC_PAGESIZE) / 1024;
}

int pages(const char* path) {
    std::unique_ptr<mtp::GgufFile> file;
    if (!mtp::GgufFile::open(path, &file).ok()) return 2;
    const uint64_t before = touch_all(*file);
    std::cout << resident_kib() << " ";
    for (const auto& tensor : file->tensors()) file->release_pages(tensor);
    file->release_header();
    std::cout << resident_kib() << "\n";
    return touch_all(*file) == before ? 0 : 1;  // what was released can be read again
}

}  // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "--fuzz" && argc == 5)
        return fuzz(argv[2], std::atol(argv[3]), static_cast<unsigned>(std::atol(argv[4])));
    if (mode == "--pages" && argc == 3) return pages(argv[2]);
    for (int i = 1; i < argc; ++i) {
        std::unique_ptr<mtp::GgufFile> file;
        const mtp::Status status = mtp::GgufFile::open(argv[i], &file);
        if (status.ok() != (file != nullptr)) return 1;
        std::cout << code_names[static_cast<int>(status.code)] << " ";
        if (!file) {
            std::cout << status.message << "\n";
        } else {
            touch_all(*file);
            std::cout << file->architecture() << " " << file->values().size() << " " << file->tensors().size()
                      << "\n";
        }
    }
    return 0;
}
