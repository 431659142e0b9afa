#include "suffix_automaton.h"

#include <algorithm>

namespace mtp {
namespace {

uint64_t edge_key(int32_t state, int32_t token) {
    return (static_cast<uint64_t>(static_cast<uint32_t>(state)) << 32) | static_cast<uint32_t>(token);
}

}  // namespace

void SuffixAutomaton::clear() {
    tokens_.clear();
    edges_.clear();
    states_.assign(1, State{});
    out_.assign(1, {});
    last_ = 0;
    match_ = {};
}

int32_t SuffixAutomaton::next(int32_t state, int32_t token) const {
    const auto found = edges_.find(edge_key(state, token));
    return found == edges_.end() ? -1 : found->second;
}

void SuffixAutomaton::set_next(int32_t state, int32_t token, int32_t to) {
    if (edges_.insert_or_assign(edge_key(state, token), to).second)
        out_[static_cast<size_t>(state)].push_back(token);
}

SuffixAutomaton::Match SuffixAutomaton::advanced(Match match, int32_t token) const {
    while (match.state != 0 && next(match.state, token) < 0) {
        match.state = states_[static_cast<size_t>(match.state)].link;
        match.length = states_[static_cast<size_t>(match.state)].length;
    }
    const int32_t to = next(match.state, token);
    return to < 0 ? Match{0, 0} : Match{to, match.length + 1};
}

void SuffixAutomaton::append(int32_t token) {
    match_ = advanced(match_, token);  // before `token` is part of it: so what it finds ended earlier
    tokens_.push_back(token);
    const auto current = static_cast<int32_t>(states_.size());
    states_.push_back({-1, static_cast<int64_t>(tokens_.size()), static_cast<int64_t>(tokens_.size())});
    out_.emplace_back();
    int32_t p = last_;
    while (p >= 0 && next(p, token) < 0) {
        set_next(p, token, current);
        p = states_[static_cast<size_t>(p)].link;
    }
    if (p < 0) {
        states_[static_cast<size_t>(current)].link = 0;
    } else {
        const int32_t q = next(p, token);
        if (states_[static_cast<size_t>(p)].length + 1 == states_[static_cast<size_t>(q)].length) {
            states_[static_cast<size_t>(current)].link = q;
        } else {
            const auto clone = static_cast<int32_t>(states_.size());
            states_.push_back(states_[static_cast<size_t>(q)]);
            states_.back().length = states_[static_cast<size_t>(p)].length + 1;
            out_.push_back(out_[static_cast<size_t>(q)]);
            for (const int32_t t : out_.back()) edges_[edge_key(clone, t)] = next(q, t);
            while (p >= 0 && next(p, token) == q) {
                edges_[edge_key(p, token)] = clone;
                p = states_[static_cast<size_t>(p)].link;
            }
            states_[static_cast<size_t>(q)].link = clone;
            states_[static_cast<size_t>(current)].link = clone;
            // a match of at most the clone's length now belongs to the clone
            if (match_.state == q && match_.length <= states_[static_cast<size_t>(clone)].length)
                match_.state = clone;
        }
    }
    last_ = current;
}

}  // namespace mtp
