#pragma once

#include "cairn/kernel.hpp"
#include "cairn/timing_db.hpp"
#include "device/backend.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Measures the errors of kernels that state one, to check the statement.
namespace cairn::kernel_check {

/// The problem that is run to measure the error at some sizes: the given one, or one with smaller sizes within the
/// bounds of its symbols if the float64 reference would take long. Nothing if it cannot be compared: the reference
/// would take long at any sizes, or an operand has a layout that cannot be read.
std::optional<Problem> comparison_problem(const Problem& problem, std::vector<std::int64_t> sizes,
                                          std::span<const Definition> definitions);

/// Runs a kernel on such a problem, on the device of the backend, and compares the results with the reference. The
/// error is infinite if the kernel throws, has code that does not compile, or touches memory it must not; a device that
/// it makes unusable (Backend::is_lost) is among that. Throws Error(memory) if there is no memory for the comparison,
/// which says nothing about the kernel.
ErrorMeasurement measure_error(const Kernel& kernel, const Problem& compared, double promised,
                               std::span<const Definition> definitions, device::Backend& backend);

}  // namespace cairn::kernel_check
