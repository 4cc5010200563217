#include "graph/ir/index_limits.hpp"

#include "cairn/composites.hpp"

#include <gtest/gtest.h>

namespace cairn::ir {
namespace {

using Limits = std::vector<std::optional<std::int64_t>>;

Limits limits_of(const std::string& text, std::span<const Definition> definitions) {
    const auto symbols = Symbols::create();
    return index_limits(parse_problem(text, *symbols), definitions);
}

TEST(IndexLimits, AreTheSizeOfTheIndexedAxis) {
    EXPECT_EQ(limits_of("gather axis=(-2) | f32[3,5,2] i64[400] -> f32[3,400,2]", {}), (Limits{std::nullopt, 5}));
    EXPECT_EQ(limits_of("scatter axis=(-1) | f32[7] i32[2] f32[2] -> f32[7]", {}),
              (Limits{std::nullopt, 7, std::nullopt}));
    EXPECT_EQ(limits_of("take_along_axis axis=(-1) | f32[2,9] i32[2,4] -> f32[2,4]", {}), (Limits{std::nullopt, 9}));
    Definition lookup;
    lookup.name = "lookup";
    lookup.build = [](std::span<const Tensor> x, const Attributes&) {
        return std::vector<Tensor>{embedding(x[0], x[1])};
    };
    EXPECT_EQ(limits_of("lookup | f32[50,8] i32[3] -> f32[3,8]", {&lookup, 1}), (Limits{std::nullopt, 50}));
    EXPECT_EQ(limits_of("add | i32[4] i32[4] -> i32[4]", {}), (Limits{std::nullopt, std::nullopt}));
}

TEST(IndexLimits, ApplyToMovedIndices) {
    Definition twice;
    twice.name = "twice";
    twice.build = [](std::span<const Tensor> x, const Attributes&) {
        const Tensor indices = cast(reshape(concat({x[1], x[2]}, 0), {-1}), DType::i64);
        return std::vector<Tensor>{gather(x[0], indices, 1), gather(x[0], x[2], 0)};
    };
    EXPECT_EQ(limits_of("twice | f32[4,9] i32[2] i32[3] -> f32[4,5] f32[3,9]", {&twice, 1}),
              (Limits{std::nullopt, 9, 4}));
}

}  // namespace
}  // namespace cairn::ir
