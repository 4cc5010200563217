#pragma once

#include "cairn/kernel.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The Problems on which a kernel is checked: its samples, and Problems derived from them.
namespace cairn::kernel_check {

/// A Problem (with symbols) and the values that its symbols take in turn.
struct Variation {
    std::string what;  ///< `sample`, `padded rows`, ...
    Problem problem;
    std::vector<std::vector<std::int64_t>> sizes;
};

/// The sample, then the sample with other strides and dtypes as far as the kernel accepts them.
std::vector<Variation> variations_of(const Kernel& kernel, const std::string& sample,
                                     const std::shared_ptr<Symbols>& symbols);

/// Sizes within the bounds of a variation's symbols at which accepts() is called again: those the kernel runs at, and
/// the smallest ones, where kernels switch between algorithms.
std::vector<std::vector<std::int64_t>> sizes_within(const Variation& variation);

}  // namespace cairn::kernel_check
