#include "runtime/digest_line.hpp"

#include "cairn/problem.hpp"

#include <algorithm>

namespace cairn::runtime {
namespace {

constexpr std::string_view digest_headline = "# digest ", next_digest_headline = "\n# digest ";

std::string digest_line(std::string_view text) { return std::string(digest_headline) + to_string(digest(text)) + '\n'; }

}  // namespace

std::string with_digest_line(std::string text) {
    text += digest_line(text);
    return text;
}

bool has_valid_digest(std::string_view text) {
    const std::size_t tail = text.rfind(digest_headline);
    return tail != std::string_view::npos && text.substr(tail) == digest_line(text.substr(0, tail));
}

std::size_t end_of_digest_line(std::string_view text) {
    const std::size_t line = text.find(next_digest_headline);
    if (line == std::string_view::npos) return text.size();
    const std::size_t end = text.find('\n', line + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
}

std::string_view without_digest_line(std::string_view text) {
    return text.substr(0, std::min(text.rfind(digest_headline), text.size()));
}

}  // namespace cairn::runtime
