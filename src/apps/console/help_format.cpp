#include "apps/console/help_format.hpp"

#include <fmt/format.h>

#include <sstream>

namespace cairn::console {
namespace {

constexpr std::size_t left_width = 22, page_width = 100;

/// `  --db FILE             the timing database`, with the text wrapped in the right column.
std::string entry(const std::string& name, const std::string& words) {
    std::string text = fmt::format("  {:<{}}", name, left_width), word;
    if (name.size() >= left_width) text += '\n' + std::string(left_width + 2, ' ');
    std::size_t column = left_width + 2;
    bool is_first = true;
    for (std::istringstream stream(words); stream >> word; is_first = false) {
        if (!is_first && column + 1 + word.size() > page_width) {
            text += '\n' + std::string(left_width + 2, ' ');
            column = left_width + 2;
        } else if (!is_first) {
            text += ' ';
            ++column;
        }
        text += word;
        column += word.size();
    }
    return text + '\n';
}

std::string option_entry(const CLI::Option& option) {
    std::string name = option.get_positional() ? "" : option.get_name(false, true);
    if (option.get_type_size() != 0) name += (name.empty() ? "" : " ") + option.get_option_text();
    const std::string value = option.get_default_str();
    return entry(name, option.get_description() + (value.empty() ? "" : fmt::format(" (default: {})", value)));
}

std::string usage(const CLI::App& app) {
    std::string text;
    for (const CLI::App* each = &app; each != nullptr; each = each->get_parent())
        text = each->get_name() + (text.empty() ? "" : " ") + text;
    if (!app.get_subcommands({}).empty()) text += " COMMAND";
    for (const CLI::Option* option : app.get_options([](const CLI::Option* each) { return each->get_positional(); }))
        text += fmt::format(" {}{}{}", option->get_required() ? "" : "[", option->get_option_text(),
                            option->get_required() ? "" : "]");
    return "Usage: " + text + " [OPTIONS]\n";
}

}  // namespace

std::string HelpFormat::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
    std::string text = usage(*app) + '\n' + app->get_description() + '\n';
    const auto add = [&](const std::string& title, const std::string& entries) {
        if (!entries.empty()) text += fmt::format("\n{}:\n{}", title, entries);
    };
    std::string commands, given;
    for (const CLI::App* each : app->get_subcommands({})) commands += entry(each->get_name(), each->get_description());
    add("Commands", commands);
    for (const CLI::Option* each : app->get_options([](const CLI::Option* option) { return option->get_positional(); }))
        given += option_entry(*each);
    add("What is given", given);
    for (const std::string& group : app->get_groups()) {
        std::string entries;
        for (const CLI::Option* each : app->get_options(
                 [&](const CLI::Option* option) { return option->get_group() == group && option->nonpositional(); }))
            entries += option_entry(*each);
        add(group, entries);
    }
    return text + (app->get_footer().empty() ? "" : "\n" + app->get_footer() + '\n');
}

}  // namespace cairn::console
