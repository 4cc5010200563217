#include "tests/emulated_cuda/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <stdexcept>

namespace cairn::emulated_cuda {

namespace {

/// The text with comments and string literals blanked, so that positions stay the same.
std::string code_of(const std::string& text) {
    std::string code = text;
    const auto blank = [&](std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < std::min(end, code.size()); ++i)
            if (code[i] != '\n') code[i] = ' ';
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t end = i;
        if (text.compare(i, 2, "//") == 0) {
            end = std::min(text.find('\n', i), text.size());
        } else if (text.compare(i, 2, "/*") == 0) {
            end = std::min(text.find("*/", i), text.size() - 2) + 2;
        } else if (text.compare(i, 3, "\"C\"") == 0) {
            i += 2;
            continue;
        } else if (text[i] == '"') {
            for (end = i + 1; end < text.size() && text[end] != '"'; ++end)
                if (text[end] == '\\') ++end;
            ++end;
        }
        if (end == i) continue;
        blank(i, end);
        i = end - 1;
    }
    return code;
}

/// Whether the braces before a position are open, besides those of namespaces and extern "C".
bool is_in_function(const std::string& code, std::size_t position) {
    return std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(position), '{') >
           std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(position), '}');
}

std::string host_declaration(const std::smatch& match) {
    const std::string alignment = match[2].matched ? match[2].str() : match[3].str();
    const std::string type = match[4], name = match[5], extents = match[6];
    if (match[1].matched)
        return fmt::format("{0}* const {1} = ::cairn::emulated_cuda::dynamic_shared<{0}>();", type, name);
    return fmt::format(
        "static char {0}_key = 0; using {0}_type = {1}{2}; {0}_type& {0} = "
        "::cairn::emulated_cuda::shared_variable<{0}_type>(&{0}_key, \"{0}\", {3});",
        name, type, extents, alignment.empty() ? fmt::format("alignof({}_type)", name) : alignment);
}

}  // namespace

HostText host_text(const std::string& kernel_text) {
    static const std::regex shared(R"((extern\s+)?__shared__[^;]*;)");
    static const std::regex declaration(
        R"((extern\s+)?__shared__\s+(?:__align__\(([^)]*)\)\s*|alignas\(([^)]*)\)\s*)?)"
        R"(([\w:]+(?:\s+(?:int|char|long|short))*(?:<[^;]*>)?(?:\s*\*)*)\s*(\w+)\s*((?:\[[^\]]*\]\s*)*);)");
    static const std::regex entry(
        R"re(extern\s+"C"\s+__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\()re");

    HostText result;
    const std::string code = code_of(kernel_text);
    std::size_t copied = 0;
    for (std::sregex_iterator at(code.begin(), code.end(), shared), end; at != end; ++at) {
        const auto position = static_cast<std::size_t>(at->position());
        const std::string statement = at->str();
        std::smatch match;
        if (!std::regex_match(statement, match, declaration) || !is_in_function(code, position))
            throw std::invalid_argument(fmt::format(
                "line {}: expected `[extern] __shared__ [__align__(n)] type name[extents];` in a function, found `{}`",
                1 + std::count(code.begin(), code.begin() + at->position(), '\n'), statement));
        result.text +=
            kernel_text.substr(copied, position - copied) + host_declaration(match) +
            std::string(static_cast<std::size_t>(std::count(statement.begin(), statement.end(), '\n')), '\n');
        copied = position + statement.size();
    }
    result.text += kernel_text.substr(copied);
    for (std::sregex_iterator at(code.begin(), code.end(), entry), end; at != end; ++at)
        result.entries.push_back((*at)[1]);
    return result;
}

}  // namespace cairn::emulated_cuda
