#include "copy_guess.h"

namespace mtp {
namespace {

// 0, 1, 2, 3, 4-7, 8-15, 16-31, 32 and more tokens that agreed
int length_class(int64_t n) {
    if (n < 4) return static_cast<int>(n);
    return n < 8 ? 4 : n < 16 ? 5 : n < 32 ? 6 : 7;
}

}  // namespace

void CopyGuess::reset() {
    match_ = suffix_->match();
    if (source_->active()) ahead_ = *source_;
}

void CopyGuess::append(int32_t token) {
    match_ = suffix_->advanced(match_, token);
    if (source_->active()) ahead_.append(token);
}

Guess CopyGuess::guess() const {
    const bool in_source =
        source_->active() && ahead_.position() < static_cast<int64_t>(ahead_.source().size());
    // behind an edit, a long match knows better where to go on
    if (in_source && (ahead_.run() > 0 || match_.length < 3)) {
        return {ahead_.source()[static_cast<size_t>(ahead_.position())], 8 + length_class(ahead_.run())};
    }
    const int64_t at = suffix_->end(match_);
    if (match_.length == 0 || at >= static_cast<int64_t>(suffix_->tokens().size())) return {};
    return {suffix_->tokens()[static_cast<size_t>(at)], length_class(match_.length)};
}

std::vector<Guess> copy_guesses(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source,
                                const std::vector<int32_t>& answer) {
    SuffixAutomaton suffix;
    SourceAlign align;
    CopyGuess guess(suffix, align);
    std::vector<Guess> out;
    const auto take = [&](int32_t token) {
        guess.reset();
        out.push_back(guess.guess());
        suffix.append(token);
        align.append(token);
    };
    for (const int32_t token : prompt) take(token);
    align.start(source);
    for (const int32_t token : answer) take(token);
    return out;
}

}  // namespace mtp
