#pragma once

#include "accuracy/kernel_check/guarded_tensor.hpp"
#include "cairn/kernel.hpp"
#include "graph/interpreter/interpreter.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace cairn::kernel_check {

/// How many elements of an operand are numbers that ops treat in ways of their own.
enum class SpecialValues {
    none,
    few,  ///< two at most: NaN, an infinity, a zero, a subnormal number; what else depends on them still tells errors.
          ///< The first operand has a NaN
    many  ///< every third or so, and limits of dtypes among them
};

/// Elements for an operand of constant sizes: floats in -2..2, small integers; with `limit` integers in 0 .. limit - 1.
/// `is_first`: it is the first operand of its Problem.
interpreter::Value random_operand(const TensorDesc& tensor, std::optional<std::int64_t> limit, bool is_first,
                                  SpecialValues special, std::mt19937_64& random);

/// All inputs of a Problem in memory, and the values that lie there: where elements are repeated, one value is. What
/// the definition uses as indices is legal (ir::index_limits).
struct RandomInputs {
    std::vector<GuardedTensor> tensors;
    std::vector<interpreter::Value> values;
};
RandomInputs random_inputs(const Problem& problem, std::span<const Definition> definitions, SpecialValues special,
                           std::mt19937_64& random);

}  // namespace cairn::kernel_check
