#pragma once

#include "cairn/problem.hpp"
#include "meaning/interpret.hpp"

#include <random>

namespace cairn::inline v0::check {

/// Elements for an operand of a Problem of constant sizes: floats in -2..2, small integers, indices that are legal.
/// `special`: every third or so is a number that ops treat in ways of their own (NaN, infinities, zeros, limits).
meaning::Value random_operand(const Problem& problem, std::size_t input, bool special, std::mt19937_64& random);

}  // namespace cairn::inline v0::check
