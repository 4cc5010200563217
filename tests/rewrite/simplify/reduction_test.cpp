#include "rule_cases.hpp"

namespace {

constexpr RuleCase reduction[] = {
    {"reduce_one", R"(
%0 = input "x" : f32[N,1,3]
%1 = sum %0 axes=(-2) : f32[N,1,3]
%2 = max_reduce %1 axes=(-2) : f32[N,1,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,1,3]
output "y" %0
)"},
    {"reduce_short_axes", R"(
%0 = input "x" : f32[N,1,3]
%1 = sum %0 axes=(-2,-1) : f32[N,1,1]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,1,3]
%1 = sum %0 axes=(-1) : f32[N,1,1]
output "y" %1
)"},
    {"reduce_short_axes", R"(
%0 = input "x" : f32[N,1,3]
%1 = max_reduce %0 axes=(-3,-2) : f32[1,1,3]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,1,3]
%1 = max_reduce %0 axes=(-3) : f32[1,1,3]
output "y" %1
)"},
    {"reduce_twice", R"(
%0 = input "x" : f32[N,2,3]
%1 = sum %0 axes=(-1) : f32[N,2,1]
%2 = sum %1 axes=(-3) : f32[1,2,1]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,2,3]
%1 = sum %0 axes=(-3,-1) : f32[1,2,1]
output "y" %1
)"},
    {"reduce_twice", R"(
%0 = input "x" : f32[N,2,3]
%1 = max_reduce %0 axes=(-2) : f32[N,1,3]
%2 = max_reduce %1 axes=(-1) : f32[N,1,1]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,2,3]
%1 = max_reduce %0 axes=(-2,-1) : f32[N,1,1]
output "y" %1
)"},
    {"argmax_one", R"(
%0 = input "x" : f32[N,1]
%1 = argmax %0 axis=(-1) : i32[N,1]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,1]
%1 = constant 0 : i32[]
%2 = broadcast %1 shape=(N,1) : i32[N,1]
output "y" %2
)"},
};

}  // namespace

std::span<const RuleCase> reduction_cases() { return reduction; }
