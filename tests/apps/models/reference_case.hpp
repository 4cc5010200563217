#pragma once

#include "cairn/models/checkpoint.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// Small models of tests/golden: encoder_cases.json, decoder_cases.json and diffusion_cases.json, whose weights are
/// made from integers.
namespace cairn::test {

/// The cases of a file of tests/golden, which is read once.
const nlohmann::json& encoder_cases();
const nlohmann::json& decoder_cases();
/// The file diffusion_cases.json: `cases` of models, and `schedules`.
const nlohmann::json& diffusion_cases();
/// The case of a name. Throws std::invalid_argument if there is none.
const nlohmann::json& case_named(const nlohmann::json& cases, const std::string& name);
/// Their names, of which tests have one parameter each.
std::vector<std::string> case_names(const nlohmann::json& cases);

/// The tensors of a case, in the order of the reference's state dictionary, which numbers them.
std::vector<models::WeightSpec> tensors_of(const nlohmann::json& reference_case);

/// A source of the tensors `wanted`, whose names may be those of `tensors` with a prefix, or tied ones. Both lists must
/// outlive it. The weights are synthetic; matrices are multiplied by 8, and 1 is added to the weights of RMS and
/// group norms.
WeightSource reference_source(const std::vector<models::WeightSpec>& tensors,
                              const std::vector<models::WeightSpec>& wanted);

/// Elements made from integers, in -2..2: those of a matrix of synthetic weights of this number, times 32.
std::vector<float> reference_elements(std::uint64_t number, std::size_t count);

}  // namespace cairn::test
