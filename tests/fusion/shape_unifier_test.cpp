#include "fusion/shape_unifier.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using fusion::Pattern;

/// The operands as written in a pattern; those marked in `allows_leading_axes` may have further leading axes.
Pattern pattern(const std::string& operands, std::vector<bool> allows_leading_axes = {}) {
    Pattern made;
    made.symbols = Symbols::create();
    made.problem = parse_problem("test | " + operands, *made.symbols);
    made.allows_leading_axes = std::move(allows_leading_axes);
    made.allows_leading_axes.resize(made.problem.inputs.size(), false);
    return made;
}

/// Operands of a graph, with its own symbols N, T in 1..64 and Z in 0..64.
class ShapeUnifierTest : public testing::Test {
protected:
    std::vector<TensorDesc> operands(const std::string& text) {
        return parse_problem("test | " + text + " where N in 1..64, T in 1..64, Z in 0..64", *symbols).inputs;
    }
    /// `no` if operands contradict the pattern, `bound` if some size cannot be solved for, else `yes`.
    std::string fits(const Pattern& pattern, const std::string& text) {
        const std::vector<TensorDesc> actual = operands(text);
        fusion::ShapeUnifier sizes(pattern);
        for (std::size_t i = 0; i < actual.size(); ++i)
            if (!sizes.bind(i, actual[i].dtype, actual[i].shape)) return "no";
        return sizes.complete(actual, symbols) ? "yes" : "bound";
    }

    std::shared_ptr<Symbols> symbols = Symbols::create();
};

TEST_F(ShapeUnifierTest, ASymbolIsOneSizeEverywhere) {
    const Pattern p = pattern("f32[R,D] f32[D]");
    EXPECT_EQ(fits(p, "f32[3,4] f32[4]"), "yes");
    EXPECT_EQ(fits(p, "f32[3,4] f32[3]"), "no");
    EXPECT_EQ(fits(p, "f32[N,T] f32[T]"), "yes");
    EXPECT_EQ(fits(p, "f32[N,T] f32[N]"), "no") << "sizes that may differ do";
    EXPECT_EQ(fits(p, "f32[4,4] f32[4]"), "yes") << "two symbols may be one size";
    EXPECT_EQ(fits(pattern("f32[D,D]"), "f32[N,2*N]"), "no");
    EXPECT_EQ(fits(p, "f32[0,1] f32[1]"), "yes");
}

TEST_F(ShapeUnifierTest, ANumberIsThatNumber) {
    const Pattern p = pattern("f32[R,64]");
    EXPECT_EQ(fits(p, "f32[5,64]"), "yes");
    EXPECT_EQ(fits(p, "f32[5,63]"), "no");
    EXPECT_EQ(fits(p, "f32[5,N]"), "no");
    EXPECT_EQ(fits(pattern("f32[R,1]"), "f32[5,1]"), "yes");
}

TEST_F(ShapeUnifierTest, F32MatchesAnyOneFloatAndOthersOnlyThemselves) {
    const Pattern p = pattern("f32[D] f32[D] i32[D]");
    for (const char* dtype : {"f32", "f16", "bf16", "f64"})
        EXPECT_EQ(fits(p, std::string(dtype) + "[4] " + dtype + "[4] i32[4]"), "yes") << dtype;
    EXPECT_EQ(fits(p, "f32[4] f16[4] i32[4]"), "no");
    EXPECT_EQ(fits(p, "f32[4] i32[4] i32[4]"), "no");
    EXPECT_EQ(fits(p, "f32[4] f32[4] i64[4]"), "no");
    EXPECT_EQ(fits(p, "f32[4] f32[4] f32[4]"), "no");
    EXPECT_EQ(fits(pattern("bool[D]"), "bool[4]"), "yes");
}

TEST_F(ShapeUnifierTest, LeadingAxesMatchIfAllowed) {
    const Pattern p = pattern("f32[R,D] f32[D]", {true, false});
    EXPECT_EQ(fits(p, "f32[2,N,3,4] f32[4]"), "yes");
    EXPECT_EQ(fits(p, "f32[2,3,4] f32[1,4]"), "no");
    EXPECT_EQ(fits(p, "f32[4] f32[4]"), "no") << "fewer axes than written";
    EXPECT_EQ(fits(pattern("f32[]", {true}), "f32[]"), "yes");
    EXPECT_EQ(fits(pattern("f32[]", {false}), "f32[1]"), "no");
}

TEST_F(ShapeUnifierTest, ProductsAreSolvedAndSumsLookedUp) {
    const Pattern heads = pattern("f32[G*R,T] f32[G,T]");
    EXPECT_EQ(fits(heads, "f32[8,5] f32[4,5]"), "yes");
    EXPECT_EQ(fits(heads, "f32[8,5] f32[1,5]"), "yes");
    EXPECT_EQ(fits(heads, "f32[8,5] f32[3,5]"), "bound") << "8 is no multiple of 3";
    EXPECT_EQ(fits(heads, "f32[2*N,5] f32[N,5]"), "yes");
    EXPECT_EQ(fits(heads, "f32[N,5] f32[T,5]"), "bound");
    EXPECT_EQ(fits(heads, "f32[8,5] f32[Z,5]"), "bound") << "nothing is divided by what may be 0";
    const Pattern past = pattern("f32[P] f32[T] f32[P + T]");
    EXPECT_EQ(fits(past, "f32[4] f32[5] f32[9]"), "yes");
    EXPECT_EQ(fits(past, "f32[4] f32[5] f32[8]"), "bound");
    EXPECT_EQ(fits(past, "f32[N] f32[T] f32[N + T]"), "yes");
    EXPECT_EQ(fits(past, "f32[N] f32[T] f32[2*N]"), "bound");
}

TEST_F(ShapeUnifierTest, ASolvedSymbolIsBoundForTheNextOperand) {
    const Pattern p = pattern("f32[G] f32[G*R] f32[2*R]");
    EXPECT_EQ(fits(p, "f32[4] f32[8] f32[4]"), "yes");
    EXPECT_EQ(fits(p, "f32[4] f32[8] f32[6]"), "bound");
    EXPECT_EQ(fits(pattern("f32[G*R]"), "f32[8]"), "bound") << "two unknown at once";
}

TEST_F(ShapeUnifierTest, RollsBackTheBindingsOfALaterOperand) {
    const Pattern p = pattern("f32[R,D] f32[D] f32[R]");
    const std::vector<TensorDesc> actual = operands("f32[3,4] f32[5] f16[3] f32[4] f32[3]");
    fusion::ShapeUnifier sizes(p);
    const auto bind = [&](std::size_t operand, std::size_t to) {
        return sizes.bind(operand, actual[to].dtype, actual[to].shape);
    };
    ASSERT_TRUE(bind(0, 0));
    const std::size_t first = sizes.bound();
    EXPECT_FALSE(bind(1, 1)) << "5 is not 4";
    EXPECT_FALSE(bind(2, 2)) << "f16 beside f32";
    sizes.rollback(first);
    EXPECT_TRUE(bind(1, 3));
    EXPECT_TRUE(bind(2, 4)) << "3 is R still";
    sizes.rollback(0);
    EXPECT_TRUE(bind(1, 1)) << "nothing is bound";
    sizes.rollback(0);
    EXPECT_TRUE(bind(2, 2)) << "not even the dtype";
}

TEST_F(ShapeUnifierTest, ASizeThatMayBeZeroIsNoDivisor) {
    const Pattern p = pattern("f32[G] f32[G*R]");
    EXPECT_EQ(fits(p, "f32[N] f32[3*N]"), "yes");
    EXPECT_EQ(fits(p, "f32[Z] f32[3*Z]"), "bound") << "for Z = 0 any R would do";
    EXPECT_EQ(fits(p, "f32[0] f32[0]"), "bound");
    EXPECT_EQ(fits(p, "f32[Z + 1] f32[3*Z + 3]"), "yes");
}

}  // namespace
}  // namespace cairn::test
