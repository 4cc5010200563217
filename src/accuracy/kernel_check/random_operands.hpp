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

/// How many elements of an operand are special values, such as NaN.
enum class SpecialValues {
    none,
    few,  ///< at most two: NaN, an infinity, a zero, a subnormal number; results without them still show errors.
          ///< The first operand has a NaN
    many  ///< about every third, including limits of dtypes
};

/// Random elements of an operand of constant sizes: floats in -2..2, small integers; with `limit` integers in
/// 0 .. limit - 1. `is_first`: it is the first operand of its Problem.
interpreter::Value random_operand(const TensorDesc& tensor, std::optional<std::int64_t> limit, bool is_first,
                                  SpecialValues special, std::mt19937_64& random);

/// All inputs of a Problem in memory, and the values stored there: repeated elements have one value. Inputs that the
/// definition uses as indices are legal (ir::index_limits).
struct RandomInputs {
    std::vector<GuardedTensor> tensors;
    std::vector<interpreter::Value> values;
};
RandomInputs random_inputs(const Problem& problem, std::span<const Definition> definitions, SpecialValues special,
                           std::mt19937_64& random);

}  // namespace cairn::kernel_check
