#include "decoder.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace mtp {
namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Tokens that a draft is expected to give if all of it is tested.
double expected_tokens(const Draft& draft) {
    double survival = 1, expected = 0;
    for (const float confidence : draft.confidence) {
        survival *= static_cast<double>(confidence);
        expected += survival;
    }
    return expected;
}

}  // namespace

int32_t Decoder::choose(int row) {
    if (options_.sampling.plain_greedy()) return engine_->best(row);
    if (!engine_->has_logits()) {
        engine_->candidates(row, &found_);
        return sampler_.choose_among(&found_, static_cast<int64_t>(history_.size()));
    }
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
    if (tracks()) copy_.append(token);
    if (++generated_ >= options_.max_tokens) finish_ = Finish::token_limit;
    return finish_ == Finish::none;
}

Status Decoder::start(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source,
                      const DecodeOptions& options, Step* first) {
    const int row = engine_->newest_row();
    if (row < 0)
        return Status::error(Code::bad_argument,
                             "start must follow the pass that took in the end of the prompt");
    if (!options.sampling.plain_greedy() && !engine_->has_logits())
        return Status::error(Code::bad_argument,
                             "sampling needs the logits of a prefill: end the prompt with one");
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
    options_.draft_head = options.draft_head && engine_->head() != nullptr;
    if (tracks()) copy_.start(prompt, sound ? source : std::vector<int32_t>());
    if (options_.draft_head) engine_->head_step()->set_vocabulary(prompt);
    state_row_ = row;
    if (options.max_tokens <= 0) {
        finish_ = Finish::token_limit;
    } else {
        commit(choose(row), Source::backbone, first);
    }
    if (finish_ == Finish::none && engine_->length() >= engine_->n_ctx()) finish_ = Finish::context_full;
    first->finish = finish_;
    return {};
}

// Penalties and lenient rules look at all logits; draws between few tokens, and the arg-max, do not.
Engine::Want Decoder::wanted() const {
    if (options_.lenient != LenientRule::off) return Engine::Want::logits;
    if (options_.sampling.plain_greedy()) return Engine::Want::best;
    return sampler_.wants_candidates() ? Engine::Want::candidates : Engine::Want::logits;
}

CandidateWish Decoder::wish() const {
    CandidateWish wish;
    const SamplingOptions& s = options_.sampling;
    wish.top_k = std::max(0, s.top_k);
    // top-p goes by all that top-k left
    if (s.min_p > 0 && s.top_p >= 1) wish.log_min_p = std::log(s.min_p);
    return wish;
}

// Drafts that can be tested: what context and token limit leave beside the pending token.
int Decoder::room() const {
    const int64_t context = engine_->n_ctx() - engine_->length() - 1;
    const int64_t limit = options_.max_tokens - generated_ - 1;
    const int64_t most = options_.draft_fixed >= 0 ? options_.draft_fixed : options_.draft_max;
    return static_cast<int>(std::max<int64_t>(0, std::min({context, limit, most, int64_t{kMaxDraft}})));
}

int Decoder::propose_foreign(int room) {
    for (const int32_t token : foreign_(history_)) {
        // an id that is no token can't be right, and nothing after it can be
        if (static_cast<int>(draft_.tokens.size()) >= room || token < 0 ||
            token >= engine_->model().params.n_vocab)
            break;
        draft_.tokens.push_back(token);
        draft_.source.push_back(Source::head);
        draft_.confidence.push_back(1);
    }
    return static_cast<int>(draft_.tokens.size());
}

// draft_: the better of the two copies, and how much of it to test.
int Decoder::propose_copy(int room, DraftGate::Choice* choice) {
    copy_.propose(room, &draft_, &other_);
    for (Draft* draft : {&draft_, &other_}) {
        if (has_outlook_ && !draft->tokens.empty() && draft->tokens[0] == guess_.token)
            draft->confidence[0] = 0.5f * (draft->confidence[0] + expect_.copy(outlook_.copy));
    }
    if (!gate_.ready() || options_.draft_fixed >= 0) {
        if (expected_tokens(other_) > expected_tokens(draft_)) std::swap(draft_, other_);
        return static_cast<int>(draft_.tokens.size());
    }
    *choice = gate_.choose(draft_);
    const DraftGate::Choice other = gate_.choose(other_);
    if (other.rate > choice->rate) {
        std::swap(draft_, other_);
        *choice = other;
    }
    return choice->length;
}

// outlook_: what the head's net, if it has one, expects of this pass.
Status Decoder::look_ahead() {
    if (!options_.draft_head || !options_.draft_copy) return {};
    CopyGuess ahead = copy_.guess();
    ahead.reset();
    guess_ = ahead.guess();
    // a source that the answer follows is its own best witness
    has_outlook_ = guess_.kind < kFirstSourceKind && engine_->head_step()->has_outlook();
    if (!has_outlook_) return {};
    if (Status s = engine_->head_begin(state_row_); !s.ok()) return s;
    outlook_ = engine_->head_step()->outlook(history_.back(), guess_);
    return {};
}

// Tokens a second if the head is asked for as many tokens as pays best by what is known before.
double Decoder::hoped_rate(int room) const {
    constexpr double goes_on = 0.7;  // a draft's next token is right if the last one was
    double survival = static_cast<double>(expect_.head(outlook_.head, guess_.kind > 0)), expected = 1,
           best = 0;
    const int most = std::min(room, static_cast<int>(gate_.costs().size()) - 1);
    for (int d = 1; d <= most; d++, survival *= goes_on) {
        expected += survival;
        best = std::max(best, expected / (gate_.cost(d + 1) + d * gate_.step_cost()));
    }
    return best;
}

// A copy that is nearly sure needs no second opinion.
bool Decoder::wants_head(const DraftGate::Choice& copied, int room) {
    if (!options_.draft_head) return false;
    if (options_.draft_fixed >= 0 || !gate_.ready()) return true;
    if (has_outlook_) return hoped_rate(room) > copied.rate;
    // where the answer follows a source, the head mostly says the same, unless that is unlikely
    constexpr float sure = 0.93f, likely = 0.25f;
    const float enough = guess_.kind >= kFirstSourceKind ? likely : sure;
    if (copied.length > 0 && draft_.confidence[0] >= enough) return false;
    return head_.worth_asking();
}

// A copy that begins with chain_ and is longer.
const Draft* Decoder::longer_copy() const {
    const size_t n = chain_.tokens.size();
    for (const Draft* copied : {&draft_, &other_}) {
        if (options_.draft_copy && copied->tokens.size() > n &&
            std::equal(chain_.tokens.begin(), chain_.tokens.end(), copied->tokens.begin()))
            return copied;
    }
    return nullptr;
}

// Once the head has said the same, a copy that is likely goes on for nothing.
bool Decoder::copy_goes_on() const {
    constexpr float likely = 0.7f;
    const Draft* copied = longer_copy();
    return copied != nullptr && copied->confidence[chain_.tokens.size()] >= likely;
}

// The head's first token and a copy's say something of each other.
void Decoder::hear_both() {
    float& headed = chain_.confidence[0];
    const float alone = headed;
    for (Draft* copied : {&draft_, &other_}) {
        if (copied->tokens.empty()) continue;
        float& sure = copied->confidence[0];
        const bool agrees = copied->tokens[0] == chain_.tokens[0];
        sure = agrees ? DraftHead::agreed(alone, sure) : DraftHead::denied(sure);
        if (agrees) headed = std::max(headed, sure);
    }
}

// chain_: what the head drafts, for as long as it may pay; with the rest of a copy that says the same.
Status Decoder::propose_head(int room, Step* out) {
    chain_.clear();
    if (Status s = engine_->head_begin(state_row_); !s.ok()) return s;
    CopyGuess ahead = copy_.guess();
    ahead.reset();
    int32_t token = history_.back();
    const double started = now();
    for (int d = 0; d < room; d++) {
        const Guess guess = ahead.guess();
        HeadDraft drafted;
        const double began = now();
        if (Status s = engine_->head_draft(token, guess, &drafted); !s.ok()) return s;
        gate_.learn_step(now() - began);
        out->head_steps++;
        token = drafted.token;
        const int kind = DraftHead::kind(guess, token);
        chain_.push(token, Source::head, head_.confidence(drafted.probability, d, kind), kind);
        if (d == 0) hear_both();
        if (engine_->tokenizer().is_end(token)) break;
        const bool counts = options_.draft_fixed < 0 && gate_.ready();
        if (counts && copy_goes_on()) break;
        if (counts && !gate_.goes_on(chain_, out->head_steps * gate_.step_cost())) break;
        ahead.append(token);
    }
    out->head_seconds = now() - started;
    if (const Draft* copied = longer_copy()) {
        for (size_t d = chain_.tokens.size(); d < copied->tokens.size(); d++)
            chain_.push(copied->tokens[d], Source::copy, copied->confidence[d], copied->cell[d]);
    }
    return {};
}

// Fills draft_ and says how many of its tokens to test.
Status Decoder::propose(Step* out, int* length) {
    draft_.clear();
    other_.clear();
    chain_.clear();
    guess_ = {};
    has_outlook_ = false;
    *length = 0;
    const int room = this->room();
    if (room == 0) return {};
    if (foreign_) {
        *length = propose_foreign(room);
        return {};
    }
    if (Status s = look_ahead(); !s.ok()) return s;
    DraftGate::Choice choice;
    if (gate_.ready()) choice = gate_.choose(draft_);
    if (options_.draft_copy) *length = propose_copy(room, &choice);
    if (!wants_head(choice, room)) return {};
    rate_without_ = choice.rate;
    if (Status s = propose_head(room, out); !s.ok()) return s;
    if (options_.draft_fixed >= 0 || !gate_.ready()) {
        if (expected_tokens(draft_) <= expected_tokens(chain_)) std::swap(draft_, chain_);
        *length = static_cast<int>(draft_.tokens.size());
        return {};
    }
    const double spent = out->head_steps * gate_.step_cost();
    const DraftGate::Choice headed = gate_.choose(chain_, spent);
    if (headed.rate >= gate_.choose(draft_, spent).rate) {
        std::swap(draft_, chain_);
        *length = headed.length;
    }
    return {};
}

// What the backbone chose says of every draft how it would have fared, tested or not.
void Decoder::learn_draft(const Draft& draft) {
    for (size_t d = 0; d < draft.cell.size() && d < truth_.size(); d++) {
        const bool right = draft.tokens[d] == truth_[d];
        if (draft.source[d] == Source::head) {
            head_.learn(draft.cell[d], draft.confidence[d], right);
        } else if (draft.source[0] ==
                   Source::copy) {  // the copy behind a head's tokens is a draft of its own, too
            copy_.learn(draft.cell[d], right);
        }
        if (!right) break;
    }
}

void Decoder::learn(const Step& out) {
    for (const Draft* draft : {&draft_, &other_, &chain_}) learn_draft(*draft);
    if (has_outlook_) {
        const bool guessed = guess_.kind > 0;
        if (guessed) expect_.learn_copy(outlook_.copy, guess_.token == truth_[0]);
        for (const Draft* draft : {&draft_, &chain_}) {
            const bool headed = !draft->tokens.empty() && draft->source[0] == Source::head;
            if (headed) expect_.learn_head(outlook_.head, guessed, draft->tokens[0] == truth_[0]);
        }
        if (out.head_steps == 0) expect_.forget_head(guessed);
    }
    if (out.drafted > 0 && !foreign_) copy_.learn_outcome(out.drafted, out.accepted);
    if (out.head_steps > 0 && gate_.ready() && !has_outlook_) {
        // by the curve, so that a machine that is busy right now does not count against the head
        const double seconds = gate_.cost(out.drafted_asked + 1) + out.head_steps * gate_.step_cost();
        head_.learn_gain(static_cast<double>(out.accepted + 1) - rate_without_ * seconds);
    }
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
    int g = 0;
    gate_.set_depth(engine_->attended(engine_->length()));
    if (Status s = propose(out, &g); !s.ok()) return s;
    feed_.assign(1, history_.back());
    feed_.insert(feed_.end(), draft_.tokens.begin(), draft_.tokens.begin() + g);
    out->drafted_asked = g;
    const int64_t length = engine_->length();
    next_.resize(feed_.size());
    const double verified = now();
    if (Status s = engine_->decode(feed_.data(), g + 1, next_.data(), wanted(), wish()); !s.ok()) return s;
    const double verify_s = now() - verified;

    // row d stands after d drafts that were right
    int kept = 0;
    truth_.clear();
    for (int d = 0; d <= g; d++) {
        int32_t token = choose(d);
        bool right = d < g && token == draft_.tokens[static_cast<size_t>(d)];
        const Source source = d < g ? draft_.source[static_cast<size_t>(d)] : Source::backbone;
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
        truth_.push_back(token);
        if (d < g) {
            out->drafted++;
            out->draft_sources.push_back(source);
            if (right) out->accepted++;
        }
        const bool goes_on = commit(token, right ? source : Source::backbone, out);
        if (right && finish_ != Finish::end_token) kept++;
        if (!goes_on || !right) break;
    }
    if (Status s = engine_->rollback(length + 1 + kept); !s.ok()) return s;
    state_row_ = kept;
    if (finish_ == Finish::none && engine_->length() >= engine_->n_ctx()) finish_ = Finish::context_full;
    out->finish = finish_;
    out->seconds = now() - started;
    learn(*out);
    gate_.learn(g + 1, verify_s);
    return {};
}

Decoder::Oracle Decoder::oracle(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source,
                                const std::vector<int32_t>& answer) {
    Oracle out;
    gate_.set_depth(engine_->attended(static_cast<int64_t>(prompt.size() + answer.size() / 2)));
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

}  // namespace mtp
