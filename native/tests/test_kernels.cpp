// Every kernel set that this CPU can run against the scalar one, bit by bit; k columns against one at a time.
//
//   test_kernels            all of it; the exit code is 1 when something differs
//   test_kernels --sets     only the names of the sets
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "random_blocks.h"

namespace {

using namespace mtp;

int failures = 0, checks = 0;

bool same(const void* a, const void* b, size_t bytes) { return std::memcmp(a, b, bytes) == 0; }

void check(bool ok, const std::string& what) {
    checks++;
    if (ok) return;
    if (++failures <= 20) std::printf("DIFFERS: %s\n", what.c_str());
}

template <class T>
void check_equal(const std::vector<T>& got, const std::vector<T>& want, const std::string& what) {
    check(got.size() == want.size() && same(got.data(), want.data(), want.size() * sizeof(T)), what);
}

// A matrix packed for one set.
struct Packed {
    PackedMatrix m;
    std::vector<uint8_t> bytes;
};

Packed pack(ggml_type type, int64_t n_row, int64_t n_col, RowOrder order, const std::vector<uint8_t>& rows,
            bool residual) {
    Packed p;
    check(packed_shape(type, n_col, n_row, order, &p.m).ok(), "packed_shape");
    p.m.has_residual = residual;
    p.bytes.resize(static_cast<size_t>(p.m.total_bytes()) + 64);
    uint8_t* to = p.bytes.data();
    pack_groups(p.m, to, type, rows.data(), 0, p.m.n_group);
    p.m.data = to;
    if (p.m.format == Format::q8_0) p.m.low = to + p.m.n_group * p.m.group_bytes;
    if (residual) p.m.residual = p.m.low + p.m.n_group * p.m.low_group_bytes();
    return p;
}

struct Acts {
    std::vector<float> f32;
    std::vector<ActBlock> blocks;
};

Acts random_acts(const KernelSet& set, int k, int64_t n_col, bool extreme, Random& random) {
    Acts a;
    for (int64_t i = 0; i < k * n_col; i++)
        a.f32.push_back(extreme ? 1.0f + static_cast<float>(random.below(3)) / 128 : random.normal());
    a.blocks.resize(static_cast<size_t>(k * n_col / kBlockCols));
    if (n_col % kBlockCols == 0) set.quantize(a.f32.data(), k * n_col, a.blocks.data());
    return a;
}

std::vector<float> product(const KernelSet& set, const Packed& w, const Acts& acts, int first, int k,
                           bool add) {
    const int64_t n_row = w.m.n_row, stride = n_row + 3;
    std::vector<float> out(static_cast<size_t>(k * stride), 0.25f);
    MatmulArgs args{&w.m, nullptr, acts.f32.data() + first * w.m.n_col, k, out.data(), stride, add};
    if (!format_is_float(w.m.format)) args.act = acts.blocks.data() + first * w.m.n_block();
    // in two shares, as two threads would
    const int64_t cut = w.m.n_group / 3;
    set.matmul(args, cut, w.m.n_group);
    set.matmul(args, 0, cut);
    return out;
}

void test_matmul(const KernelSet& set, const KernelSet& scalar, ggml_type type, int64_t n_row, int64_t n_col,
                 bool extreme) {
    Random random(static_cast<uint64_t>(type) * 7 + static_cast<uint64_t>(n_row + n_col) + extreme);
    const auto rows = random_rows(type, n_row, n_col, -4, extreme, random);
    const Packed own = pack(type, n_row, n_col, set.order, rows, false);
    const Packed lanes = pack(type, n_row, n_col, scalar.order, rows, false);
    const std::string where = std::string(set.name) + " " + ggml_type_name(type) + " " +
                              std::to_string(n_row) + "x" + std::to_string(n_col) +
                              (extreme ? " extreme" : "");
    std::vector<float> a(static_cast<size_t>(n_col)), b(a);
    for (int64_t row = 0; row < n_row; row++) {
        unpack_row(own.m, row, a.data());
        unpack_row(lanes.m, row, b.data());
        check_equal(a, b, where + ": row " + std::to_string(row) + " unpacked");
        const auto* traits = ggml_get_type_traits(type);
        if (!traits->to_float) continue;
        traits->to_float(rows.data() + static_cast<size_t>(row) * ggml_row_size(type, n_col), b.data(),
                         n_col);
        bool near = true;
        for (size_t i = 0; i < a.size(); i++)
            near = near && std::fabs(a[i] - b[i]) <= 1e-4f * std::fabs(b[i]) + 1e-5f;
        check(near, where + ": row " + std::to_string(row) + " is not what the file holds");
    }
    constexpr int most = 200;
    const Acts acts = random_acts(scalar, most, n_col, extreme, random);
    Acts own_acts = acts;
    // as the set's own products read them
    if (n_col % kBlockCols == 0) set.quantize(acts.f32.data(), most * n_col, own_acts.blocks.data());
    for (const bool add : {false, true}) {
        const std::vector<float> want = product(scalar, lanes, acts, 0, most, add);
        const int64_t stride = n_row + 3;
        for (const int k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 39, most}) {
            if (add && k > 3 && k != 16) continue;
            const int first = k <= 16 ? k : 0;  // other neighbours each time
            const std::vector<float> got = product(set, own, own_acts, first, k, add);
            check(same(got.data(), want.data() + first * stride, static_cast<size_t>(k * stride) * 4),
                  where + ": k = " + std::to_string(k) + (add ? " added" : ""));
        }
    }
}

void test_screen(const KernelSet& set, const KernelSet& scalar) {
    Random random(11);
    constexpr int64_t n_row = 8 * 9 + 5, n_col = 160;
    constexpr int k = 16;
    const auto rows = random_rows(GGML_TYPE_Q8_0, n_row, n_col, -4, false, random);
    const Packed own = pack(GGML_TYPE_Q8_0, n_row, n_col, set.order, rows, true);
    const Packed lanes = pack(GGML_TYPE_Q8_0, n_row, n_col, scalar.order, rows, true);
    const Acts acts = random_acts(scalar, k, n_col, false, random);
    std::vector<float> norms;
    for (const ActBlock& block : acts.blocks) {
        float sum = 0;
        for (const int8_t q : block.q) sum += static_cast<float>(q * q);
        norms.push_back(std::sqrt(sum) * block.d);
    }
    for (int used = 1; used <= k; used++) {
        const auto run = [&](const KernelSet& s, const Packed& w) {
            std::vector<float> out(static_cast<size_t>(used * w.m.n_group + 2 * used), -INFINITY);
            float* lower = out.data() + used * w.m.n_group;
            std::vector<int32_t> group(static_cast<size_t>(used));
            s.screen({&w.m, acts.blocks.data(), norms.data(), used, out.data(), lower, group.data()}, 0,
                     w.m.n_group);
            for (int c = 0; c < used; c++)
                lower[used + c] = static_cast<float>(group[static_cast<size_t>(c)]);
            return out;
        };
        check_equal(run(set, own), run(scalar, lanes),
                    std::string(set.name) + ": screening " + std::to_string(used));
    }
}

void test_rows(const KernelSet& set, const KernelSet& scalar) {
    Random random(5);
    const std::string name = set.name;
    for (const int64_t n : {1, 7, 8, 32, 33, 96, 576, 1000}) {
        const auto size = static_cast<size_t>(n);
        std::vector<float> x(size), y(size), weight(size);
        for (size_t i = 0; i < size; i++) {
            x[i] = random.normal() * (i % 5 == 0 ? 30.0f : 1.0f);
            y[i] = random.normal();
            weight[i] = random.normal();
        }
        if (n > 8) x[3] = 100.0f, x[4] = -100.0f, x[5] = 0.0f, x[6] = -0.0f;
        const auto at = [&](const char* what) { return name + ": " + what + " of " + std::to_string(n); };
        std::vector<float> a(size), b(size);
        set.rms_norm(x.data(), weight.data(), n, 1e-5f, a.data());
        scalar.rms_norm(x.data(), weight.data(), n, 1e-5f, b.data());
        check_equal(a, b, at("rms_norm"));
        for (const Activation activation : {Activation::silu, Activation::gelu}) {
            a = b = x;
            set.glu(activation, a.data(), y.data(), n);
            scalar.glu(activation, b.data(), y.data(), n);
            check_equal(a, b, at("glu"));
        }
        a = b = x;
        set.add(a.data(), y.data(), n);
        scalar.add(b.data(), y.data(), n);
        set.scale(a.data(), 0.3f, n);
        scalar.scale(b.data(), 0.3f, n);
        check_equal(a, b, at("add, scale"));
        a[0] = b[0] = 1e-7f;  // f16 numbers without a leading one, and beyond f16
        if (n > 8) a[1] = b[1] = 65504.0f, a[2] = b[2] = -70000.0f, a[7] = b[7] = 2049.0f;
        std::vector<uint16_t> h(size), g(size);
        set.to_f16(a.data(), n, h.data());
        scalar.to_f16(b.data(), n, g.data());
        check_equal(h, g, at("to_f16"));
        check(set.argmax(x.data(), n) == scalar.argmax(x.data(), n), at("argmax"));
        if (n % kBlockCols == 0) {
            std::vector<ActBlock> p(size / kBlockCols), q(p.size());
            set.quantize(x.data(), n, p.data());
            scalar.quantize(x.data(), n, q.data());
            bool equal = true;
            for (size_t i = 0; i < p.size(); i++)  // the centres are each set's own
                equal = equal && same(&p[i], &q[i], offsetof(ActBlock, centre16));
            check(equal, at("quantize"));
        }
    }
}

void test_attention(const KernelSet& set, const KernelSet& scalar, int head_dim) {
    Random random(static_cast<uint64_t>(head_dim));
    constexpr int64_t capacity = 328;
    const auto dim = static_cast<size_t>(head_dim);
    std::vector<uint16_t> key(capacity * dim), value(key.size());
    for (uint16_t& h : key) h = ggml_fp32_to_fp16(random.normal() / 4);
    for (uint16_t& h : value) h = ggml_fp32_to_fp16(random.normal());
    for (int n_query = 1; n_query <= 16; n_query++) {
        const auto rows = static_cast<size_t>(n_query);
        std::vector<float> query(rows * dim);
        for (float& x : query) x = random.normal();
        std::vector<const float*> at(rows);
        std::vector<int64_t> first(rows), last(rows);
        for (size_t r = 0; r < rows; r++) {  // rows see other ranges, some of them around the ring's end
            at[r] = query.data() + r * dim;
            last[r] = 300 + 7 * n_query + static_cast<int64_t>(r);
            first[r] = last[r] - random.below(290);
        }
        const AttentionArgs args{head_dim,    n_query,    at.data(),    first.data(),
                                 last.data(), key.data(), value.data(), capacity};
        const auto run = [&](const KernelSet& s, const AttentionArgs& a) {
            const size_t stride = dim + kPartFront;
            const auto n = static_cast<size_t>(a.n_query);
            std::vector<float> part(n * stride), state(n * stride, 0.0f), out(n * dim);
            for (int64_t number = 0; number <= last.back() / attention_part(head_dim); number++) {
                s.attend_part(a, number, part.data(), static_cast<int64_t>(stride));
                for (size_t r = 0; r < n; r++) s.attend_join(head_dim, &part[r * stride], &state[r * stride]);
            }
            for (size_t r = 0; r < n; r++) s.attend_finish(head_dim, &state[r * stride], &out[r * dim]);
            return out;
        };
        const std::vector<float> got = run(set, args);
        const std::string what = std::string(set.name) + ": attention of " + std::to_string(n_query) +
                                 " rows of " + std::to_string(head_dim);
        check_equal(got, run(scalar, args), what);
        for (int r = 0; r < n_query; r++) {  // alone
            const AttentionArgs one{head_dim,        1,          at.data() + r, first.data() + r,
                                    last.data() + r, key.data(), value.data(),  capacity};
            check(same(run(set, one).data(), got.data() + static_cast<size_t>(r) * dim, dim * 4),
                  what + ", one alone");
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto sets = kernel_sets_usable();
    const KernelSet& scalar = *sets.back();
    for (const KernelSet* set : sets) {
        if (argc > 1 && std::strcmp(argv[1], "--sets") == 0) {
            std::printf("%s ", set->name);
            continue;
        }
        const int before = checks, failed = failures;
        for (const ggml_type type : kTestTypes) {
            const bool super = ggml_blck_size(type) == 256;
            for (const bool extreme : {false, true}) {
                test_matmul(*set, scalar, type, 43, super ? 512 : 96, extreme);
                test_matmul(*set, scalar, type, 8, super ? 256 : 32, extreme);
                if (!extreme) test_matmul(*set, scalar, type, 24, super ? 1280 : 1120, extreme);
            }
        }
        test_screen(*set, scalar);
        test_rows(*set, scalar);
        for (const int head_dim : {24, 64, 80, 256}) test_attention(*set, scalar, head_dim);
        std::printf("%s: %d checks, %d differ\n", set->name, checks - before, failures - failed);
        std::fflush(stdout);
    }
    if (argc > 1) std::printf("\n");
    return failures > 0;
}
