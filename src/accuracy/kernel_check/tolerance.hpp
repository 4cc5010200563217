#pragma once

#include "cairn/kernel.hpp"
#include "graph/interpreter/interpreter.hpp"

#include <span>
#include <string>
#include <vector>

/// Tolerances of kernels relative to the float64 reference.
namespace cairn::kernel_check {

/// Reference results of one Problem: the operands given to the oracle, and its results.
struct Expected {
    std::vector<interpreter::Value> inputs, outputs;
};

/// Evaluates a Problem of constant sizes by its definition; interpreter::interpret() describes `rounding`.
Expected evaluate_definition(const Problem& problem, std::span<const Definition> definitions,
                             std::vector<interpreter::Value> inputs, const interpreter::Rounding& rounding = nullptr);

/// The allowed |y - r| of each element of output `output`:
/// * products and sums: (terms + 16) eps sum |terms|, the sum computed in float64 over the absolute values of the
///   operands, times 1.13 (the slope of a gate after it is below that), and 8 eps |r|;
/// * everything else: 16 eps |r| for one op, 64 eps (|r| + RMS of the output) for a composite.
/// Both add the smallest normal number. eps is that of the output's dtype, or of the coarsest float operand. Integers
/// and booleans: 0. A `fused` problem is also allowed the change of its result when its product is off by its own
/// allowance. Infinite if a gated product is not finite: a gate that is nearly 0 is 0 in one dtype, and 0 * inf is NaN.
std::vector<double> allowed_errors(const Problem& problem, std::span<const Definition> definitions,
                                   const Expected& expected, std::size_t output);

/// The roundoff error of each element of output `output` where the definition is computed op by op in its dtypes,
/// estimated by Monte Carlo arithmetic (Parker, 1997): 16 times the largest difference between the reference and a few
/// evaluations that round every result of an op up or down at random. Large where terms cancel:
///
///     1 + erf(-3)   ->   about 16 * 2^-24, for a result of 2e-5
std::vector<double> roundoff_errors(const Problem& problem, std::span<const Definition> definitions,
                                    const Expected& expected, std::size_t output);

/// Describes the first element whose error exceeds its allowance; empty if there is none. NaN must be NaN and infinity
/// infinity, unless the allowance is infinite: then either is accepted.
std::string first_difference(const interpreter::Value& got, const interpreter::Value& wanted,
                             const std::vector<double>& allowed);

}  // namespace cairn::kernel_check
