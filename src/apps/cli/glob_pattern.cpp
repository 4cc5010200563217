#include "apps/cli/glob_pattern.hpp"

#include "cairn/timing_db.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace cairn::cli {

bool glob_matches(std::string_view pattern, std::string_view text) {
    return KernelRule{std::string(pattern)}.covers(text, {});
}

std::string glob_error(const std::string& pattern) {
    if (pattern.empty()) return "a pattern is empty: * is any text";
    const bool is_text =
        std::none_of(pattern.begin(), pattern.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
    return is_text ? "" : "a pattern is one line of text";
}

CLI::Option* add_glob_option(CLI::App& app, const std::string& name, std::string& pattern, const std::string& help) {
    return app.add_option(name, pattern, help)->check(glob_error)->option_text("PATTERN");
}

}  // namespace cairn::cli
