#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cairn::test {

/// What became of the node cases of ONNX: the page docs/onnx_operators.md, and the cases that gave wrong results.
struct OperatorsPage {
    std::string text;
    std::vector<std::string> failures;  ///< `test_add: output sum element 3 is 1 instead of 2`
    std::size_t passed = 0;
};

/// Runs all cases below a folder on all CPUs.
OperatorsPage operators_page(const std::filesystem::path& cases);

}  // namespace cairn::test
