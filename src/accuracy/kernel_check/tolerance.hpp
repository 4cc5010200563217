#pragma once

#include "cairn/kernel.hpp"
#include "graph/interpreter/interpreter.hpp"

#include <span>
#include <string>
#include <vector>

/// How far a kernel may be from the float64 reference.
namespace cairn::kernel_check {

/// What happened at one Problem: operands as the oracle saw them, and what it gave.
struct Expected {
    std::vector<interpreter::Value> inputs, outputs;
};

/// Computes a Problem of constant sizes by its definition.
Expected evaluate_definition(const Problem& problem, std::span<const Definition> definitions,
                             std::vector<interpreter::Value> inputs);

/// The allowed |y - r| of each element of output `output`:
/// * products and sums: (terms + 16) eps sum |terms|, the sum computed in float64 over the absolute values of the
///   operands (a gate behind it has a slope below 1.13), and 8 eps |r|;
/// * everything else: 16 eps |r| for one op, 64 eps (|r| + RMS of the output) for a composite, plus the smallest normal
///   number; eps is that of the output's dtype, or of the coarsest float operand. Integers and booleans: 0. What goes
///   on from a product in `fused` may besides be as far off as what it makes of one that is as far off as that may be.
/// Infinite where a gated product is not finite: a gate that is all but 0 is 0 in one dtype, and 0 * inf is NaN.
std::vector<double> allowed_errors(const Problem& problem, std::span<const Definition> definitions,
                                   const Expected& expected, std::size_t output);

/// The first element beyond its allowance, in words; empty when all are within. NaN must be NaN and infinity infinity,
/// unless the allowance is infinite: then either will do.
std::string first_difference(const interpreter::Value& got, const interpreter::Value& wanted,
                             const std::vector<double>& allowed);

/// True where a number rounds to infinity in a dtype, or nearly does.
bool is_too_large(double number, DType dtype);
/// True where y is the infinity that a dtype has in place of r.
bool is_overflow(double y, double r, DType dtype);

/// True of what a kernel may promise as its error: 0 or a finite number above.
bool is_valid_error_bound(double error);

}  // namespace cairn::kernel_check
