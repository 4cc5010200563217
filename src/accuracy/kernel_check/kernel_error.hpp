#pragma once

#include "accuracy/metric/error_norms.hpp"
#include "cairn/kernel.hpp"
#include "device/backend.hpp"
#include "graph/interpreter/interpreter.hpp"

#include <span>

/// Errors of kernels against the float64 reference.
namespace cairn::kernel_check {

using accuracy::ErrorNorms;

/// The norms of results against the reference. Infinite if shape, dtype or an integer differs, or if one number is NaN
/// or infinite and the other is not; an infinity in place of a number beyond the dtype's range is no error.
ErrorNorms error_norms(const interpreter::Value& got, const interpreter::Value& wanted);

/// False if an operand has a layout that is unknown here.
bool is_comparable(const Problem& problem);

/// Runs a kernel once on random operands, with all threads of the backend, and compares it with its definition: the
/// largest of each norm over its outputs. `problem` has constant sizes, is accepted and is_comparable(). Rethrows what
/// the kernel throws; throws InternalError if it fails, or writes out of bounds, and what compile_kernels() throws.
ErrorNorms error_norms(const Kernel& kernel, const Problem& problem, std::span<const Definition> definitions,
                       device::Backend& backend);

/// Number of operations (products, sums and others) that the reference needs for a Problem of constant sizes.
double reference_operation_count(const Problem& problem, std::span<const Definition> definitions);

/// Halves the value of each symbol, within its bounds; false if nothing changed.
bool halve(std::vector<std::int64_t>& sizes, std::span<const Symbols::Symbol> symbols);

}  // namespace cairn::kernel_check
