#include "apps/compare/report_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::compare {
namespace {

/// Code points, which is the width of most texts.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool is_text) {
    const std::string space(width - width_of(text), ' ');
    return is_text ? text + space : space + text;
}

std::string aligned(const Cells& cells) {
    if (cells.rows.empty()) return {};
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < cells.names.size(); ++c) {
        widths.push_back(width_of(cells.names[c]));
        for (const auto& row : cells.rows) widths[c] = std::max(widths[c], width_of(row[c]));
    }
    const auto line = [&](const std::vector<std::string>& row) {
        std::string text;
        for (std::size_t c = 0; c < row.size(); ++c)
            text += (c == 0 ? "" : "  ") + padded(row[c], widths[c], c < cells.texts);
        return text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
    };
    std::string text = line(cells.names);
    for (const auto& row : cells.rows) text += line(row);
    return text + '\n';
}

}  // namespace

std::string text_of(const Report& report) {
    std::string text = report.title + "\n";
    for (const auto& sentence : settings_sentences(report)) text += sentence + '\n';
    for (const auto& sentence : machine_sentences(report)) text += sentence + '\n';
    text +=
        '\n' + aligned(times_cells(report)) + aligned(implementation_cells(report)) + aligned(agreement_cells(report));
    for (const auto& sentence : failure_sentences(report)) text += sentence + '\n';
    return text;
}

}  // namespace cairn::compare
