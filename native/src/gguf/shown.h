// Text from a file, fit for a one-line message: printable ASCII in quotes, cut when long.
#pragma once

#include <string>
#include <string_view>

namespace mtp {

inline std::string shown(std::string_view text) {
    std::string out = "\"";
    for (char c : text.substr(0, 64)) out += (c >= 0x20 && c < 0x7f) ? c : '?';
    return out + (text.size() > 64 ? "...\"" : "\"");
}

}  // namespace mtp
