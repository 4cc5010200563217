#include "tests/io/onnx_import/operators_page.hpp"
#include "tests/io/onnx_import/node_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cairn::test {
namespace {

std::string text_of_page(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Where the page differs, the right one is written to the build folder.
TEST(OnnxOperators, PassTheirNodeCasesOrAreRefused) {
    const OperatorsPage page = operators_page(CAIRN_ONNX_CASES);
    EXPECT_THAT(page.failures, testing::IsEmpty());
    EXPECT_GE(page.passed, 1350U);
    const std::string known = std::string(CAIRN_SOURCE_DIR) + "/docs/onnx_operators.md",
                      made = std::string(CAIRN_BINARY_DIR) + "/onnx_operators.md";
    if (text_of_page(known) == page.text) return;
    std::ofstream(made) << page.text;
    FAIL() << "docs/onnx_operators.md is not what the cases give; copy " << made << " to " << known;
}

// Other attributes, operator sets, types, symbolic and empty sizes, and the operators that have no node case.
TEST(OnnxOperators, AgreeWithOtherImplementations) {
    const std::vector<NamedResult> results = run_cases(CAIRN_ONNX_FURTHER_CASES);
    EXPECT_GE(results.size(), 1200U);
    for (const auto& [folder, result] : results)
        EXPECT_EQ(result.state, CaseResult::State::passed) << folder << ": " << result.reason;
}

}  // namespace
}  // namespace cairn::test
