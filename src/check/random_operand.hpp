#pragma once

#include "cairn/problem.hpp"
#include "check/guarded_tensor.hpp"
#include "meaning/interpret.hpp"

#include <random>
#include <vector>

namespace cairn::inline v0::check {

/// How many elements of an operand are numbers that ops treat in ways of their own.
enum class Special {
    none,
    few,  ///< two at most: NaN, an infinity, a zero, a subnormal number; what else depends on them still tells errors.
          ///< The first operand has a NaN
    many  ///< every third or so, and limits of dtypes among them
};

/// Elements for an operand of a Problem of constant sizes: floats in -2..2, small integers, indices that are legal.
meaning::Value random_operand(const Problem& problem, std::size_t input, Special special, std::mt19937_64& random);

/// All inputs of a Problem in memory, and the values that lie there: where elements are repeated, one value is.
struct RandomInputs {
    std::vector<GuardedTensor> tensors;
    std::vector<meaning::Value> values;
};
RandomInputs random_inputs(const Problem& problem, Special special, std::mt19937_64& random);

}  // namespace cairn::inline v0::check
