// Compares our own vocabulary reader with libllama's on one model file.
//
//   test_tokenizer FILE         frames on stdin, each: u8 flags (1 special, 2 bos), u32 length, the text
//   test_tokenizer FILE pieces  the bytes of every token, end-of-text tokens, ids out of range
//   test_tokenizer FILE load    ms that each reader takes to load
//
// Prints "equal N" and returns 0, or the first difference and returns 1; 2 when the file cannot be read.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "text/tokenizer.h"

namespace {

using mtp::Tokenizer;
using Reader = mtp::Tokenizer::Reader;

std::string shown(const std::vector<int32_t>& tokens) {
    std::string out;
    for (int32_t token : tokens) out += std::to_string(token) + " ";
    return out;
}

bool equal_pieces(const Tokenizer& own, const Tokenizer& reference) {
    if (own.n_tokens() != reference.n_tokens()) return false;
    const int32_t n = own.n_tokens();
    for (int32_t token : {-2147483647 - 1, -1, n, n + 1, 2147483647}) {
        if (!own.piece(token).empty() || own.is_end(token)) return false;
        if (!reference.piece(token).empty() || reference.is_end(token)) return false;
    }
    for (int32_t token = 0; token < n; ++token) {
        if (own.piece(token) == reference.piece(token) && own.is_end(token) == reference.is_end(token))
            continue;
        std::cout << "token " << token << ": own \"" << own.piece(token) << "\" end " << own.is_end(token)
                  << ", libllama \"" << reference.piece(token) << "\" end " << reference.is_end(token)
                  << "\n";
        return false;
    }
    std::cout << "equal " << n << "\n";
    return true;
}

bool equal_texts(const Tokenizer& own, const Tokenizer& reference) {
    long count = 0;
    for (int flags; (flags = std::cin.get()) != EOF; ++count) {
        uint32_t length = 0;
        std::cin.read(reinterpret_cast<char*>(&length), sizeof length);
        std::string text(length, '\0');
        std::cin.read(text.data(), length);
        std::vector<int32_t> ours;
        std::vector<int32_t> theirs;
        const mtp::Status a = own.encode(text, flags & 2, flags & 1, &ours);
        const mtp::Status b = reference.encode(text, flags & 2, flags & 1, &theirs);
        if (a.ok() && b.ok() && ours == theirs) continue;
        std::cout << "text " << count << " flags " << flags << " \"" << text.substr(0, 200) << "\"\nown      "
                  << a.message << shown(ours) << "\nlibllama " << b.message << shown(theirs) << "\n";
        return false;
    }
    std::cout << "equal " << count << "\n";
    return true;
}

double load_ms(const char* path, Reader reader, std::unique_ptr<Tokenizer>* out) {
    const auto start = std::chrono::steady_clock::now();
    const mtp::Status status = Tokenizer::load(path, out, reader);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!status.ok()) std::cout << static_cast<int>(status.code) << " " << status.message << "\n";
    return took.count();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const std::string mode = argc > 2 ? argv[2] : "";
    std::unique_ptr<Tokenizer> own;
    std::unique_ptr<Tokenizer> reference;
    const double own_ms = load_ms(argv[1], mode == "libllama" ? Reader::libllama : Reader::own, &own);
    const double reference_ms = load_ms(argv[1], Reader::libllama, &reference);
    if (mode == "load") std::printf("own %.1f ms, libllama %.1f ms\n", own_ms, reference_ms);
    if (!own || !reference) return 2;
    if (mode == "load") return 0;
    return (mode == "pieces" ? equal_pieces(*own, *reference) : equal_texts(*own, *reference)) ? 0 : 1;
}
