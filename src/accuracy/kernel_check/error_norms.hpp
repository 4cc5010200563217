#pragma once

#include "cairn/kernel.hpp"
#include "device/cpu/thread_pool.hpp"
#include "graph/interpreter/interpreter.hpp"

#include <span>

/// How far results lie from the float64 reference, as errors are promised and tolerated.
namespace cairn::kernel_check {

/// Both infinite where an integer differs, or one is NaN or infinite and the other is not.
struct ErrorNorms {
    double relative = 0;  ///< L2 of y - r by L2 of r
    double largest = 0;   ///< the largest |y - r| / max(|r|, RMS r)
    /// As Kernel::error and Tolerance count.
    double combined() const noexcept { return relative > largest / 10 ? relative : largest / 10; }
};

ErrorNorms error_norms(const interpreter::Value& got, const interpreter::Value& wanted);

/// False of what packs, or has an operand in a layout that is not known here.
bool is_comparable(const Kernel& kernel, const Problem& problem);

/// Runs a kernel once on random operands, with all members of the pool, and compares it with its definition: of each
/// figure the largest among its outputs. `problem` has constant sizes, is accepted and can be compared. What the kernel
/// throws comes out; InternalError where it fails, or writes where it may not.
ErrorNorms error_norms(const Kernel& kernel, const Problem& problem, std::span<const Definition> definitions,
                       device::ThreadPool& pool);

/// The products, sums and other steps that the reference takes for a Problem of constant sizes.
double reference_operation_count(const Problem& problem, std::span<const Definition> definitions);

/// Each symbol at half of its value, as far as its bounds allow; false where nothing changed.
bool halve(std::vector<std::int64_t>& sizes, std::span<const Symbols::Symbol> symbols);

}  // namespace cairn::kernel_check
