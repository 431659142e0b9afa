// The Python face of the engine. Releases the GIL around native work; turns a Status into an exception.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "decode/decoder.h"
#include "decode/pass_costs.h"
#include "draft/copy_guess.h"

namespace nb = nanobind;
using namespace mtp;

namespace {

// Raised as mtp_cli._native.Error(code, message); engine_native.py turns it into the typed exceptions.
struct NativeError {
    Status status;
};

const char* code_name(Code code) {
    switch (code) {
    case Code::ok:
        return "ok";
    case Code::bad_file:
        return "bad_file";
    case Code::unsupported:
        return "unsupported";
    case Code::bad_argument:
        return "bad_argument";
    case Code::context_full:
        return "context_full";
    case Code::aborted:
        return "aborted";
    case Code::out_of_memory:
        return "out_of_memory";
    case Code::internal:
        return "internal";
    }
    return "internal";
}

PyObject* error_type = nullptr;

[[noreturn]] void raise(const Status& status) {
    // a signal handler's exception (KeyboardInterrupt) comes first
    if (PyErr_Occurred()) throw nb::python_error();
    nb::object args =
        nb::make_tuple(code_name(status.code), nb::bytes(status.message.data(), status.message.size()));
    PyErr_SetObject(error_type, args.ptr());
    throw nb::python_error();
}

void must(const Status& status) {
    if (!status.ok()) raise(status);
}

// Runs Python's signal handlers now and then, so that Ctrl-C ends a long pass. Call without the GIL.
class SignalPoll {
  public:
    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return false;
        last_ = now;
        nb::gil_scoped_acquire gil;
        return PyErr_CheckSignals() != 0;
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Calls a Python progress function; an exception in it stops the work.
class PyProgress {
  public:
    explicit PyProgress(nb::object call) : call_(std::move(call)) {}
    bool failed() const { return failed_; }
    Progress function() {
        if (call_.is_none()) return {};
        return [this](int64_t done, int64_t total) {
            if (failed_) return;
            nb::gil_scoped_acquire gil;
            PyObject* result = PyObject_CallFunction(call_.ptr(), "LL", static_cast<long long>(done),
                                                     static_cast<long long>(total));
            if (result) {
                Py_DECREF(result);
            } else {
                failed_ = true;
            }
        };
    }

  private:
    nb::object call_;
    bool failed_ = false;
};

using Logits = nb::ndarray<nb::numpy, float, nb::ndim<2>>;

// A new array for Python; owned by this until it is taken.
template <class T> struct Array {
    explicit Array(std::vector<size_t> dims) : shape(std::move(dims)) {
        size_t n = 1;
        for (const size_t d : shape) n *= d;
        data = new (std::nothrow) T[std::max<size_t>(1, n)];
        if (!data) must(Status::error(Code::out_of_memory, "not enough memory for an array"));
    }
    ~Array() { delete[] data; }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    nb::object take() {
        T* given = std::exchange(data, nullptr);
        nb::capsule owner(given, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        return nb::cast(nb::ndarray<nb::numpy, T>(given, shape.size(), shape.data(), owner));
    }
    std::vector<size_t> shape;
    T* data;
};

class PyEngine {
  public:
    PyEngine(const std::string& path, int64_t n_ctx, int n_threads, const std::string& kernel,
             nb::object progress) {
        PyProgress report(std::move(progress));
        SignalPoll signals;
        Status status;
        {
            nb::gil_scoped_release nogil;
            status = Engine::open(
                path, {n_ctx, n_threads, kernel}, report.function(),
                [&] { return report.failed() || signals(); }, &engine_);
        }
        must(status);
        decoder_ = std::make_unique<Decoder>(engine_.get());
    }

    int32_t prefill(const std::vector<int32_t>& tokens, nb::object progress) {
        PyProgress report(std::move(progress));
        int32_t next = -1;
        run(
            [&](Engine& e) {
                return e.prefill(tokens.data(), static_cast<int64_t>(tokens.size()), report.function(),
                                 &next);
            },
            &report);
        return next;
    }

    std::vector<int32_t> decode(const std::vector<int32_t>& tokens) {
        std::vector<int32_t> next(tokens.size());
        run([&](Engine& e) {
            return e.decode(tokens.data(), static_cast<int>(std::min<size_t>(tokens.size(), 1 << 20)),
                            next.data());
        });
        return next;
    }

    // For each token of a pass (ids, logits): all that the wish names, and perhaps a few more, by id.
    nb::list candidates(const std::vector<int32_t>& tokens, int top_k, float min_p) {
        std::vector<int32_t> next(tokens.size());
        CandidateWish wish;
        wish.top_k = top_k;
        if (min_p > 0) wish.log_min_p = std::log(min_p);
        run([&](Engine& e) {
            return e.decode(tokens.data(), static_cast<int>(std::min<size_t>(tokens.size(), 1 << 20)),
                            next.data(), Engine::Want::candidates, wish);
        });
        nb::list rows;
        if (get().has_logits()) return rows;  // nothing was screened
        for (size_t row = 0; row < tokens.size(); row++) {
            std::vector<Candidate> found;
            get().candidates(static_cast<int>(row), &found);
            nb::list ids, logits;
            for (const Candidate& one : found) {
                ids.append(one.token);
                logits.append(one.logit);
            }
            rows.append(nb::make_tuple(ids, logits));
        }
        return rows;
    }

    Logits logits(const std::vector<int32_t>& tokens) {
        const size_t n_vocab = static_cast<size_t>(get().model().params.n_vocab);
        auto* data = new (std::nothrow) float[std::max<size_t>(1, tokens.size() * n_vocab)];
        if (!data) must(Status::error(Code::out_of_memory, "not enough memory for these logits"));
        nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<float*>(p); });
        run([&](Engine& e) { return e.logits(tokens.data(), static_cast<int64_t>(tokens.size()), data); });
        return Logits(data, {tokens.size(), n_vocab}, owner);
    }

    // hidden [n, n_embd], x [layer, n, n_embd], q [layer, n, n_head head_dim], all float32
    nb::tuple capture(const std::vector<int32_t>& tokens, const std::vector<int>& layers) {
        const ModelParams& p = get().model().params;
        const size_t n = tokens.size(), n_embd = static_cast<size_t>(p.n_embd);
        const size_t n_q = static_cast<size_t>(p.n_head) * static_cast<size_t>(p.head_dim);
        Array<float> hidden({n, n_embd}), x({layers.size(), n, n_embd}), q({layers.size(), n, n_q});
        run([&](Engine& e) {
            return e.capture(tokens.data(), static_cast<int64_t>(n), layers, hidden.data, x.data, q.data);
        });
        return nb::make_tuple(hidden.take(), x.take(), q.take());
    }

    // f16 bits: keys and values [end - begin, n_head_kv, head_dim]
    nb::tuple read_cache(int layer, int64_t begin, int64_t end) {
        const ModelParams& p = get().model().params;
        if (begin < 0 || end < begin || end > get().length())
            must(Status::error(Code::bad_argument, "no such positions in the cache"));
        const auto n = static_cast<size_t>(end - begin);
        const size_t heads = static_cast<size_t>(p.n_head_kv), dim = static_cast<size_t>(p.head_dim);
        Array<uint16_t> key({n, heads, dim}), value({n, heads, dim});
        must(get().read_cache(layer, begin, end, key.data, value.data));
        return nb::make_tuple(key.take(), value.take());
    }

    void open_head(const std::string& path) {
        run([&](Engine& e) { return e.open_head(path); });
    }
    nb::object head_info() {
        const HeadModel* head = get().head();
        if (!head) return nb::none();
        nb::dict out;
        nb::list sources;
        for (const HeadLayer& l : head->layers) sources.append(l.sources);
        out["file_bytes"] = head->file_bytes;
        out["weight_bytes"] = head->weight_bytes;
        out["buffer_bytes"] = get().head_step()->buffer_bytes();
        out["sources"] = sources;
        out["draft_vocabulary"] = 8 * static_cast<int64_t>(head->groups.size());
        return out;
    }
    // For tests: n draft steps from hidden row `row` of the last pass; `token` follows the cache. guesses:
    // one (token, kind) a step, (-1, 0): none; forced: tokens to go on with instead of the drafted ones.
    // Returns (tokens, probabilities, states [n, n_embd]).
    nb::tuple head_chain(int row, int32_t token, const std::vector<std::pair<int32_t, int>>& guesses,
                         const std::vector<int32_t>& vocabulary, const std::vector<int32_t>& forced) {
        const int32_t n_vocab = get().model().params.n_vocab;
        const size_t n = guesses.size(), n_embd = static_cast<size_t>(get().model().params.n_embd);
        const auto known = [n_vocab](int32_t t) { return t >= 0 && t < n_vocab; };
        bool sound = known(token) && std::all_of(vocabulary.begin(), vocabulary.end(), known) &&
                     std::all_of(forced.begin(), forced.end(), known);
        for (const auto& [guess, kind] : guesses)
            sound = sound && (kind == 0 || (kind > 0 && kind < kGuessClasses && known(guess)));
        if (!sound) must(Status::error(Code::bad_argument, "token id out of range"));
        std::vector<int32_t> tokens;
        std::vector<float> shares;
        Array<float> states({n, n_embd});
        run([&](Engine& e) {
            if (Status s = e.head_begin(row); !s.ok()) return s;
            e.head_step()->set_vocabulary(vocabulary);
            for (size_t i = 0; i < n; i++) {
                HeadDraft draft;
                if (Status s = e.head_draft(token, {guesses[i].first, guesses[i].second}, &draft); !s.ok())
                    return s;
                std::copy_n(e.head_step()->state(), n_embd, states.data + i * n_embd);
                tokens.push_back(draft.token);
                shares.push_back(draft.probability);
                token = i < forced.size() ? forced[i] : draft.token;
            }
            return Status{};
        });
        return nb::make_tuple(tokens, shares, states.take());
    }
    // For tests: the head's outlook for hidden row `row` and `token` behind it; None without such a net.
    nb::object head_outlook(int row, int32_t token, int32_t guess, int kind) {
        const int32_t n_vocab = get().model().params.n_vocab;
        const bool sound = token >= 0 && token < n_vocab && kind >= 0 && kind < kGuessClasses &&
                           (kind == 0 || (guess >= 0 && guess < n_vocab));
        if (!sound) must(Status::error(Code::bad_argument, "token id out of range"));
        must(get().head_begin(row));
        if (!get().head_step()->has_outlook()) return nb::none();
        const Outlook found = get().head_step()->outlook(token, {guess, kind});
        return nb::make_tuple(found.copy, found.head);
    }
    std::string fingerprint() { return get().model().fingerprint; }

    nb::object hidden(int rows) {
        const size_t n = static_cast<size_t>(get().model().params.n_embd);
        if (rows < 1 || rows > kMaxDecode) must(Status::error(Code::bad_argument, "rows out of range"));
        auto* data = new float[static_cast<size_t>(rows) * n];
        std::copy(get().hidden(), get().hidden() + static_cast<size_t>(rows) * n, data);
        nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<float*>(p); });
        return nb::cast(Logits(data, {static_cast<size_t>(rows), n}, owner));
    }

    // The prompt is prefilled; returns the first step. options: see mtp_cli.engine.
    nb::dict start(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source, nb::dict options) {
        DecodeOptions o;
        o.sampling.temperature = nb::cast<float>(options["temperature"]);
        o.sampling.top_k = nb::cast<int>(options["top_k"]);
        o.sampling.top_p = nb::cast<float>(options["top_p"]);
        o.sampling.min_p = nb::cast<float>(options["min_p"]);
        o.sampling.repeat_penalty = nb::cast<float>(options["repeat_penalty"]);
        o.sampling.repeat_last = nb::cast<int>(options["repeat_last"]);
        o.sampling.seed = nb::cast<uint64_t>(options["seed"]);
        o.draft_copy = nb::cast<bool>(options["draft_copy"]);
        o.draft_head = nb::cast<bool>(options["draft_head"]);
        o.draft_max = nb::cast<int>(options["draft_max"]);
        o.draft_fixed = nb::cast<int>(options["draft_fixed"]);
        o.lenient = static_cast<LenientRule>(nb::cast<int>(options["lenient_rule"]));
        o.lenient_alpha = nb::cast<double>(options["lenient_alpha"]);
        o.max_tokens = nb::cast<int64_t>(options["max_tokens"]);
        Step first;
        run([&](Engine& e) {
            for (const int32_t token : prompt) {
                if (token < 0 || token >= e.model().params.n_vocab)
                    return Status::error(Code::bad_argument, "token id out of range");
            }
            if (e.length() == 0 || e.length() != static_cast<int64_t>(prompt.size())) {
                return Status::error(Code::bad_argument, "start needs the prompt, all of it, in the cache");
            }
            return decoder_->start(prompt, source, o, &first);
        });
        return step_dict(first);
    }

    nb::dict step() {
        Step step;
        run([&](Engine&) { return decoder_->step(&step); });
        return step_dict(step);
    }

    // A Python function from the committed tokens to drafted ids; None: the built-in drafters again.
    void set_drafter(nb::object drafter) {
        get();
        foreign_ = drafter;
        if (drafter.is_none()) return decoder_->set_foreign({});
        decoder_->set_foreign([this](const std::vector<int32_t>& history) {
            nb::gil_scoped_acquire gil;
            try {
                return nb::cast<std::vector<int32_t>>(foreign_(history));
            } catch (...) {  // a drafter that fails drafts nothing
                PyErr_Clear();
                return std::vector<int32_t>();
            }
        });
    }

    // Whether arg-max passes may read half of the output matrix where that decides (they do, unless
    // forbidden).
    void allow_screening(bool allowed) { get().allow_screening(allowed); }
    nb::dict screen_stats() {
        const ScreenStats& s = get().screen_stats();
        nb::dict out;
        out["passes"] = s.passes;
        out["full_passes"] = s.full_passes;
        out["groups"] = s.groups;
        out["survivors"] = s.survivors;
        nb::list by_survivors;
        for (const int64_t n : s.by_survivors) by_survivors.append(n);
        out["by_survivors"] = by_survivors;
        return out;
    }

    std::pair<int64_t, double> oracle(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source,
                                      const std::vector<int32_t>& answer) {
        get();
        const Decoder::Oracle found = decoder_->oracle(prompt, source, answer);
        return {found.passes, found.seconds};
    }

    nb::dict measure_costs(const std::vector<int32_t>& tokens) {
        PassCosts found;
        run([&](Engine& e) { return mtp::measure_costs(&e, tokens, &found); });
        nb::dict out;
        out["front"] = found.front;
        out["per_position"] = found.per_position;
        out["depth"] = found.depth;
        out["sound"] = found.sound;
        return out;
    }
    void set_costs(const std::vector<double>& front, const std::vector<double>& per_position, bool fixed,
                   double step) {
        get();
        if (front.size() != kMaxDecode || (!per_position.empty() && per_position.size() != kMaxDecode))
            must(Status::error(Code::bad_argument, "costs of 16 widths are needed"));
        for (const double c : front) {
            if (!(c > 0) || c > 1e6)
                must(Status::error(Code::bad_argument, "a cost must be a number above 0"));
        }
        for (const double c : per_position) {
            if (!(c >= 0) || c > 1e6)
                must(Status::error(Code::bad_argument, "the cost of a position must be 0 or above"));
        }
        decoder_->gate().set_costs(front, per_position, fixed, step);
    }
    double attended() {
        const int64_t length = get().length();
        return get().attended(length);
    }
    double pace() {
        get();
        return decoder_->gate().pace();
    }
    std::vector<double> costs() {
        get();
        return decoder_->gate().costs();
    }
    double step_cost() {
        get();
        return decoder_->gate().step_cost();
    }

    void rollback(int64_t length) { must(get().rollback(length)); }
    void abort() { get().abort(); }
    void close() {
        decoder_.reset();
        engine_.reset();
    }

    std::vector<int32_t> tokenize(nb::bytes text, bool bos, bool special) {
        std::vector<int32_t> out;
        must(get().tokenizer().encode({text.c_str(), text.size()}, bos, special, &out));
        return out;
    }
    nb::bytes piece(int32_t token) {
        const std::string text = get().tokenizer().piece(token);
        return nb::bytes(text.data(), text.size());
    }
    bool is_end(int32_t token) { return get().tokenizer().is_end(token); }
    nb::bytes chat_prompt(const std::vector<std::pair<nb::bytes, nb::bytes>>& messages) {
        std::vector<std::pair<std::string, std::string>> plain;
        for (const auto& [role, content] : messages) {
            plain.emplace_back(std::string(role.c_str(), role.size()),
                               std::string(content.c_str(), content.size()));
        }
        std::string out;
        must(get().tokenizer().chat_prompt(plain, true, &out));
        return nb::bytes(out.data(), out.size());
    }

    int64_t length() { return get().length(); }
    int64_t n_ctx() { return get().n_ctx(); }
    int n_threads() { return get().n_threads(); }
    int64_t cache_bytes() { return static_cast<int64_t>(get().cache_bytes()); }

    nb::dict info() {
        const Model& m = get().model();
        nb::dict out;
        out["architecture"] = nb::bytes(m.params.architecture.data(), m.params.architecture.size());
        out["name"] = nb::bytes(m.params.name.data(), m.params.name.size());
        out["file_bytes"] = m.file_bytes;
        out["parameters"] = m.n_parameters;
        out["n_layer"] = m.params.n_layer;
        out["n_embd"] = m.params.n_embd;
        out["n_vocab"] = m.params.n_vocab;
        out["n_ctx_train"] = m.params.n_ctx_train;
        nb::dict types;
        for (const auto& [name, bytes] : m.type_bytes) types[nb::str(name.c_str())] = bytes;
        out["weight_types"] = types;
        out["kernel"] = get().kernel_name();
        out["has_chat_template"] = get().tokenizer().has_chat_template();
        out["work"] = pass_work(m);
        return out;
    }

  private:
    // What a pass reads and multiplies: bytes of packed weights (once a pass), multiply-adds (a token), and
    // of attention the rows of a layer: n_head * head_dim queries, n_head_kv * head_dim keys (as many
    // values).
    static nb::dict pass_work(const Model& m) {
        int64_t bytes = 0, products = 0;
        int sliding = 0;
        for (const Layer& l : m.layers) {
            for (const PackedMatrix* w : {&l.q, &l.k, &l.v, &l.o, &l.gate, &l.up, &l.down}) {
                bytes += w->total_bytes();
                products += w->n_row * w->n_col;
            }
            sliding += l.sliding;
        }
        const PackedMatrix& o = m.output;
        const int64_t high = o.n_group * o.group_bytes, low = o.n_group * o.low_group_bytes();
        nb::dict out;
        out["layer_bytes"] = bytes;
        out["layer_products"] = products;
        out["output_bytes"] = high + low;
        out["screened_bytes"] = high + (o.has_residual ? o.n_group * o.residual_group_bytes() : low);
        out["output_products"] = o.n_row * o.n_col;
        out["vocabulary"] = o.n_row;
        out["query_width"] = m.params.n_head * m.params.head_dim;
        out["key_width"] = m.params.n_head_kv * m.params.head_dim;
        out["full_layers"] = m.params.n_layer - sliding;
        out["sliding_layers"] = sliding;
        out["window"] = m.params.window;
        return out;
    }

    Engine& get() {
        if (!engine_) must(Status::error(Code::bad_argument, "the engine is closed"));
        return *engine_;
    }
    template <class Fn> void run(Fn fn, PyProgress* progress = nullptr) {
        Engine& engine = get();
        Status status;
        {
            nb::gil_scoped_release nogil;
            SignalPoll signals;
            engine.set_interrupt([&] { return (progress && progress->failed()) || signals(); });
            status = fn(engine);
            engine.set_interrupt({});
        }
        if (progress && progress->failed()) throw nb::python_error();
        must(status);
    }

    static nb::dict step_dict(const Step& step) {
        nb::dict out;
        nb::list sources;
        for (const Source s : step.sources) sources.append(static_cast<int>(s));
        out["tokens"] = step.tokens;
        out["sources"] = sources;
        out["drafted"] = step.drafted;
        out["accepted"] = step.accepted;
        out["lenient"] = step.lenient;
        nb::list drafters;
        for (const Source s : step.draft_sources) drafters.append(static_cast<int>(s));
        out["draft_sources"] = drafters;
        out["asked"] = step.drafted_asked;
        out["head_steps"] = step.head_steps;
        out["head_seconds"] = step.head_seconds;
        out["finish"] = static_cast<int>(step.finish);
        out["seconds"] = step.seconds;
        return out;
    }

    std::unique_ptr<Engine> engine_;
    std::unique_ptr<Decoder> decoder_;
    nb::object foreign_ = nb::none();
};

// (tokens, kinds) of the copy guesses, one a token of prompt and answer
nb::tuple guesses(const std::vector<int32_t>& prompt, const std::vector<int32_t>& source,
                  const std::vector<int32_t>& answer) {
    const std::vector<Guess> found = copy_guesses(prompt, source, answer);
    Array<int32_t> tokens({found.size()}), kinds({found.size()});
    for (size_t i = 0; i < found.size(); i++) {
        tokens.data[i] = found[i].token;
        kinds.data[i] = found[i].kind;
    }
    return nb::make_tuple(tokens.take(), kinds.take());
}

// What a head file says about itself, without a model: {"backbone", "sources", "training": {...}}
nb::dict head_record(const std::string& path) {
    std::unique_ptr<GgufFile> file;
    must(GgufFile::open(path, &file));
    if (file->architecture() != "mtp-head")
        must(Status::error(Code::bad_file, path + ": is not a draft head (architecture mtp-head)"));
    static constexpr std::string_view prefix = "mtp-head.training.";
    nb::dict out, training;
    for (const auto& [key, value] : file->values()) {
        if (key.substr(0, prefix.size()) != prefix) continue;
        const nb::bytes name(key.data() + prefix.size(), key.size() - prefix.size());
        if (const auto text = file->string(key)) {
            training[name] = nb::bytes(text->data(), text->size());
        } else if (const auto whole = file->i64(key)) {
            training[name] = *whole;
        } else if (const auto number = file->f32(key)) {
            training[name] = *number;
        }
    }
    const auto owner = file->string("mtp-head.backbone.name").value_or("");
    out["backbone"] = nb::bytes(owner.data(), owner.size());
    out["sources"] = file->i32_array("mtp-head.sources").value_or(std::vector<int32_t>());
    out["training"] = training;
    out["file_bytes"] = file->file_bytes();
    return out;
}

nb::dict kernel_sets() {
    nb::dict out;
    nb::list usable, compiled, features;
    for (const KernelSet* set : kernel_sets_usable()) usable.append(set->name);
    for (const std::string& name : kernel_sets_compiled()) compiled.append(name.c_str());
    for (const std::string& name : cpu_features()) features.append(name.c_str());
    out["usable"] = usable;
    out["compiled"] = compiled;
    out["features"] = features;
    return out;
}

}  // namespace

NB_MODULE(_native, m) {
    error_type = PyErr_NewException("mtp_cli._native.Error", PyExc_RuntimeError, nullptr);
    m.attr("Error") = nb::handle(error_type);
    m.attr("MAX_WIDTH") = kMaxDecode;
    m.def("kernel_sets", &kernel_sets,
          "Kernel sets of this build and CPU: compiled, usable (best first), features.");
    m.def("head_record", &head_record, nb::arg("path"));
    m.def("copy_guesses", &guesses, nb::arg("prompt"), nb::arg("source"), nb::arg("answer"));
    nb::class_<PyEngine>(m, "Engine")
        .def(nb::init<const std::string&, int64_t, int, const std::string&, nb::object>(), nb::arg("path"),
             nb::arg("n_ctx"), nb::arg("n_threads"), nb::arg("kernel"), nb::arg("progress").none())
        .def("prefill", &PyEngine::prefill, nb::arg("tokens"), nb::arg("progress").none())
        .def("decode", &PyEngine::decode, nb::arg("tokens"))
        .def("logits", &PyEngine::logits, nb::arg("tokens"))
        .def("capture", &PyEngine::capture, nb::arg("tokens"), nb::arg("layers"))
        .def("read_cache", &PyEngine::read_cache, nb::arg("layer"), nb::arg("begin"), nb::arg("end"))
        .def("open_head", &PyEngine::open_head, nb::arg("path"))
        .def("head_info", &PyEngine::head_info)
        .def("head_chain", &PyEngine::head_chain, nb::arg("row"), nb::arg("token"), nb::arg("guesses"),
             nb::arg("vocabulary"), nb::arg("forced"))
        .def("head_outlook", &PyEngine::head_outlook, nb::arg("row"), nb::arg("token"), nb::arg("guess"),
             nb::arg("kind"))
        .def("fingerprint", &PyEngine::fingerprint)
        .def("hidden", &PyEngine::hidden, nb::arg("rows"))
        .def("start", &PyEngine::start, nb::arg("prompt"), nb::arg("source"), nb::arg("options"))
        .def("step", &PyEngine::step)
        .def("set_drafter", &PyEngine::set_drafter, nb::arg("drafter").none())
        .def("allow_screening", &PyEngine::allow_screening, nb::arg("allowed"))
        .def("candidates", &PyEngine::candidates, nb::arg("tokens"), nb::arg("top_k") = 0,
             nb::arg("min_p") = 0.0f)
        .def("screen_stats", &PyEngine::screen_stats)
        .def("oracle", &PyEngine::oracle, nb::arg("prompt"), nb::arg("source"), nb::arg("answer"))
        .def("measure_costs", &PyEngine::measure_costs, nb::arg("tokens"))
        .def("set_costs", &PyEngine::set_costs, nb::arg("front"),
             nb::arg("per_position") = std::vector<double>(), nb::arg("fixed") = false, nb::arg("step") = 0.0)
        .def("attended", &PyEngine::attended)
        .def("pace", &PyEngine::pace)
        .def("costs", &PyEngine::costs)
        .def("step_cost", &PyEngine::step_cost)
        .def("rollback", &PyEngine::rollback, nb::arg("length"))
        .def("abort", &PyEngine::abort)
        .def("close", &PyEngine::close)
        .def("tokenize", &PyEngine::tokenize, nb::arg("text"), nb::arg("bos"), nb::arg("special"))
        .def("piece", &PyEngine::piece, nb::arg("token"))
        .def("is_end", &PyEngine::is_end, nb::arg("token"))
        .def("chat_prompt", &PyEngine::chat_prompt, nb::arg("messages"))
        .def("info", &PyEngine::info)
        .def_prop_ro("length", &PyEngine::length)
        .def_prop_ro("n_ctx", &PyEngine::n_ctx)
        .def_prop_ro("n_threads", &PyEngine::n_threads)
        .def_prop_ro("cache_bytes", &PyEngine::cache_bytes);
}
