#pragma once

#include "cairn/kernels.hpp"

#include <string>

namespace cairn::test {

/// The problem parsed from `text`, with symbols of its own.
inline Problem problem(const std::string& text = "matmul | f32[4,8] f32[8,2] -> f32[4,2]") {
    auto symbols = Symbols::create();
    return parse_problem(text, *symbols);
}

}  // namespace cairn::test
