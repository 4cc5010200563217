#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// Patterns on the command line: `*` is any text and `?` any character.
namespace cairn::cli {

bool matches(std::string_view pattern, std::string_view text);

/// What is wrong with a pattern; empty where nothing is.
std::string fault_of_pattern(const std::string& pattern);

/// An option, or without dashes something given, that takes a pattern.
CLI::Option* add_pattern(CLI::App& app, const std::string& name, std::string& pattern, const std::string& help);

}  // namespace cairn::cli
