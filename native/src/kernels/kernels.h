// The compute kernels of one instruction set, as a table of functions.
//
// Exactness contract: every output element is computed by one call, in an order of operations that depends
// on the shapes of weight and activation only; never on the number of columns, of threads or on neighbours.
// All sets give the same bits (same order, fused multiply-adds everywhere).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layout.h"

namespace mtp {

struct MatmulArgs {
    const PackedMatrix* w;  // [n_row, n_col]
    const ActBlock* act;    // [k][n_col / 32], for quantised weights
    const float* act_f32;   // [k][n_col], for float weights
    int k;                  // columns
    float* out;             // [k][out_stride], element (c, row) at out[c * out_stride + row - row0]
    int64_t out_stride;
    bool add;          // add to what out holds (residual)
    int64_t row0 = 0;  // that out begins with
};

// Bounds on the products of k columns with the rows of a Q8_0 matrix from its high plane alone.
struct ScreenArgs {
    const PackedMatrix* w;  // with residual norms
    const ActBlock* act;    // [k][n_col / 32]
    const float* act_norm;  // [k][n_col / 32] Euclidean norms of the quantised activations, rounded up
    int k;
    float* upper;          // [k][n_group]: no row of the group has a larger product
    float* lower;          // [k] in and out: a product that some row surely reaches
    int32_t* lower_group;  // [k] in and out: the group of that row
};

constexpr int kQueryTile = 6;  // query rows that are worth taking at a time
constexpr int kMaxHeadDim = 1024;

// Positions that attention takes as one part, aligned by absolute position.
constexpr int kLongestPart = 128;
constexpr int64_t attention_part(int head_dim) { return head_dim <= 64 ? kLongestPart : kLongestPart / 2; }

// What one part of its positions gives a query row: [0] largest score, [1] sum of the weights e^(score -
// largest), 0 where the row sees no position; from kPartFront on [head_dim] values times weights.
constexpr int kPartFront = 8;

// Query rows of one KV head and what they see of its cache.
struct AttentionArgs {
    int head_dim;
    int n_query;                // query rows
    const float* const* query;  // [n_query] -> [head_dim], already scaled
    const int64_t* first;       // [n_query] first visible position
    const int64_t* last;        // [n_query] last visible position (its own)
    const uint16_t* key;        // f16, blocks of 8 positions: [capacity / 8][head_dim][8]
    const uint16_t* value;      // f16, [capacity][head_dim]
    int64_t capacity;           // slots; position p lies in slot p % capacity, capacity % 8 == 0
};

enum class Activation { silu, gelu };

struct KernelSet {
    const char* name;
    RowOrder order;  // that its matrices must have
    // out rows of groups [group0, group1)
    void (*matmul)(const MatmulArgs& args, int64_t group0, int64_t group1);
    // groups [group0, group1)
    void (*screen)(const ScreenArgs& args, int64_t group0, int64_t group1);
    // x [n] -> blocks [n / 32]
    void (*quantize)(const float* x, int64_t n, ActBlock* out);
    // y = x / sqrt(mean(x^2) + eps) * weight; y may be x
    void (*rms_norm)(const float* x, const float* weight, int64_t n, float eps, float* y);
    // gate[i] = activation(gate[i]) * up[i]
    void (*glu)(Activation activation, float* gate, const float* up, int64_t n);
    void (*add)(float* x, const float* y, int64_t n);
    void (*scale)(float* x, float factor, int64_t n);
    void (*to_f16)(const float* x, int64_t n, uint16_t* out);
    int32_t (*argmax)(const float* x, int64_t n);  // first of equals
    // part `number` of every query row; row r's goes to out + r * stride
    void (*attend_part)(const AttentionArgs& args, int64_t number, float* out, int64_t stride);
    // a row's next part into what the parts before it gave; that begins with a sum of 0
    void (*attend_join)(int head_dim, const float* part, float* state);
    // out [head_dim] = values / sum
    void (*attend_finish)(int head_dim, const float* state, float* out);
};

// Sets compiled into this build that this CPU can run, best first.
std::vector<const KernelSet*> kernel_sets_usable();
std::vector<std::string> kernel_sets_compiled();
std::vector<std::string> cpu_features();

}  // namespace mtp
