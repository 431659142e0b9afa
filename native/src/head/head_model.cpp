#include "head_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "../draft/copy_guess.h"

namespace mtp {
namespace {

constexpr size_t kAlign = 64;

bool f16_finite(uint16_t bits) { return (bits & 0x7c00) != 0x7c00; }

// Scales of blocks, or all values of float types, are numbers.
bool all_finite(const GgufTensor& t) {
    if (t.type == GGML_TYPE_F32) {
        for (size_t i = 0; i < t.n_bytes; i += sizeof(float)) {
            float v;
            std::memcpy(&v, t.data + i, sizeof v);
            if (!std::isfinite(v)) return false;
        }
        return true;
    }
    const size_t step = ggml_type_size(t.type);  // a block starts with its f16 scale, and maybe a minimum
    const size_t scales = t.type == GGML_TYPE_Q4_1 || t.type == GGML_TYPE_Q5_1 ? 2 : 1;
    for (size_t i = 0; i + step <= t.n_bytes; i += step) {
        for (size_t s = 0; s < scales; s++) {
            uint16_t bits;
            std::memcpy(&bits, t.data + i + 2 * s, sizeof bits);
            if (!f16_finite(bits)) return false;
        }
    }
    return true;
}

}  // namespace

class HeadLoader {
  public:
    HeadLoader(const GgufFile& file, const Model& backbone, HeadModel* head)
        : file_(file), backbone_(backbone), head_(head) {}

    Status read_metadata();
    Status plan();
    void fill();

  private:
    struct Job {
        const GgufTensor* tensor;
        PackedMatrix* matrix;  // or
        const float** vector;
        size_t offset;
    };

    Status fail(const std::string& what) const {
        return Status::error(Code::bad_file, file_.path() + ": " + what);
    }
    Status tensor(const std::string& name, int64_t n_col, int64_t n_row, const GgufTensor** out) const;
    Status matrix(const std::string& name, int64_t n_col, int64_t n_row, PackedMatrix* out);
    Status vector(const std::string& name, int64_t n_col, int64_t n_row, const float** out);
    Status plan_layer(int index);
    Status plan_outlook();
    Status read_sources(int n_layer);
    void reserve(Job job, size_t n) {
        job.offset = total_;
        total_ += (n + kAlign - 1) / kAlign * kAlign;
        jobs_.push_back(job);
    }

    const GgufFile& file_;
    const Model& backbone_;
    HeadModel* head_;
    std::vector<Job> jobs_;
    size_t total_ = 0;
};

Status HeadLoader::read_metadata() {
    const ModelParams& p = backbone_.params;
    if (file_.architecture() != "mtp-head") return fail("is not a draft head (architecture mtp-head)");
    const std::string owner(file_.string("mtp-head.backbone.fingerprint").value_or("?"));
    if (owner != backbone_.fingerprint) {
        return fail("this head was trained for another model file (" +
                    std::string(file_.string("mtp-head.backbone.name").value_or("?")) + ", fingerprint " +
                    owner + ", not " + backbone_.fingerprint + ")");
    }
    const auto count = file_.u32("mtp-head.block_count").value_or(0);
    const auto n_ff = file_.u32("mtp-head.feed_forward_length").value_or(0);
    if (count < 1 || count > kMaxHeadLayers) return fail("mtp-head.block_count is missing or out of range");
    if (n_ff < 32 || n_ff % 32 != 0 || n_ff > 65536)
        return fail("mtp-head.feed_forward_length is missing or out of range");
    head_->n_ff = static_cast<int>(n_ff);
    if (Status s = read_sources(static_cast<int>(count)); !s.ok()) return s;
    const auto groups = file_.i32_array("mtp-head.draft_groups");
    if (!groups || groups->empty()) return fail("mtp-head.draft_groups is missing");
    std::vector<bool> seen(static_cast<size_t>(backbone_.output.n_group), false);
    for (const int32_t group : *groups) {
        if (group < 0 || group >= backbone_.output.n_group || seen[static_cast<size_t>(group)])
            return fail("mtp-head.draft_groups holds a group that is out of range or stands there twice");
        seen[static_cast<size_t>(group)] = true;
    }
    head_->groups = *groups;
    if (p.n_embd % kBlockCols != 0 || p.head_dim % kBlockCols != 0)
        return Status::error(Code::unsupported, file_.path() + ": heads need widths that 32 divides");
    return {};
}

Status HeadLoader::read_sources(int n_layer) {
    const auto sources = file_.i32_array("mtp-head.sources"),
               counts = file_.i32_array("mtp-head.source_counts");
    if (!sources || !counts || static_cast<int>(counts->size()) != n_layer)
        return fail("mtp-head.sources or mtp-head.source_counts is missing or does not fit");
    size_t at = 0;
    head_->layers.resize(static_cast<size_t>(n_layer));
    for (int i = 0; i < n_layer; i++) {
        const int32_t n = (*counts)[static_cast<size_t>(i)];
        if (n < 1 || n > kMaxHeadSources || at + static_cast<size_t>(n) > sources->size())
            return fail("mtp-head.source_counts is out of range");
        for (int32_t j = 0; j < n; j++) {
            const int32_t layer = (*sources)[at++];
            if (layer < 0 || layer >= backbone_.params.n_layer) {
                return fail("reads layer " + std::to_string(layer) + " of a model with " +
                            std::to_string(backbone_.params.n_layer) + " layers");
            }
            head_->layers[static_cast<size_t>(i)].sources.push_back(layer);
        }
    }
    return at == sources->size() ? Status{} : fail("mtp-head.sources holds more than the layers use");
}

Status HeadLoader::tensor(const std::string& name, int64_t n_col, int64_t n_row,
                          const GgufTensor** out) const {
    const GgufTensor* t = file_.find(name);
    if (!t) return fail("tensor " + name + " is missing");
    if (t->ne[0] != n_col || t->ne[1] != n_row || t->ne[2] != 1 || t->ne[3] != 1) {
        return fail("tensor " + name + " is not " + std::to_string(n_col) + " x " + std::to_string(n_row));
    }
    *out = t;
    return {};
}

Status HeadLoader::matrix(const std::string& name, int64_t n_col, int64_t n_row, PackedMatrix* out) {
    const GgufTensor* t = nullptr;
    if (Status s = tensor(name, n_col, n_row, &t); !s.ok()) return s;
    static constexpr ggml_type kinds[] = {GGML_TYPE_F16,  GGML_TYPE_Q8_0, GGML_TYPE_Q4_0,
                                          GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1};
    if (std::find(std::begin(kinds), std::end(kinds), t->type) == std::end(kinds))
        return fail("tensor " + name + " is none of F16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1");
    if (!all_finite(*t)) return fail("tensor " + name + " holds values that are not numbers");
    if (Status s = packed_shape(t->type, n_col, n_row, backbone_.row_order, out); !s.ok())
        return fail(name + ": " + s.message);
    reserve({t, out, nullptr, 0}, static_cast<size_t>(out->total_bytes()));
    return {};
}

Status HeadLoader::vector(const std::string& name, int64_t n_col, int64_t n_row, const float** out) {
    const GgufTensor* t = nullptr;
    if (Status s = tensor(name, n_col, n_row, &t); !s.ok()) return s;
    if (t->type != GGML_TYPE_F32) return fail("tensor " + name + " is not F32");
    if (!all_finite(*t)) return fail("tensor " + name + " holds values that are not numbers");
    reserve({t, nullptr, out, 0}, t->n_bytes);
    return {};
}

Status HeadLoader::plan_layer(int index) {
    const ModelParams& p = backbone_.params;
    HeadLayer& l = head_->layers[static_cast<size_t>(index)];
    const std::string base = "blk." + std::to_string(index) + ".";
    const auto n_source = static_cast<int64_t>(l.sources.size());
    const int64_t n_q = n_source * p.n_head * p.head_dim;
    const bool normed = backbone_.layers.front().q_norm != nullptr;
    if (index > 0) {
        if (Status s = vector(base + "attn_norm.weight", p.n_embd, 1, &l.attn_norm); !s.ok()) return s;
    }
    if (normed) {
        if (Status s = vector(base + "attn_q_norm.weight", p.head_dim, n_source, &l.q_norm); !s.ok())
            return s;
    }
    for (const Status& s : {matrix(base + "attn_q.weight", (index == 0 ? 2 : 1) * p.n_embd, n_q, &l.q),
                            matrix(base + "attn_output.weight", n_q, p.n_embd, &l.o),
                            vector(base + "ffn_norm.weight", p.n_embd, 1, &l.ffn_norm),
                            matrix(base + "ffn_gate.weight", p.n_embd, head_->n_ff, &l.gate),
                            matrix(base + "ffn_up.weight", p.n_embd, head_->n_ff, &l.up),
                            matrix(base + "ffn_down.weight", head_->n_ff, p.n_embd, &l.down)}) {
        if (!s.ok()) return s;
    }
    return {};
}

Status HeadLoader::plan_outlook() {
    OutlookNet& net = head_->outlook;
    if (!file_.find("outlook.weight")) return {};
    const int64_t n = 3 * int64_t{backbone_.params.n_embd};
    for (const Status& s : {matrix("outlook.weight", n, kOutlookWidth, &net.input),
                            vector("outlook.bias", kOutlookWidth, kGuessClasses, &net.bias),
                            vector("outlook_output.weight", kOutlookWidth, 2, &net.output),
                            vector("outlook_output.bias", 2, 1, &net.output_bias)}) {
        if (!s.ok()) return s;
    }
    return {};
}

Status HeadLoader::plan() {
    const ModelParams& p = backbone_.params;
    for (const Status& s : {matrix("input.weight", 3 * int64_t{p.n_embd}, p.n_embd, &head_->input),
                            vector("guess_bias.weight", p.n_embd, kGuessClasses, &head_->guess_bias),
                            vector("output_norm.weight", p.n_embd, 1, &head_->output_norm)}) {
        if (!s.ok()) return s;
    }
    for (int i = 0; i < static_cast<int>(head_->layers.size()); i++) {
        if (Status s = plan_layer(i); !s.ok()) return s;
    }
    return plan_outlook();
}

void HeadLoader::fill() {
    head_->arena_.resize(total_ + kAlign);
    const auto start = reinterpret_cast<uintptr_t>(head_->arena_.data());
    uint8_t* base = head_->arena_.data() + (kAlign - start % kAlign) % kAlign;
    for (const Job& job : jobs_) {
        uint8_t* to = base + job.offset;
        if (job.vector) {
            std::memcpy(to, job.tensor->data, job.tensor->n_bytes);
            *job.vector = reinterpret_cast<const float*>(to);
            continue;
        }
        PackedMatrix& m = *job.matrix;
        pack_groups(m, to, job.tensor->type, job.tensor->data, 0, m.n_group);
        m.data = to;
        if (m.format == Format::q8_0) m.low = to + m.n_group * m.group_bytes;
    }
    head_->weight_bytes = total_;
}

Status HeadModel::load(const std::string& path, const Model& backbone, std::unique_ptr<HeadModel>* out) {
    std::unique_ptr<GgufFile> file;
    if (Status s = GgufFile::open(path, &file); !s.ok()) return s;
    std::unique_ptr<HeadModel> head(new HeadModel());
    HeadLoader loader(*file, backbone, head.get());
    if (Status s = loader.read_metadata(); !s.ok()) return s;
    if (Status s = loader.plan(); !s.ok()) return s;
    loader.fill();
    head->file_bytes = file->file_bytes();
    *out = std::move(head);
    return {};
}

}  // namespace mtp
