#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::cli {

/// With `&`, `<`, `>` and `"` as entities, and no control characters.
std::string escaped(std::string_view text);
/// Of longer texts the beginning and an ellipsis, `most` characters in all. Cuts no character in two.
std::string shortened(std::string_view text, std::size_t most);

/// A drawing, written element by element. Colours come by the class names of report_style(); sizes are in pixels.
/// Texts and titles are escaped; a title shows where the pointer rests.
class Svg {
public:
    /// `label` tells what is seen to those who do not see it.
    Svg(double width, double height, std::string_view label);

    void rect(double x, double y, double width, double height, std::string_view style, std::string_view title = {});
    void line(double x1, double y1, double x2, double y2, std::string_view style);
    /// `d` as SVG has it: `M 0 0 L 10 10`.
    void path(std::string_view d, std::string_view style, std::string_view title = {});
    /// Its baseline begins at (x, y); a class may say otherwise (`end`, `middle`).
    void text(double x, double y, std::string_view content, std::string_view style, std::string_view title = {});
    /// The element, whole.
    std::string finish() &&;

private:
    std::string text_;
};

}  // namespace cairn::cli
