#pragma once

#include "cairn/context.hpp"
#include "cairn/onnx/import.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// A node case of ONNX: a folder with `model.onnx` and `test_data_set_0/{input,output}_N.pb`.
namespace cairn::test {

struct CaseResult {
    enum class State : std::uint8_t { passed, refused, failed };
    State state = State::failed;
    std::string reason;  ///< of those that did not pass
};

/// Imports a case, runs it and compares its outputs. Inputs of at most one axis that operators need as shapes are given
/// as ImportOptions::values where the import refuses without.
CaseResult run_case(const std::filesystem::path& folder, const Context& context);

/// run_case() of all folders in a folder, on all CPUs, in the order of their names.
struct NamedResult {
    std::filesystem::path folder;
    CaseResult result;
};
std::vector<NamedResult> run_cases(const std::filesystem::path& folder);

/// Imports a model with sizes and fixed inputs, runs it on the data of a folder `test_data_set_0` and compares its
/// outputs. Without sizes, those of the data are constants.
struct ModelCase {
    std::filesystem::path model, data;
    std::map<std::string, onnx::SizeBounds> sizes = {};
    std::vector<std::string> fixed_inputs = {};
    std::map<std::string, std::string> equal_sizes = {};
    double relative_error = 1e-4;  ///< allowed, of the largest value of an output
};
CaseResult run_model(const ModelCase& model, const Context& context);

}  // namespace cairn::test
