#pragma once

#include <span>
#include <string>
#include <string_view>

/// Checks and prints logits; shared by the model examples.
namespace logit_output {

/// Throws cairn::Error(file) with `program` as its part if a logit is NaN or infinite.
void check_finite(std::string_view program, std::span<const float> row);

/// Nine significant digits, which identify every float.
std::string number(double value);

/// A JSON array: `[1.5, -2]`.
std::string row_text(std::span<const float> row);

}  // namespace logit_output
