#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace cairn::console {

/// Help as a page: usage, purpose, options by group with their defaults, commands, examples. Lines have at most 100
/// columns, except in footers, which are printed unchanged.
class HelpFormat : public CLI::Formatter {
public:
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace cairn::console
