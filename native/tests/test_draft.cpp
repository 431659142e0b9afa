// Answers questions about the parts of drafting, one a line on stdin, with one line on stdout each:
//
//   suffix N t..                        match length and end after each token: "length:end ..."
//   source M s.. N t..                  place in the source after each token: "position:run:edits ..."
//   uniform SEED N                      the draws of positions 0..N-1
//   sample T K P MINP PENALTY LAST SEED POSITION H h.. N logit..      the chosen token
//   lenient RULE ALPHA Q DRAFT N logit..                              0 or 1
//   gate N confidence.. cost*16                                       length of the draft
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "decode/lenient.h"
#include "decode/sampler.h"
#include "draft/draft_gate.h"
#include "draft/source_align.h"
#include "draft/suffix_automaton.h"

namespace {

using namespace mtp;

template <class T> T read(std::istream& in) {
    T value{};
    in >> value;
    return value;
}

// Text, so that "inf" and every digit of a float come through.
template <class T> std::vector<T> read_row(std::istream& in, size_t n) {
    std::vector<T> row;
    for (size_t i = 0; i < n; i++) row.push_back(static_cast<T>(std::stod(read<std::string>(in))));
    return row;
}

template <class T> std::vector<T> read_list(std::istream& in) { return read_row<T>(in, read<size_t>(in)); }

void suffix(std::istream& in) {
    SuffixAutomaton automaton;
    for (const int32_t token : read_list<int32_t>(in)) {
        automaton.append(token);
        std::printf("%lld:%lld ", static_cast<long long>(automaton.match_length()),
                    static_cast<long long>(automaton.match_end()));
    }
}

void source(std::istream& in) {
    SourceAlign align;
    align.start(read_list<int32_t>(in));
    for (const int32_t token : read_list<int32_t>(in)) {
        align.append(token);
        std::printf("%lld:%lld:%lld ", static_cast<long long>(align.position()),
                    static_cast<long long>(align.run()), static_cast<long long>(align.edits()));
    }
}

void uniform(std::istream& in) {
    const auto seed = read<uint64_t>(in);
    const auto n = read<uint64_t>(in);
    for (uint64_t i = 0; i < n; i++) std::printf("%.17g ", uniform_at(seed, i));
}

void sample(std::istream& in) {
    SamplingOptions o;
    o.temperature = read<float>(in);
    o.top_k = read<int>(in);
    o.top_p = read<float>(in);
    o.min_p = read<float>(in);
    o.repeat_penalty = read<float>(in);
    o.repeat_last = read<int>(in);
    o.seed = read<uint64_t>(in);
    const auto position = read<int64_t>(in);
    const auto history = read_list<int32_t>(in);
    auto logits = read_list<float>(in);
    Sampler sampler(o);
    std::printf("%d", sampler.choose(logits.data(), static_cast<int32_t>(logits.size()), position, history));
}

void lenient(std::istream& in) {
    const auto rule = static_cast<LenientRule>(read<int>(in));
    const auto alpha = read<double>(in);
    const auto q = read<double>(in);
    const auto draft = read<int32_t>(in);
    const auto logits = read_list<float>(in);
    const bool kept =
        lenient_accepts(rule, alpha, logits.data(), static_cast<int32_t>(logits.size()), draft, q);
    std::printf("%d", kept ? 1 : 0);
}

void gate(std::istream& in) {
    Draft draft;
    draft.confidence = read_list<float>(in);
    draft.tokens.assign(draft.confidence.size(), 0);
    DraftGate gate;
    gate.set_costs(read_row<double>(in, 16));
    std::printf("%d", gate.choose(draft).length);
}

}  // namespace

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream in(line);
        const auto what = read<std::string>(in);
        if (what == "suffix") {
            suffix(in);
        } else if (what == "source") {
            source(in);
        } else if (what == "uniform") {
            uniform(in);
        } else if (what == "sample") {
            sample(in);
        } else if (what == "lenient") {
            lenient(in);
        } else if (what == "gate") {
            gate(in);
        } else {
            std::fprintf(stderr, "unknown question: %s\n", what.c_str());
            return 1;
        }
        std::printf("\n");
    }
    return 0;
}
