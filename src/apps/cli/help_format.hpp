#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace cairn::cli {

/// Help as a page: how it is called, what it is for, options by group with their defaults, commands, examples. No line
/// is longer than 100 columns but what is written as it is in a footer.
class HelpFormat : public CLI::Formatter {
public:
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace cairn::cli
