#include "io/mapped_file/file_error.hpp"

namespace cairn::files {

Error file_error(std::string_view format, std::string_view file, std::string_view what) {
    return Error(ErrorKind::file, format, std::string(file) + ": " + std::string(what));
}

std::string printable(std::string_view text) {
    constexpr std::size_t longest = 80;
    std::string result = "'";
    for (const char c : text.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '?';
    return result + (text.size() > longest ? "...'" : "'");
}

}  // namespace cairn::files
