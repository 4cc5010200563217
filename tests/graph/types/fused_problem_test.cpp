#include "cairn/problem.hpp"

#include <gtest/gtest.h>

namespace cairn {
namespace {

struct Text {
    std::shared_ptr<Symbols> symbols = Symbols::create();
    Problem problem;
    explicit Text(std::string_view text) : problem(parse_problem(text, *symbols)) {}
};

TEST(FusedProblem, IsAProductAndAnElementwiseProblem) {
    const std::string text =
        "fused {4=matmul(0,1):f32 5=const(2):f32 6=mul(4,5):f32 7=add(6,2):f32 8=gelu(7):f32 9=cast(3):f32 "
        "10=mul(9,4):f32} | f32[T,8] f32[8,9]@panel32! f32[T,9]:(0,1)! bool[T,9] -> f32[T,9]:(12,1) f32[T,9] results "
        "(10,4) where T in 1..12";
    const Text whole(text);
    EXPECT_EQ(to_string(whole.problem), text);
    const auto parts = parts_of_fused(whole.problem);
    ASSERT_TRUE(parts);
    EXPECT_EQ(to_string(parts->product), "matmul | f32[T,8] f32[8,9]@panel32! -> f32[T,9] where T in 1..12");
    EXPECT_EQ(to_string(parts->epilogue),
              "elementwise {3=const(2):f32 4=mul(0,3):f32 5=add(4,1):f32 6=gelu(5):f32 7=cast(2):f32 8=mul(7,0):f32} | "
              "f32[T,9] f32[T,9]:(0,1)! bool[T,9] -> f32[T,9]:(12,1) f32[T,9] results (8,0) where T in 1..12");
}

// Outputs that hold some columns each: the product has all of them.
TEST(FusedProblem, MayHaveOutputsOfSomeColumns) {
    const std::string text =
        "fused columns=(0,4) {3=matmul(0,1):f32 4=add(3,2):f32} | f32[T,8] f32[8,9]@panel32! f32[T,9]:(0,1)! -> "
        "f32[T,9] f32[T,2,2]:(2,24,1) results (4,4) where T in 1..12";
    const Text whole(text);
    EXPECT_EQ(to_string(whole.problem), text);
    const auto parts = parts_of_fused(whole.problem);
    ASSERT_TRUE(parts);
    EXPECT_EQ(to_string(parts->product), "matmul | f32[T,8] f32[8,9]@panel32! -> f32[T,9] where T in 1..12");
    EXPECT_EQ(to_string(parts->epilogue),
              "elementwise columns=(0,4) {2=add(0,1):f32} | f32[T,9] f32[T,9]:(0,1)! -> f32[T,9] f32[T,2,2]:(2,24,1) "
              "results (2,2) where T in 1..12");
}

// A definition in place of the matmul: the attributes belong to it.
TEST(FusedProblem, MayBeginWithADefinition) {
    const Text whole(
        "fused stride=(1,1) value=0 {3=filter(0,1):f32 4=add(3,2):f32} | f32[2,3] f32[4] f32[5,6]:(0,1)! -> f32[5,6] "
        "results (4)");
    const auto parts = parts_of_fused(whole.problem);
    ASSERT_TRUE(parts);
    EXPECT_EQ(to_string(parts->product), "filter stride=(1,1) value=0 | f32[2,3] f32[4] -> f32[5,6]");
    EXPECT_EQ(to_string(parts->epilogue),
              "elementwise {2=add(0,1):f32} | f32[5,6] f32[5,6]:(0,1)! -> f32[5,6] results (2)");
}

TEST(FusedProblem, AnInvalidFusedProblemHasNoParts) {
    for (const char* text :
         {"elementwise {2=add(0,1):f32} | f32[4] f32[4] -> f32[4] results (2)", "fused | f32[4,8] f32[8,9] -> f32[4,9]",
          "fused {2=filter(0,1):f32 3=filter(2,2):f32} | f32[4,4] f32[4,4] -> f32[4,4] results (3)",
          "fused columns=(0) {2=filter(0,1):f32} | f32[4,4] f32[4,4] -> f32[4,4] results (2)",
          "fused {2=matmul(1,0):f32} | f32[4,4] f32[4,4] -> f32[4,4] results (2)",
          "fused {2=matmul(0,1):f32 3=add(2,0):f32} | f32[4,4] f32[4,4] -> f32[4,4] results (3)",
          "fused {2=matmul(0,1):f32 3=matmul(2,2):f32} | f32[4,4] f32[4,4] -> f32[4,4] results (3)",
          "fused {2=matmul(0,1):f32} | f32[4,4] f32[4,4] -> f32[4,4] results (1)",
          "fused {2=matmul(0,1):f32} | f32[4,4] f32[4,4] -> f32[4,4]",
          "fused columns=(0,2) {2=matmul(0,1):f32} | f32[4,4] f32[4,4] -> f32[4,2] results (2)",
          "fused columns=2 {2=matmul(0,1):f32} | f32[4,4] f32[4,4] -> f32[4,2] results (2)",
          "fused columns=(2) axis=(-1) {2=matmul(0,1):f32} | f32[4,4] f32[4,4] -> f32[4,2] results (2)",
          "fused columns=(2) {2=matmul(0,1):f32} | f32[] f32[4,4] -> f32[4,2] results (2)",
          "fused axis=(-1) {2=matmul(0,1):f32} | f32[4,4] f32[4,4] -> f32[4,4] results (2)"})
        EXPECT_FALSE(parts_of_fused(Text(text).problem)) << text;
    EXPECT_TRUE(parts_of_fused(Text("fused {2=matmul(0,1):f32} | f32[4,4] f32[4,4] -> f32[4,4] results (2)").problem));
}

}  // namespace
}  // namespace cairn
