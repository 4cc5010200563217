#pragma once

#include "cairn/models/checkpoint.hpp"

#include <nlohmann/json_fwd.hpp>

#include <vector>

/// Small models of tests/golden/encoder_cases.json and decoder_cases.json, whose weights are made from integers.
namespace cairn::test {

/// The tensors of a case, in the order of the reference's state dictionary, which numbers them.
std::vector<models::WeightSpec> tensors_of(const nlohmann::json& reference_case);

/// A source of the tensors `wanted`, whose names may be those of `tensors` with a prefix, or tied ones. Both lists must
/// outlive it. The weights are synthetic; matrices are multiplied by 8, and 1 is added to the weights of RMS norms.
WeightSource reference_source(const std::vector<models::WeightSpec>& tensors,
                              const std::vector<models::WeightSpec>& wanted);

}  // namespace cairn::test
