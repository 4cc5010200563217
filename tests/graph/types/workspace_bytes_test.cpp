#include "graph/types/workspace_bytes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::types {
namespace {

/// A product of two factors, neither negative, whose expanded form no proof covers.
Dim bytes_for(const Dim& size) { return (64 * ceildiv(size * 3, Dim(4))) * min(size, Dim(1)); }

TEST(WorkspaceBytes, AreTheKernelsOwnNumberAtAllSizes) {
    const auto symbols = Symbols::create();
    const Dim a = symbols->add("A", 0, 2);
    Problem problem;
    problem.definition = "argsort";
    problem.inputs = {TensorDesc::dense(DType::bf16, {2 - a, 2 - a})};
    Kernel kernel;
    EXPECT_EQ(workspace_bytes(kernel, problem, 1), Dim(0)) << "none";
    kernel.workspace = [](const Problem& of, int) { return bytes_for(of.inputs[0].shape[1]); };
    const Dim bytes = workspace_bytes(kernel, problem, 1);
    EXPECT_TRUE(provably_le(0, bytes)) << to_string(bytes);
    for (std::int64_t value = 0; value <= 2; ++value)
        EXPECT_EQ(bytes.evaluate(std::vector{value}), bytes_for(2 - a).evaluate(std::vector{value})) << value;
    kernel.workspace = [](const Problem& of, int threads) { return threads * of.inputs[0].shape[1]; };
    EXPECT_EQ(workspace_bytes(kernel, problem, 3), 3 * (2 - a)) << "a proven expression stays as it is";
}

}  // namespace
}  // namespace cairn::types
