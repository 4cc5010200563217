#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cairn::bench {

/// A Problem as text, and operations for each element of its largest operand, multiply-adds counting two, where bytes
/// alone do not say what it costs; none: as many as the kernel counts.
struct SweepProblem {
    std::string group, problem;
    std::optional<double> flops = 0;
};

/// What a CPU does that is neither a product nor attention: reductions and norms over every axis, casts, functions of
/// elements, movement, pooling.
std::vector<SweepProblem> sweep_problems();

}  // namespace cairn::bench
