#include "row_cases.hpp"

#include <gtest/gtest.h>
#include <cstdio>
namespace cairn::test {
TEST(A, B) {
    std::puts(expanded(R"(
%0 = input "x" : f32[N,3,4]
%1 = weight "w1" : f32[4,5]
%2 = matmul %0, %1 : f32[N,3,5]
%3 = weight "w2" : f32[4,1]
%4 = matmul %0, %3 : f32[N,3,1]
%5 = reshape %2 shape=(N,15) : f32[N,15]
output "y" %5
output "z" %4
)", "merge_products").c_str());
}
}
