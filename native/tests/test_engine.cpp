// Whole passes, with every kernel set that this CPU can run: the same bits by every width, and the same
// tokens with drafts as without.
//
//   test_engine FOLDER [--best]           tiny random models, written to FOLDER; exit code 1 when something
//   differs.
//                                         Logits and greedy tokens go to FOLDER/NAME.logits and
//                                         FOLDER/NAME.tokens, to be compared with another machine's. --best:
//                                         only the best set and the scalar one
//   test_engine --greedy MODEL N TEXT     N greedy tokens after TEXT, as numbers
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "decode/engine.h"
#include "tiny_model.h"

namespace {

using namespace mtp;
using Tokens = std::vector<int32_t>;

int failures = 0, checks = 0;

void check(bool ok, const std::string& what) {
    checks++;
    if (ok) return;
    if (++failures <= 20) std::printf("DIFFERS: %s\n", what.c_str());
}

void must(const Status& status) {
    if (status.ok()) return;
    std::printf("error: %s\n", status.message.c_str());
    std::exit(2);
}

std::unique_ptr<Engine> open(const std::string& path, const std::string& kernel) {
    std::unique_ptr<Engine> engine;
    EngineOptions options;
    options.kernel = kernel;
    must(Engine::open(path, options, nullptr, nullptr, &engine));
    return engine;
}

// Logits of all tokens, `width` tokens a pass.
std::vector<float> feed(Engine& engine, const Tokens& tokens, size_t width) {
    must(engine.rollback(0));
    const auto n_vocab = static_cast<size_t>(engine.model().params.n_vocab);
    std::vector<float> out(tokens.size() * n_vocab);
    for (size_t at = 0; at < tokens.size(); at += width) {
        const size_t n = std::min(width, tokens.size() - at);
        must(engine.logits(tokens.data() + at, static_cast<int64_t>(n), out.data() + at * n_vocab));
    }
    return out;
}

Tokens greedy(Engine& engine, const Tokens& prompt, size_t n) {
    must(engine.rollback(0));
    Tokens out(1);
    must(engine.prefill(prompt.data(), static_cast<int64_t>(prompt.size()), nullptr, out.data()));
    while (out.size() < n) {
        int32_t next = 0;
        must(engine.decode(&out.back(), 1, &next));
        out.push_back(next);
    }
    return out;
}

// The same with drafts: `right` of every `width` - 1 are what will come, the others are not.
Tokens drafted(Engine& engine, const Tokens& prompt, const Tokens& want, size_t width, Random& random) {
    must(engine.rollback(0));
    Tokens out(1);
    must(engine.prefill(prompt.data(), static_cast<int64_t>(prompt.size()), nullptr, out.data()));
    while (out.size() < want.size()) {
        Tokens pass = {out.back()};
        const auto right = static_cast<size_t>(random.below(static_cast<int>(width)));
        for (size_t i = 0; i + 1 < width; i++) {
            const size_t at = out.size() + i;
            pass.push_back(i < right && at < want.size() ? want[at] : random.below(290) + 3);
        }
        Tokens next(width);
        must(engine.decode(pass.data(), static_cast<int>(width), next.data()));
        size_t kept = 1;
        out.push_back(next[0]);
        while (kept < width && pass[kept] == out.back()) out.push_back(next[kept++]);
        must(engine.rollback(engine.length() - static_cast<int64_t>(width - kept)));
    }
    out.resize(want.size());
    return out;
}

template <class T> void save(const std::string& path, const std::vector<T>& values) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file || std::fwrite(values.data(), sizeof(T), values.size(), file) != values.size() ||
        std::fclose(file) != 0) {
        std::printf("error: cannot write %s\n", path.c_str());
        std::exit(2);
    }
}

void test_model(const std::string& folder, const TinyModel& tiny, bool best_only) {
    const std::string path = folder + "/" + tiny.name() + ".gguf";
    if (!TinyWriter(tiny).write(path)) {
        std::printf("error: cannot write %s\n", path.c_str());
        std::exit(2);
    }
    Random random(3);
    Tokens tokens;
    for (int i = 0; i < 24; i++) tokens.push_back(3 + random.below(290));
    std::vector<float> first;
    Tokens first_ids;
    std::vector<const KernelSet*> sets = kernel_sets_usable();
    if (best_only) sets = {sets.front(), sets.back()};
    for (const KernelSet* set : sets) {
        const std::string what = tiny.name() + " " + set->name;
        const auto engine = open(path, set->name);
        const std::vector<float> rows = feed(*engine, tokens, 1);
        const Tokens ids = greedy(*engine, tokens, 12);
        if (first.empty()) {
            first = rows;
            first_ids = ids;
            save(folder + "/" + tiny.name() + ".logits", rows);
            save(folder + "/" + tiny.name() + ".tokens", ids);
        }
        bool finite = true;
        for (const float x : rows) finite = finite && x - x == 0;
        check(finite && rows[0] != rows[1], what + ": logits are numbers");
        check(rows == first && ids == first_ids, what + " and another set");
        // the scalar set is slow, and its order of operations is the others'
        const bool slow = std::strcmp(set->name, "scalar") == 0;
        for (size_t width = 2; width <= 16 && !slow; width++)
            check(feed(*engine, tokens, width) == rows, what + " by " + std::to_string(width));
        for (const size_t width : {2, 3, 5, 8, 16}) {
            if (slow) break;
            check(drafted(*engine, tokens, ids, width, random) == ids,
                  what + " drafted by " + std::to_string(width));
        }
        check(feed(*engine, tokens, tokens.size()) == rows, what + " at once");
    }
}

// As small as the type allows: an emulator is slow, most of all at float operations.
void shrink(TinyModel* tiny) {
    const int64_t block = ggml_blck_size(tiny->type);
    const bool gemma = std::strcmp(tiny->arch, "gemma3") == 0;
    if (tiny->type != GGML_TYPE_Q8_0) tiny->n_vocab = 300;  // a screened output matrix is always Q8_0
    if (block == 32) tiny->n_embd = 128, tiny->n_head = 2, tiny->n_head_kv = 1, tiny->n_ff = gemma ? 96 : 160;
    if (block == 1) tiny->n_embd = gemma ? 64 : 72, tiny->head_dim = 24, tiny->n_ff = gemma ? 96 : 100;
}

int print_greedy(const std::string& path, int n, const std::string& text) {
    const auto engine = open(path, "auto");
    Tokens prompt;
    must(engine->tokenizer().encode(text, true, true, &prompt));
    for (const int32_t id : greedy(*engine, prompt, static_cast<size_t>(n))) std::printf("%d ", id);
    std::printf("\n");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 5 && std::strcmp(argv[1], "--greedy") == 0)
        return print_greedy(argv[2], std::atoi(argv[3]), argv[4]);
    if (argc != 2 && argc != 3) {
        std::printf("usage: test_engine FOLDER [--best] | test_engine --greedy MODEL N TEXT\n");
        return 2;
    }
    for (const ggml_type type : kTestTypes) {
        const int before = checks, failed = failures;
        TinyModel llama{"llama", type}, gemma{"gemma3", type};
        shrink(&llama);
        shrink(&gemma);
        test_model(argv[1], llama, argc == 3);
        test_model(argv[1], gemma, argc == 3);
        std::printf("%s: %d checks, %d differ\n", ggml_type_name(type), checks - before, failures - failed);
        std::fflush(stdout);
    }
    return failures > 0;
}
