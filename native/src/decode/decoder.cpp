#include "decoder.h"

#include <algorithm>
#include <chrono>

namespace mtp {
namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int32_t Decoder::choose(int row) {
    if (options_.sampling.plain_greedy()) return engine_->best(row);
    const int32_t n = engine_->model().params.n_vocab;
    return sampler_.choose(engine_->logits_row(row), n, static_cast<int64_t>(history_.size()), history_);
}

// Takes a chosen token into the answer, unless it ends it.
bool Decoder::commit(int32_t token, Source source, Step* out) {
    if (engine_->tokenizer().is_end(token)) {
        finish_ = Finish::end_token;
        return false;
    }
    history_.push_back(token);
    out->tokens.push_back(token);
    out->sources.push_back(source);
    if (options_.draft_copy) copy_.append(token);
    if (++generated_ >= options_.max_tokens) finish_ = Finish::token_limit;
    return finish_ == Finish::none;
}

Status Decoder::start(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source,
                      const DecodeOptions& options, Step* first) {
    const int row = engine_->newest_row();
    if (row < 0)
        return Status::error(Code::bad_argument,
                             "start must follow the pass that took in the end of the prompt");
    options_ = options;
    sampler_ = Sampler(options.sampling);
    history_ = prompt;
    generated_ = 0;
    finish_ = Finish::none;
    *first = Step{};
    const int32_t n_vocab = engine_->model().params.n_vocab;
    const auto is_token = [n_vocab](int32_t id) { return id >= 0 && id < n_vocab; };
    // a source of other ids can't be copied
    const bool sound = std::all_of(source.begin(), source.end(), is_token);
    if (options.draft_copy) copy_.start(prompt, sound ? source : std::vector<int32_t>());
    if (options.max_tokens <= 0) {
        finish_ = Finish::token_limit;
    } else {
        commit(choose(row), Source::backbone, first);
    }
    if (finish_ == Finish::none && engine_->length() >= engine_->n_ctx()) finish_ = Finish::context_full;
    first->finish = finish_;
    return {};
}

// Drafts that can be tested: what context and token limit leave beside the pending token.
int Decoder::room() const {
    const int64_t context = engine_->n_ctx() - engine_->length() - 1;
    const int64_t limit = options_.max_tokens - generated_ - 1;
    const int64_t most = options_.draft_fixed >= 0 ? options_.draft_fixed : options_.draft_max;
    return static_cast<int>(std::max<int64_t>(0, std::min({context, limit, most, int64_t{kMaxDraft}})));
}

// Fills draft_ and says how many of its tokens to test.
int Decoder::propose(Draft* draft) {
    draft->clear();
    const int room = this->room();
    if (room == 0) return 0;
    if (foreign_) {
        for (const int32_t token : foreign_(history_)) {
            // an id that is no token can't be right, and nothing after it can be
            if (static_cast<int>(draft->tokens.size()) >= room || token < 0 ||
                token >= engine_->model().params.n_vocab)
                break;
            draft->tokens.push_back(token);
            draft->confidence.push_back(1);
        }
        draft->source = Source::head;
        return static_cast<int>(draft->tokens.size());
    }
    if (!options_.draft_copy) return 0;
    copy_.propose(room, draft, &other_);
    if (options_.draft_fixed >= 0 || !gate_.ready()) {
        const auto first = [](const Draft& d) { return d.confidence.empty() ? 0.0f : d.confidence[0]; };
        if (first(other_) > first(*draft)) std::swap(*draft, other_);
        return static_cast<int>(draft->tokens.size());
    }
    DraftGate::Choice choice = gate_.choose(*draft);
    const DraftGate::Choice other = gate_.choose(other_);
    if (other.rate > choice.rate) {
        std::swap(*draft, other_);
        choice = other;
    }
    return choice.length;
}

Status Decoder::step(Step* out) {
    *out = Step{};
    if (finish_ != Finish::none) {
        out->finish = finish_;
        return {};
    }
    if (engine_->length() + 1 != static_cast<int64_t>(history_.size())) {
        return Status::error(Code::bad_argument, "step must follow start or step, with nothing in between");
    }
    const double started = now();
    const int g = propose(&draft_);
    feed_.assign(1, history_.back());
    feed_.insert(feed_.end(), draft_.tokens.begin(), draft_.tokens.begin() + g);
    const int64_t length = engine_->length();
    const bool wants_logits = !options_.sampling.plain_greedy() || options_.lenient != LenientRule::off;
    next_.resize(feed_.size());
    if (Status s = engine_->decode(feed_.data(), g + 1, next_.data(), wants_logits); !s.ok()) return s;

    // row d stands after d drafts that were right
    int kept = 0;
    for (int d = 0; d <= g; d++) {
        int32_t token = choose(d);
        bool right = d < g && token == draft_.tokens[static_cast<size_t>(d)];
        if (d < g && !right && options_.lenient != LenientRule::off) {
            const int32_t draft = draft_.tokens[static_cast<size_t>(d)];
            const float q = draft_.confidence[static_cast<size_t>(d)];
            if (lenient_accepts(options_.lenient, options_.lenient_alpha, engine_->logits_row(d),
                                engine_->model().params.n_vocab, draft, static_cast<double>(q))) {
                token = draft;
                right = true;
                out->lenient++;
            }
        }
        if (d < g) {
            out->drafted++;
            if (right) out->accepted++;
            if (!draft_.cell.empty()) copy_.learn(draft_.cell[static_cast<size_t>(d)], right);
        }
        const bool goes_on = commit(token, right ? draft_.source : Source::backbone, out);
        if (right && finish_ != Finish::end_token) kept++;
        if (!goes_on || !right) break;
    }
    if (Status s = engine_->rollback(length + 1 + kept); !s.ok()) return s;
    if (out->drafted > 0) copy_.learn_outcome(out->drafted, out->accepted);
    if (g > 0) out->draft_source = draft_.source;
    if (finish_ == Finish::none && engine_->length() >= engine_->n_ctx()) finish_ = Finish::context_full;
    out->finish = finish_;
    out->seconds = now() - started;
    gate_.learn(g + 1, out->seconds);
    return {};
}

Decoder::Oracle Decoder::oracle(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source,
                                const std::vector<int32_t>& answer) const {
    Oracle out;
    DraftCopy copy;
    copy.start(prompt, source);
    const std::vector<double>& cost = gate_.costs();
    Draft drafts[2];
    // the first token needs no pass; each pass then gives its right drafts and one token more
    for (size_t at = 0; at < answer.size();) {
        copy.append(answer[at++]);
        if (at >= answer.size()) break;
        copy.propose(kMaxDraft, &drafts[0], &drafts[1]);
        size_t right = 0;
        for (const Draft& draft : drafts) {
            size_t n = 0;
            while (n < draft.tokens.size() && at + n + 1 < answer.size() && draft.tokens[n] == answer[at + n])
                n++;
            right = std::max(right, n);
        }
        size_t best = 0;
        for (size_t g = 1; g <= right && g < cost.size(); g++) {
            if (static_cast<double>(g + 1) / cost[g] > static_cast<double>(best + 1) / cost[best]) best = g;
        }
        out.passes++;
        if (!cost.empty()) out.seconds += cost[best];
        for (size_t i = 0; i < best; i++) copy.append(answer[at++]);
    }
    return out;
}

Status Decoder::measure_costs(std::vector<double>* out) {
    static constexpr int widths[] = {1, 2, 3, 4, 5, 6, 8, 12, 16};
    const int64_t length = engine_->length();
    std::vector<int32_t> tokens(kMaxDecode, 0), next(kMaxDecode);
    std::vector<double> seen(kMaxDecode, 0.0);
    const double started = now();
    for (int round = 0; round < 5 && (round < 2 || now() - started < 0.15); round++) {
        for (const int k : widths) {
            if (length + k > engine_->n_ctx()) continue;
            const double begin = now();
            if (Status s = engine_->decode(tokens.data(), k, next.data()); !s.ok()) return s;
            const double seconds = now() - begin;
            if (Status s = engine_->rollback(length); !s.ok()) return s;
            double& best = seen[static_cast<size_t>(k - 1)];
            if (round == 0) continue;  // graphs are built in the first round
            best = best == 0 ? seconds : std::min(best, seconds);
        }
    }
    // what was not measured lies on a straight line between its neighbours
    int last = 0;
    for (int k = 1; k < kMaxDecode; k++) {
        if (seen[static_cast<size_t>(k)] == 0) continue;
        for (int i = last + 1; i < k; i++) {
            const double part = static_cast<double>(i - last) / (k - last);
            seen[static_cast<size_t>(i)] =
                seen[static_cast<size_t>(last)] * (1 - part) + seen[static_cast<size_t>(k)] * part;
        }
        last = k;
    }
    for (int k = last + 1; k < kMaxDecode; k++) {
        seen[static_cast<size_t>(k)] = seen[static_cast<size_t>(last)] * (k + 1) / (last + 1);
    }
    for (int k = 1; k < kMaxDecode; k++)
        seen[static_cast<size_t>(k)] =
            std::max(seen[static_cast<size_t>(k)], seen[static_cast<size_t>(k - 1)]);
    *out = seen;
    return {};
}

}  // namespace mtp
