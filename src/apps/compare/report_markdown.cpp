#include "apps/compare/report_cells.hpp"

#include <fmt/format.h>

namespace cairn::compare {
namespace {

/// A text in a cell: a bar would end it.
std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '|') result += '\\';
        result += c == '\n' ? ' ' : c;
    }
    return result;
}

std::string table_of(const Cells& cells) {
    if (cells.rows.empty()) return {};
    const auto line = [](const std::vector<std::string>& row) {
        std::string text = "|";
        for (const std::string& cell : row) text += ' ' + escaped(cell) + " |";
        return text + '\n';
    };
    std::string text = line(cells.names) + '|';
    for (std::size_t c = 0; c < cells.names.size(); ++c) text += c < cells.texts ? "---|" : "---:|";
    text += '\n';
    for (const auto& row : cells.rows) text += line(row);
    return text + '\n';
}

std::string digests_text(const Report& report) {
    std::string text = fmt::format("- data: `{}`\n", report.data_sha256);
    for (const ReportedImplementation& each : report.implementations)
        if (!each.model_sha256.empty())
            text += fmt::format("- model of {}: `{}`\n", escaped(each.settings.name), each.model_sha256);
    return text;
}

}  // namespace

std::string markdown_of(const Report& report) {
    std::string text = fmt::format("# {}\n\n", escaped(report.title));
    for (const auto& sentence : settings_sentences(report)) text += escaped(sentence) + '\n';
    text += '\n' + table_of(times_cells(report)) + table_of(implementation_cells(report)) +
            table_of(agreement_cells(report));
    for (const auto& sentence : failure_sentences(report)) text += "- " + escaped(sentence) + '\n';
    if (!failure_sentences(report).empty()) text += '\n';
    for (const auto& sentence : machine_sentences(report)) text += escaped(sentence) + '\n';
    return text + "\nSHA-256:\n\n" + digests_text(report);
}

}  // namespace cairn::compare
