// The decode loop: propose, gate, verify, commit. One step is one backbone pass.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../draft/draft_copy.h"
#include "../draft/draft_gate.h"
#include "../draft/draft_head.h"
#include "../draft/draft_outlook.h"
#include "engine.h"
#include "lenient.h"
#include "sampler.h"

namespace mtp {

enum class Finish : uint8_t { none, end_token, token_limit, context_full };

struct DecodeOptions {
    SamplingOptions sampling;
    bool draft_copy = false;
    bool draft_head = false;  // if the engine has one
    int draft_max = kMaxDraft;
    int draft_fixed = -1;  // >= 0: always this many tokens, where there are so many; no gate
    LenientRule lenient = LenientRule::off;
    double lenient_alpha = 0;
    int64_t max_tokens = 0;
};

// What one pass gave.
struct Step {
    std::vector<int32_t> tokens;  // committed, in order; never an end token
    std::vector<Source> sources;  // of each
    int drafted = 0;              // tested drafts, counted up to the end of the answer
    int accepted = 0;
    int lenient = 0;                    // of the accepted, those that the backbone would not have chosen
    std::vector<Source> draft_sources;  // of the tested drafts
    int drafted_asked = 0;              // tokens of the pass beside the pending one
    int head_steps = 0;                 // drafted by the head, tested or not
    double head_seconds = 0;
    Finish finish = Finish::none;
    double seconds = 0;
};

// A drafter from outside, for tests: gets the committed tokens, gives any ids it likes.
using ForeignDrafter = std::function<std::vector<int32_t>(const std::vector<int32_t>&)>;

class Decoder {
  public:
    explicit Decoder(Engine* engine) : engine_(engine) {}

    // The prompt is in the cache and its last row of logits is fresh. Commits the first token, if it is one.
    Status start(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source,
                 const DecodeOptions& options, Step* first);
    Status step(Step* out);
    void set_foreign(ForeignDrafter drafter) { foreign_ = std::move(drafter); }

    // What a gate that knew the answer would need with these drafters: passes, and seconds by the cost curve.
    struct Oracle {
        int64_t passes = 0;
        double seconds = 0;
    };
    Oracle oracle(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source,
                  const std::vector<int32_t>& answer);

    DraftGate& gate() { return gate_; }

  private:
    bool commit(int32_t token, Source source, Step* out);  // false: the answer is over
    Status propose(Step* out, int* length);
    int propose_foreign(int room);
    int propose_copy(int room, DraftGate::Choice* choice);
    Status propose_head(int room, Step* out);
    bool wants_head(const DraftGate::Choice& copied, int room);
    void hear_both();
    Status look_ahead();
    double hoped_rate(int room) const;
    const Draft* longer_copy() const;
    bool copy_goes_on() const;
    bool tracks() const { return options_.draft_copy || options_.draft_head; }
    void learn(const Step& out);
    void learn_draft(const Draft& draft);
    int room() const;
    Engine::Want wanted() const;
    CandidateWish wish() const;
    int32_t choose(int row);

    Engine* engine_;
    DecodeOptions options_;
    Sampler sampler_{SamplingOptions{}};
    DraftCopy copy_;
    DraftHead head_;
    DraftOutlook expect_;
    DraftGate gate_;
    ForeignDrafter foreign_;
    Draft draft_, other_, chain_;
    int state_row_ = 0;        // hidden row of the last pass that belongs to the newest cached token
    double rate_without_ = 0;  // tokens a second that the pass was expected to give without the head
    Guess guess_;              // what copying says next
    Outlook outlook_;          // of the pass at hand, by the head's net
    bool has_outlook_ = false;
    std::vector<int32_t> truth_;    // what the backbone chose in the last pass, in order
    std::vector<int32_t> history_;  // prompt and answer
    std::vector<int32_t> feed_, next_;
    std::vector<Candidate> found_;
    int64_t generated_ = 0;
    Finish finish_ = Finish::none;
};

}  // namespace mtp
