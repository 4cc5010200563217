#include "tests/io/onnx_import/operators_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

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

}  // namespace
}  // namespace cairn::test
