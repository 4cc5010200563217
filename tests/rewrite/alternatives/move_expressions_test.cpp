#include "equivalence_cases.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(MoveExpressions, ViewsOfAMergedProduct) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,3,4]
%1 = weight "w1" : f32[4,6]
%2 = matmul %0, %1 : f32[N,3,6]
%3 = reshape %2 shape=(N,3,2,3) : f32[N,3,2,3]
%4 = transpose %3 permutation=(-4,-2,-3,-1) : f32[N,2,3,3]
%5 = weight "w2" : f32[4,6]
%6 = matmul %0, %5 : f32[N,3,6]
%7 = slice %6 axis=(-1) start=(2) stop=(6) step=(2) : f32[N,3,2]
%8 = tanh %6 : f32[N,3,6]
output "y" %4
output "z" %7
output "t" %8
)",
                       "merge_products"),
              R"(
%0 = weight "w1" : f32[4,6]
%1 = weight "w2" : f32[4,6]
%2 = concat %0, %1 axis=(-1) : f32[4,12]
%3 = input "x" : f32[N,3,4]
%4 = matmul %3, %2 : f32[N,3,12]
%5 = matmul %3, %0 : f32[N,3,6]
%6 = slice %4 axis=(-1) start=(0) stop=(6) step=(1) : f32[N,3,6]
%7 = reshape %5 shape=(N,3,2,3) : f32[N,3,2,3]
%8 = reshape %6 shape=(N,3,2,3) : f32[N,3,2,3]
%9 = transpose %7 permutation=(-4,-2,-3,-1) : f32[N,2,3,3]
%10 = transpose %8 permutation=(-4,-2,-3,-1) : f32[N,2,3,3]
%11 = matmul %3, %1 : f32[N,3,6]
%12 = slice %4 axis=(-1) start=(6) stop=(12) step=(1) : f32[N,3,6]
%13 = slice %11 axis=(-1) start=(2) stop=(6) step=(2) : f32[N,3,2]
%14 = slice %12 axis=(-1) start=(2) stop=(6) step=(2) : f32[N,3,2]
%15 = tanh %11 : f32[N,3,6]
output "y" %9
output "z" %13
output "t" %15
%5 = %6 exact
%7 = %8 exact
%9 = %10 exact
%11 = %12 exact
%13 = %14 exact
)");
}

}  // namespace
}  // namespace cairn::test
