#pragma once

#include "cairn/composites.hpp"

#include <functional>
#include <string>

/// How programs and published models write composites by hand, on operands named after their letters.
namespace cairn::test {

using HandWrittenExpression = std::function<Tensor(Graph&)>;

/// A tile of `definition` is found in the spelling, and all tiles compute what they should.
void expect_match(const std::string& definition, const std::string& name, const HandWrittenExpression& build);
/// None is found at the result, and the reason given for it contains `reason`.
void expect_refused(const std::string& definition, const std::string& name, const std::string& reason,
                    const HandWrittenExpression& build);

}  // namespace cairn::test
