#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cairn::bench {

/// A Problem as text, its group, and the flops per element of its first input, or of its first output if it has no
/// inputs; a multiply-add counts as two. 0: bytes alone determine the limit. nullopt: the flops of the kernel's cost
/// function.
struct SweepProblem {
    std::string group, problem;
    std::optional<double> flops = 0;
};

/// Problems other than products and attention: reductions and norms over every axis, casts, elementwise functions, data
/// movement, pooling.
std::vector<SweepProblem> sweep_problems();

}  // namespace cairn::bench
