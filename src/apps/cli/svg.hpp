#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::cli {

/// Replaces `&`, `<`, `>` and `"` with entities, and control characters other than newlines with spaces.
std::string escaped(std::string_view text);
/// Shortens a text to at most `most` characters, the last one an ellipsis. Does not split characters.
std::string shortened(std::string_view text, std::size_t most);

/// An SVG drawing, written element by element. Styles are class names of report_style(); sizes are in pixels. Texts and
/// titles are escaped; a title is shown as a tooltip.
class Svg {
public:
    /// `label` is a description for screen readers.
    Svg(double width, double height, std::string_view label);

    void rect(double x, double y, double width, double height, std::string_view style, std::string_view title = {});
    void line(double x1, double y1, double x2, double y2, std::string_view style);
    /// `d` in SVG path syntax: `M 0 0 L 10 10`.
    void path(std::string_view d, std::string_view style, std::string_view title = {});
    /// The baseline begins at (x, y), unless the class has another anchor (`end`, `middle`).
    void text(double x, double y, std::string_view content, std::string_view style, std::string_view title = {});
    /// The complete element.
    std::string finish() &&;

private:
    std::string text_;
};

}  // namespace cairn::cli
