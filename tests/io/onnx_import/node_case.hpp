#pragma once

#include "cairn/context.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

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

}  // namespace cairn::test
