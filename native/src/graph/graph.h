// The graph of one pass: a chain of ops, built once for a width and run many times.
#pragma once

#include <deque>
#include <memory>
#include <tuple>

#include "ggml.h"
#include "ops.h"

namespace mtp {

enum class PassOutput : uint8_t {
    logits,      // and their arg-max
    screened,    // the arg-max only, from half of the output matrix
    candidates,  // the tokens of OpContext::wish, likewise
    hidden,      // hidden states only
};

struct PassShape {
    int width = 1;  // tokens
    int rows = 1;   // of these the last `rows` get hidden states and an output; 0: none
    PassOutput output = PassOutput::logits;
    bool capture = false;  // fills OpContext::capture
    bool operator<(const PassShape& o) const {
        return std::tie(width, rows, output, capture) < std::tie(o.width, o.rows, o.output, o.capture);
    }
};

class PassGraph {
  public:
    // The context must outlive the graph.
    static Status build(OpContext* context, const PassShape& shape, std::unique_ptr<PassGraph>* out);
    ~PassGraph();
    PassGraph(const PassGraph&) = delete;
    PassGraph& operator=(const PassGraph&) = delete;

    ggml_cgraph* graph() const { return graph_; }
    void reset();  // before each run: nothing is handed out yet

  private:
    PassGraph() = default;
    friend class GraphBuilder;
    ggml_context* ggml_ = nullptr;
    ggml_cgraph* graph_ = nullptr;
    std::deque<Op> ops_;  // addresses stay: the nodes point at them
};

}  // namespace mtp
