#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// Patterns on the command line: `*` matches any text and `?` any character.
namespace cairn::cli {

bool glob_matches(std::string_view pattern, std::string_view text);

/// Describes what is wrong with a pattern; empty if it is valid.
std::string glob_error(const std::string& pattern);

/// Adds an option, or an argument if its name has no dashes, that takes a pattern.
CLI::Option* add_glob_option(CLI::App& app, const std::string& name, std::string& pattern, const std::string& help);

}  // namespace cairn::cli
