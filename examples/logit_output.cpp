#include "examples/logit_output.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace logit_output {

void check_finite(std::string_view program, std::span<const float> row) {
    if (!std::all_of(row.begin(), row.end(), [](float logit) { return std::isfinite(logit); }))
        throw cairn::Error(cairn::ErrorKind::file, program, "a logit is not finite: the weights are damaged");
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

std::string row_text(std::span<const float> row) {
    std::string text = "[";
    for (const float value : row) text += (text.size() == 1 ? "" : ", ") + number(static_cast<double>(value));
    return text + "]";
}

}  // namespace logit_output
