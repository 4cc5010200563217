#pragma once

#include "cairn/kernel.hpp"
#include "cairn/timing_db.hpp"
#include "device/cpu/thread_pool.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Kernels that state an error are held to it.
namespace cairn::autotune {

/// What is run and compared to learn the error at some sizes: the problem at these, or, where the float64 reference
/// would take long, at smaller ones within the bounds of its symbols. Nothing where it cannot be compared: it would
/// take long at any sizes, or an operand is in a form that nobody can read.
std::optional<Problem> comparison_problem(const Kernel& kernel, const Problem& problem, std::vector<std::int64_t> sizes,
                                          std::span<const Definition> definitions);

/// Runs a kernel on such a problem and compares it. One that throws, or touches what it may not, is as wrong as can be.
ErrorMeasurement measure_error(const Kernel& kernel, const Problem& compared, double promised,
                               std::span<const Definition> definitions, device::ThreadPool& pool);

}  // namespace cairn::autotune
