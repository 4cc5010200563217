#pragma once

#include "cairn/composites.hpp"

#include <functional>
#include <string>

/// Hand-written expressions of composites, from programs and published models, on operands named by letters.
namespace cairn::test {

using HandWrittenExpression = std::function<Tensor(Graph&)>;

/// Expects a match of `definition` for the expression, and that all matches compute the right values.
void expect_match(const std::string& definition, const std::string& name, const HandWrittenExpression& build);
/// Expects no match at the result, and a reason that contains `reason`.
void expect_refused(const std::string& definition, const std::string& name, const std::string& reason,
                    const HandWrittenExpression& build);

}  // namespace cairn::test
