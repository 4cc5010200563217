#include "apps/cli/svg.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cairn::cli {
namespace {

/// Rounds to a tenth of a pixel.
double rounded(double pixels) { return std::round(pixels * 10) / 10; }

std::string title_element(std::string_view title) {
    return title.empty() ? "" : fmt::format("<title>{}</title>", escaped(title));
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '&': safe += "&amp;"; break;
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            case '"': safe += "&quot;"; break;
            default: safe += static_cast<unsigned char>(c) < ' ' && c != '\n' ? ' ' : c;
        }
    }
    return safe;
}

std::string shortened(std::string_view text, std::size_t most) {
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
    std::size_t count = 0, cut = text.size();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!begins(text[i])) continue;
        if (++count == most) cut = i;  // position of the ellipsis
    }
    return count <= most ? std::string(text) : std::string(text.substr(0, cut)) + "…";
}

Svg::Svg(double width, double height, std::string_view label)
    : text_(
          fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                      "role=\"img\" aria-label=\"{2}\">\n",
                      rounded(width), rounded(height), escaped(label))) {}

void Svg::rect(double x, double y, double width, double height, std::string_view style, std::string_view title) {
    text_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\">{}</rect>\n", rounded(x),
                         rounded(y), rounded(width), rounded(height), style, title_element(title));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
    text_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", rounded(x1), rounded(y1),
                         rounded(x2), rounded(y2), style);
}

void Svg::path(std::string_view d, std::string_view style, std::string_view title) {
    text_ += fmt::format("<path d=\"{}\" class=\"{}\">{}</path>\n", d, style, title_element(title));
}

void Svg::text(double x, double y, std::string_view content, std::string_view style, std::string_view title) {
    text_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}{}</text>\n", rounded(x), rounded(y), style,
                         escaped(content), title_element(title));
}

std::string Svg::finish() && { return std::move(text_) + "</svg>\n"; }

}  // namespace cairn::cli
