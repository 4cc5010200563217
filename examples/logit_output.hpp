#pragma once

#include <span>
#include <string>
#include <string_view>

/// What the model examples do with logits.
namespace logit_output {

/// Throws cairn::Error(file), in the name of `program`, where one is no finite number.
void check_finite(std::string_view program, std::span<const float> row);

/// Nine digits: a float's worth.
std::string number(double value);

/// `[1.5, -2]`
std::string row_text(std::span<const float> row);

}  // namespace logit_output
