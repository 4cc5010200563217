#pragma once

#include <string_view>

namespace cairn::cli {

/// The style sheet of a report: colours for light and dark screens, and the classes that charts use.
std::string_view report_style();

/// The class that determines the colour of a definition: `product`, `attention`, `rows`, `pointwise`, `moves`.
std::string_view style_of(std::string_view definition);
/// A class and its description in the legend.
struct StyleLegend {
    std::string_view style, meaning;
};
inline constexpr StyleLegend style_legend[] = {{"product", "products"},
                                               {"attention", "attention"},
                                               {"rows", "rows: norms, softmax, sums"},
                                               {"pointwise", "elementwise"},
                                               {"moves", "copies, gathers, packing"}};

}  // namespace cairn::cli
