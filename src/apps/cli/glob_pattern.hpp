#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// Patterns on the command line: `*` is any text and `?` any character.
namespace cairn::cli {

bool glob_matches(std::string_view pattern, std::string_view text);

/// What is wrong with a pattern; empty where nothing is.
std::string glob_error(const std::string& pattern);

/// An option, or without dashes something given, that takes a pattern.
CLI::Option* add_glob_option(CLI::App& app, const std::string& name, std::string& pattern, const std::string& help);

}  // namespace cairn::cli
