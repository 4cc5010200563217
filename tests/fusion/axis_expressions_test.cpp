#include "cairn/composites.hpp"
#include "tests/fusion/match_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

/// The composites along each axis of values of each rank, including the first axis.
namespace cairn::test::axis_expressions {
namespace {

constexpr std::int64_t sizes[] = {5, 2, 3, 4, 6};
using Build = std::function<Tensor(Graph&, const Tensor& x, int axis)>;

void expect_along_each_axis(const std::string& definition, const Build& build,
                            const std::function<std::string(int axis)>& wanted) {
    for (int rank = 1; rank <= 5; ++rank)
        for (int axis = 0; axis < rank; ++axis) {
            Graph g("g");
            g.output("y", build(g, g.input("x", DType::f32, Shape(sizes, sizes + rank)), axis));
            const Proposed matches = proposed(g);
            const fusion::Match* match = match_at_output(matches, definition);
            ASSERT_NE(match, nullptr) << definition << ", axis " << axis << " of " << rank;
            EXPECT_EQ(summary(matches, *match), definition + wanted(axis - rank)) << axis << " of " << rank;
            EXPECT_EQ(fault_in_matches(matches, 5), "") << axis << " of " << rank;
        }
}

Tensor factor(Graph& g, const char* name, const Tensor& x, int axis) {
    return g.weight(name, x.dtype(), {x.dim(axis)});
}

TEST(AxisExpressions, Softmax) {
    for (const auto& [name, build] : {std::pair{"softmax", &softmax}, std::pair{"log_softmax", &log_softmax}})
        expect_along_each_axis(
            name, [build](Graph&, const Tensor& x, int axis) { return build(x, axis); },
            [](int axis) { return fmt::format(" axis=({}) (x)", axis); });
}

TEST(AxisExpressions, Norms) {
    const auto along = [](const char* operands) {
        return [operands](int axis) {
            return (axis == -1 ? "" : fmt::format(" axis=({})", axis)) + " eps=0.125 " + operands;
        };
    };
    expect_along_each_axis(
        "layer_norm", [](Graph&, const Tensor& x, int axis) { return layer_norm(x, 0.125, axis); }, along("(x)"));
    expect_along_each_axis(
        "layer_norm",
        [](Graph& g, const Tensor& x, int axis) {
            return layer_norm(x, factor(g, "w", x, axis), factor(g, "b", x, axis), 0.125, axis);
        },
        along("(x, w, b)"));
    expect_along_each_axis(
        "rms_norm", [](Graph&, const Tensor& x, int axis) { return rms_norm(x, 0.125, axis); }, along("(x)"));
    expect_along_each_axis(
        "rms_norm",
        [](Graph& g, const Tensor& x, int axis) { return rms_norm(x, factor(g, "w", x, axis), 0.125, axis); },
        along("(x, w)"));
}

TEST(AxisExpressions, NormsOverSeveralAxes) {
    const auto match_of = [](Tensor (*build)(Graph&, const Tensor& x, const Tensor& d, const Tensor& square)) {
        return [build](const IntList& axes, const Shape& shape) {
            Graph g("g");
            const Tensor x = g.input("x", DType::f32, shape), d = x - mean(x, axes, true);
            g.output("y", build(g, x, d, rsqrt(mean(d * d, axes, true) + 0.125)));
            const Proposed matches = proposed(g);
            EXPECT_EQ(fault_in_matches(matches, 5), "");
            const fusion::Match* match = match_at_output(matches, "layer_norm");
            return match == nullptr ? "none" : summary(matches, *match);
        };
    };
    const auto plain = match_of([](Graph&, const Tensor&, const Tensor& d, const Tensor& r) { return d * r; });
    EXPECT_EQ(plain({1, 2}, {2, 3, 4}), "layer_norm axes=(-2,-1) eps=0.125 (x)");
    EXPECT_EQ(plain({0, 1}, {3, 4}), "layer_norm axes=(-2,-1) eps=0.125 (x)");
    EXPECT_EQ(plain({1, 2, 3}, {2, 3, 4, 5}), "layer_norm axes=(-3,-2,-1) eps=0.125 (x)");
    EXPECT_EQ(plain({0, 2}, {2, 3, 4}), "none") << "no neighbours";
    const auto scaled = match_of([](Graph& g, const Tensor&, const Tensor& d, const Tensor& r) {
        return d * r * g.weight("w", DType::f32, {3, 4}) + g.weight("b", DType::f32, {3, 4});
    });
    EXPECT_EQ(scaled({1, 2}, {2, 3, 4}), "layer_norm axes=(-2,-1) eps=0.125 (x, w, b)");
    EXPECT_EQ(scaled({0, 1}, {3, 4}), "layer_norm axes=(-2,-1) eps=0.125 (x, w, b)");
    EXPECT_EQ(scaled({1, 2, 3}, {2, 5, 3, 4}), "none") << "gamma and beta of two axes of three";
    const auto of_other = match_of([](Graph&, const Tensor& x, const Tensor&, const Tensor& r) { return x * r; });
    EXPECT_EQ(of_other({1, 2}, {2, 3, 4}), "none") << "not centred";
}

TEST(AxisExpressions, MeansOverAllAxes) {
    for (const std::string name : {"mean", "variance"})
        for (const bool keepdims : {false, true})
            for (int rank = 1; rank <= 5; ++rank) {
                Graph g("g");
                const Tensor x = g.input("x", DType::f32, Shape(sizes, sizes + rank));
                g.output("y", name == "mean" ? mean(x, {}, keepdims) : variance(x, {}, keepdims));
                const Proposed matches = proposed(g);
                EXPECT_NE(match_at_output(matches, name), nullptr) << name << " of rank " << rank;
                EXPECT_EQ(fault_in_matches(matches, 5), "");
            }
}

TEST(AxisExpressions, Means) {
    for (const std::string name : {"mean", "variance"})
        for (const bool keepdims : {false, true})
            expect_along_each_axis(
                name,
                [&](Graph&, const Tensor& x, int axis) {
                    return name == "mean" ? mean(x, {axis}, keepdims) : variance(x, {axis}, keepdims);
                },
                [&](int axis) { return fmt::format(" axes=({}) keepdims=({}) (x)", axis, keepdims ? 1 : 0); });
}

}  // namespace
}  // namespace cairn::test::axis_expressions
