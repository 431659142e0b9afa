// Result of an operation that user input can make fail. Native code returns it up to bind.cpp, which
// turns it into a Python exception; nothing below throws for bad input or aborts.
#pragma once

#include <string>
#include <utility>

namespace mtp {

enum class Code { ok, bad_file, unsupported, bad_argument, context_full, aborted, out_of_memory, internal };

struct [[nodiscard]] Status {
    Code code = Code::ok;
    std::string message;  // one line for a person

    bool ok() const { return code == Code::ok; }
    static Status error(Code code, std::string message) { return {code, std::move(message)}; }
};

}  // namespace mtp
