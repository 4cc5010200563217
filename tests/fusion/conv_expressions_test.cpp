#include "cairn/composites.hpp"
#include "tests/fusion/match_check.hpp"

#include <gtest/gtest.h>

/// Convolutions as users call them, with any stride, padding and dilation.
namespace cairn::test::conv_expressions {
namespace {

Proposed conv(std::int64_t channels, std::int64_t filters, std::int64_t size, bool has_bias,
              const ConvOptions& options) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {2, channels, 9, 8});
    const Tensor w = g.weight("w", DType::f32, {filters, channels / options.groups, size, size});
    g.output("y", has_bias ? conv2d(x, w, g.weight("b", DType::f32, {filters}), options) : conv2d(x, w, options));
    return proposed(g);
}

void expect_found(const Proposed& matches, bool has_bias) {
    const bool is_found = match_at_output(matches, has_bias ? "fused" : "conv2d") != nullptr ||
                          (!has_bias && match_at_output(matches, "image_conv2d") != nullptr);
    ASSERT_TRUE(is_found);
    EXPECT_EQ(fault_in_matches(matches, 5), "");
}

TEST(ConvExpressions, WithAnyOptions) {
    for (const bool has_bias : {false, true}) {
        expect_found(conv(4, 6, 3, has_bias, {}), has_bias);
        expect_found(conv(4, 6, 3, has_bias, {.stride = 2, .padding = 1}), has_bias);
        expect_found(conv(4, 6, 2, has_bias, {.padding = {1, 0, 2, 3}, .dilation = {2, 1}}), has_bias);
        expect_found(conv(4, 6, 1, has_bias, {.stride = 2}), has_bias);
        expect_found(conv(6, 6, 3, has_bias, {.padding = 1, .groups = 6}), has_bias);
        expect_found(conv(6, 4, 3, has_bias, {.padding = 1, .groups = 2}), has_bias);
        expect_found(conv(3, 6, 2, has_bias, {.stride = 2, .groups = 3}), has_bias);
    }
}

}  // namespace
}  // namespace cairn::test::conv_expressions
