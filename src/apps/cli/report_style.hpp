#pragma once

#include <string_view>

namespace cairn::cli {

/// The style sheet of a report: its colours, for light and dark screens, and the classes that charts name.
std::string_view report_style();

/// The class in which a definition is coloured: `product`, `attention`, `rows`, `pointwise`, `moves`.
std::string_view style_of(std::string_view definition);
/// All of them, and what they stand for.
struct StyleMeaning {
    std::string_view style, meaning;
};
inline constexpr StyleMeaning style_meanings[] = {{"product", "products"},
                                                  {"attention", "attention"},
                                                  {"rows", "rows: norms, softmax, sums"},
                                                  {"pointwise", "elementwise"},
                                                  {"moves", "copies, gathers, packing"}};

}  // namespace cairn::cli
