#include "model.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <thread>

namespace mtp {
namespace {

constexpr size_t kAlign = 64;

size_t aligned(size_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

}  // namespace

Model::~Model() {
    if (arena_) munmap(arena_, arena_bytes_);
}

// Two rounds over the same list of tensors: the first finds them and adds up sizes, the second fills the
// arena.
class ModelLoader {
  public:
    ModelLoader(const GgufFile& file, Model* model) : file_(file), model_(model) {}

    Status read_params();
    Status plan();
    Status fill(int n_threads, const LoadProgress& progress);

  private:
    struct MatrixJob {
        const GgufTensor* tensor;
        PackedMatrix* matrix;
        size_t offset;
    };
    struct VectorJob {
        const GgufTensor* tensor;
        const float** vector;
        size_t offset;
    };

    Status fail(Code code, const std::string& what) const {
        return Status::error(code, file_.path() + ": " + what);
    }
    Status number(const char* key, int* out);
    Status matrix(const std::string& name, int64_t n_col, int64_t n_row, PackedMatrix* out,
                  bool is_output = false);
    Status vector(const std::string& name, int64_t n, const float** out, bool required = true);
    Status plan_layer(int index);
    Status refuse_unknown() const;
    size_t reserve(size_t n) {
        const size_t at = total_;
        total_ += aligned(n);
        return at;
    }

    const GgufFile& file_;
    Model* model_;
    std::vector<MatrixJob> matrices_;
    std::vector<VectorJob> vectors_;
    std::set<std::string> used_;
    size_t total_ = 0;
};

Status ModelLoader::number(const char* key, int* out) {
    const auto value = file_.u32(file_.architecture() + "." + key);
    if (!value || *value == 0 || *value > (1u << 30)) {
        return fail(Code::bad_file,
                    "metadata " + file_.architecture() + "." + key + " is missing or out of range");
    }
    *out = static_cast<int>(*value);
    return {};
}

Status ModelLoader::read_params() {
    ModelParams& p = model_->params;
    p.architecture = file_.architecture();
    const std::string arch = p.architecture + ".";
    if (p.architecture != "llama" && p.architecture != "gemma3") {
        return fail(Code::unsupported,
                    "architecture '" + p.architecture + "' is not supported (llama, gemma3 are)");
    }
    p.name = std::string(file_.string("general.name").value_or(""));
    int n_ctx = 0;
    for (const auto& [key, to] : {std::pair<const char*, int*>{"block_count", &p.n_layer},
                                  {"embedding_length", &p.n_embd},
                                  {"feed_forward_length", &p.n_ff},
                                  {"attention.head_count", &p.n_head},
                                  {"context_length", &n_ctx}}) {
        if (Status s = number(key, to); !s.ok()) return s;
    }
    p.n_ctx_train = n_ctx;
    p.n_head_kv = static_cast<int>(
        file_.u32(arch + "attention.head_count_kv").value_or(static_cast<uint32_t>(p.n_head)));
    p.head_dim = static_cast<int>(
        file_.u32(arch + "attention.key_length").value_or(static_cast<uint32_t>(p.n_embd / p.n_head)));
    const auto value_dim =
        file_.u32(arch + "attention.value_length").value_or(static_cast<uint32_t>(p.head_dim));
    p.rope_dim = static_cast<int>(
        file_.u32(arch + "rope.dimension_count").value_or(static_cast<uint32_t>(p.head_dim)));
    p.norm_eps = file_.f32(arch + "attention.layer_norm_rms_epsilon").value_or(1e-5f);
    if (p.n_layer > 1024 || p.n_head > 1024 || p.n_head_kv < 1 || p.n_head % p.n_head_kv != 0) {
        return fail(Code::bad_file, "head or layer counts make no sense");
    }
    if (p.head_dim < 8 || p.head_dim % 8 != 0 || p.head_dim > kMaxHeadDim ||
        value_dim != static_cast<uint32_t>(p.head_dim)) {
        return fail(Code::unsupported,
                    "attention heads of width " + std::to_string(p.head_dim) + " are not supported");
    }
    if (p.rope_dim < 2 || p.rope_dim % 2 != 0 || p.rope_dim > p.head_dim) {
        return fail(Code::bad_file, "rope.dimension_count is out of range");
    }
    if (file_.u32(arch + "expert_count").value_or(0) > 0) {
        return fail(Code::unsupported, "mixture-of-experts models are not supported");
    }
    const std::string scaling(file_.string(arch + "rope.scaling.type").value_or("none"));
    if (scaling != "none" && scaling != "linear") {
        return fail(Code::unsupported, "rope scaling '" + scaling + "' is not supported (none, linear are)");
    }
    const float factor = file_.f32(arch + "rope.scaling.factor").value_or(1.0f);
    if (scaling == "linear" && factor > 0) p.rope_scale = 1.0f / factor;
    p.rope_base = file_.f32(arch + "rope.freq_base").value_or(10000.0f);

    model_->layers.resize(static_cast<size_t>(p.n_layer));
    if (p.architecture == "gemma3") {
        p.rope_halves = true;
        p.activation = Activation::gelu;
        p.embed_scale = std::sqrt(static_cast<float>(p.n_embd));
        p.rope_base_sliding = file_.f32(arch + "rope.freq_base_swa").value_or(10000.0f);
        p.window = static_cast<int64_t>(file_.u32(arch + "attention.sliding_window").value_or(0));
        const auto pattern = file_.u32(arch + "attention.sliding_window_pattern").value_or(6);
        for (int i = 0; i < p.n_layer && p.window > 0 && pattern > 0; i++) {
            model_->layers[static_cast<size_t>(i)].sliding =
                i % static_cast<int>(pattern) < static_cast<int>(pattern) - 1;
        }
    }
    return {};
}

Status ModelLoader::matrix(const std::string& name, int64_t n_col, int64_t n_row, PackedMatrix* out,
                           bool is_output) {
    const GgufTensor* t = file_.find(name);
    if (!t) return fail(Code::bad_file, "tensor " + name + " is missing");
    used_.insert(name);
    if (t->ne[0] != n_col || t->ne[1] != n_row || t->ne[2] != 1 || t->ne[3] != 1) {
        return fail(Code::bad_file, "tensor " + name + " has shape " + std::to_string(t->ne[0]) + " x " +
                                        std::to_string(t->ne[1]) + ", expected " + std::to_string(n_col) +
                                        " x " + std::to_string(n_row));
    }
    if (Status s = packed_shape(t->type, n_col, n_row, model_->row_order, out); !s.ok())
        return fail(s.code, "tensor " + name + ": " + s.message);
    // an arg-max over many rows can do with half of the bytes
    constexpr int64_t least_rows = 1024, most_blocks = 256;
    out->has_residual =
        is_output && out->format == Format::q8_0 && n_row >= least_rows && out->n_block() <= most_blocks;
    matrices_.push_back({t, out, reserve(static_cast<size_t>(out->total_bytes()))});
    model_->type_bytes[ggml_type_name(t->type)] += t->n_bytes;
    model_->n_parameters += n_col * n_row;
    return {};
}

Status ModelLoader::vector(const std::string& name, int64_t n, const float** out, bool required) {
    const GgufTensor* t = file_.find(name);
    if (!t) return required ? fail(Code::bad_file, "tensor " + name + " is missing") : Status{};
    used_.insert(name);
    if (t->ne[0] != n || t->ne[1] != 1 || t->ne[2] != 1 || t->ne[3] != 1 || t->type != GGML_TYPE_F32) {
        return fail(Code::bad_file,
                    "tensor " + name + " is not a vector of " + std::to_string(n) + " F32 values");
    }
    vectors_.push_back({t, out, reserve(static_cast<size_t>(n) * sizeof(float))});
    model_->n_parameters += n;
    return {};
}

Status ModelLoader::plan_layer(int index) {
    const ModelParams& p = model_->params;
    Layer& l = model_->layers[static_cast<size_t>(index)];
    const std::string base = "blk." + std::to_string(index) + ".";
    const int64_t q = int64_t{p.n_head} * p.head_dim, kv = int64_t{p.n_head_kv} * p.head_dim;
    const bool gemma = p.architecture == "gemma3";
    for (const Status& s : {vector(base + "attn_norm.weight", p.n_embd, &l.attn_norm),
                            matrix(base + "attn_q.weight", p.n_embd, q, &l.q),
                            matrix(base + "attn_k.weight", p.n_embd, kv, &l.k),
                            matrix(base + "attn_v.weight", p.n_embd, kv, &l.v),
                            matrix(base + "attn_output.weight", q, p.n_embd, &l.o),
                            vector(base + "ffn_norm.weight", p.n_embd, &l.ffn_norm),
                            matrix(base + "ffn_gate.weight", p.n_embd, p.n_ff, &l.gate),
                            matrix(base + "ffn_up.weight", p.n_embd, p.n_ff, &l.up),
                            matrix(base + "ffn_down.weight", p.n_ff, p.n_embd, &l.down)}) {
        if (!s.ok()) return s;
    }
    if (gemma) {
        for (const Status& s : {vector(base + "attn_q_norm.weight", p.head_dim, &l.q_norm),
                                vector(base + "attn_k_norm.weight", p.head_dim, &l.k_norm),
                                vector(base + "post_attention_norm.weight", p.n_embd, &l.attn_post_norm),
                                vector(base + "post_ffw_norm.weight", p.n_embd, &l.ffn_post_norm)}) {
            if (!s.ok()) return s;
        }
    }
    return {};
}

// A tensor that the graph does not use would mean that the graph computes something else than the model.
Status ModelLoader::refuse_unknown() const {
    for (const GgufTensor& t : file_.tensors()) {
        if (!used_.count(t.name)) {
            return fail(Code::unsupported, "tensor " + t.name + " is not part of a " +
                                               model_->params.architecture +
                                               " model as it is supported here");
        }
    }
    return {};
}

Status ModelLoader::plan() {
    ModelParams& p = model_->params;
    const GgufTensor* embedding = file_.find("token_embd.weight");
    if (!embedding) return fail(Code::bad_file, "tensor token_embd.weight is missing");
    if (embedding->ne[1] > (1 << 28)) return fail(Code::bad_file, "the vocabulary is too large");
    p.n_vocab = static_cast<int>(embedding->ne[1]);
    const bool tied = !file_.find("output.weight");
    if (Status s = matrix("token_embd.weight", p.n_embd, p.n_vocab, &model_->embedding, tied); !s.ok())
        return s;
    if (!tied) {
        if (Status s = matrix("output.weight", p.n_embd, p.n_vocab, &model_->output, true); !s.ok()) return s;
    }
    if (Status s = vector("output_norm.weight", p.n_embd, &model_->output_norm); !s.ok()) return s;
    if (Status s = vector("rope_freqs.weight", p.rope_dim / 2, &model_->rope_factors, false); !s.ok())
        return s;
    for (int i = 0; i < p.n_layer; i++) {
        if (Status s = plan_layer(i); !s.ok()) return s;
    }
    return refuse_unknown();
}

Status ModelLoader::fill(int n_threads, const LoadProgress& progress) {
    void* mapped = mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        return fail(Code::out_of_memory,
                    "not enough memory for " + std::to_string(total_ >> 20) + " MB of weights");
    }
    model_->arena_ = static_cast<uint8_t*>(mapped);
    model_->arena_bytes_ = total_;
#if defined(MADV_HUGEPAGE)
    madvise(mapped, total_, MADV_HUGEPAGE);  // fewer page faults while packing, fewer TLB misses after
#endif
    for (const VectorJob& job : vectors_) {
        std::memcpy(model_->arena_ + job.offset, job.tensor->data, job.tensor->n_bytes);
        *job.vector = reinterpret_cast<const float*>(model_->arena_ + job.offset);
    }
    // pieces of about a megabyte, in file order, so that both threads read ahead together
    struct Piece {
        const MatrixJob* job;
        int64_t group0, group1;
    };
    std::vector<Piece> pieces;
    size_t total = 0;
    for (const MatrixJob& job : matrices_) {
        const int64_t step =
            std::max<int64_t>(1, (int64_t{1} << 20) / std::max<int64_t>(1, job.matrix->group_bytes));
        for (int64_t g = 0; g < job.matrix->n_group; g += step) {
            pieces.push_back({&job, g, std::min(g + step, job.matrix->n_group)});
        }
        total += job.tensor->n_bytes;
    }
    std::atomic<size_t> next{0}, done{0};
    std::atomic<bool> cancelled{false};
    const auto work = [&](bool reports) {
        for (size_t i; !cancelled && (i = next.fetch_add(1)) < pieces.size();) {
            const Piece& piece = pieces[i];
            const PackedMatrix& m = *piece.job->matrix;
            pack_groups(m, model_->arena_ + piece.job->offset, piece.job->tensor->type,
                        piece.job->tensor->data, piece.group0, piece.group1);
            done += piece.job->tensor->n_bytes * static_cast<size_t>(piece.group1 - piece.group0) /
                    static_cast<size_t>(m.n_group);
            const size_t row = ggml_row_size(piece.job->tensor->type, m.n_col);
            const size_t first = static_cast<size_t>(piece.group0) * kGroupRows * row;
            const size_t last =
                std::min(static_cast<size_t>(piece.group1) * kGroupRows * row, piece.job->tensor->n_bytes);
            file_.release(piece.job->tensor->data + first, last - first);
            if (reports && progress && !progress(done, total)) cancelled = true;
        }
    };
    std::vector<std::thread> helpers;
    for (int t = 1; t < n_threads; t++) helpers.emplace_back(work, false);
    work(true);
    for (std::thread& t : helpers) t.join();
    if (cancelled) return Status::error(Code::aborted, "aborted");
    for (const MatrixJob& job : matrices_) {
        file_.release_pages(*job.tensor);
        job.matrix->data = model_->arena_ + job.offset;
        if (job.matrix->format == Format::q8_0) {
            job.matrix->low = job.matrix->data + job.matrix->n_group * job.matrix->group_bytes;
            if (job.matrix->has_residual) {
                job.matrix->residual = job.matrix->low + job.matrix->n_group * job.matrix->low_group_bytes();
            }
        }
    }
    if (!model_->output.data) model_->output = model_->embedding;
    return {};
}

namespace {

// FNV-1a, 64 bits; 128 bytes of each tensor are enough to tell files apart
std::string fingerprint_of(const GgufFile& file) {
    uint64_t hash = 0xcbf29ce484222325u;
    const auto take = [&hash](const void* data, size_t n) {
        const auto* bytes = static_cast<const uint8_t*>(data);
        for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    };
    for (const GgufTensor& t : file.tensors()) {
        const auto type = static_cast<int32_t>(t.type);
        take(t.name.data(), t.name.size());
        take(&type, sizeof type);
        take(t.ne.data(), sizeof t.ne);
        const size_t sample = std::min<size_t>(64, t.n_bytes);
        take(t.data, sample);
        take(t.data + (t.n_bytes - sample) / 2, sample);
    }
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

}  // namespace

Status Model::load(const std::string& path, RowOrder order, int n_threads, const LoadProgress& progress,
                   std::unique_ptr<Model>* out) {
    std::unique_ptr<GgufFile> file;
    if (Status s = GgufFile::open(path, &file); !s.ok()) return s;
    std::unique_ptr<Model> model(new Model());
    model->row_order = order;
    ModelLoader loader(*file, model.get());
    if (Status s = loader.read_params(); !s.ok()) return s;
    if (Status s = loader.plan(); !s.ok()) return s;
    model->fingerprint = fingerprint_of(*file);
    if (Status s = loader.fill(n_threads, progress); !s.ok()) return s;
    file->release_header();
    model->file_bytes = file->file_bytes();
    *out = std::move(model);
    return {};
}

}  // namespace mtp
