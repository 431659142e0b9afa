// The graph of one pass: a chain of ops, built once for a width and run many times.
#pragma once

#include <deque>
#include <memory>

#include "ggml.h"
#include "ops.h"

namespace mtp {

class PassGraph {
  public:
    // width: tokens of a pass. rows: of these the last `rows` get hidden states and an output; 0: none.
    // screened: the output is the arg-max only, from half of the output matrix; else logits and arg-max.
    // The context must outlive the graph.
    static Status build(OpContext* context, int width, int rows, bool screened,
                        std::unique_ptr<PassGraph>* out);
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
