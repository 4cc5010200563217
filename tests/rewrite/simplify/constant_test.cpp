#include "rule_cases.hpp"

namespace {

constexpr RuleCase constant[] = {
    {"constant_uniform", R"(
%0 = input "x" : f32[N,3]
%1 = constant {2, 2, 2} : f32[3]
%2 = mul %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = constant 2 : f32[]
%2 = mul %0, %1 : f32[N,3]
output "y" %2
)"},
    {"iota_one", R"(
%0 = input "x" : i32[N,3]
%1 = iota length=(1) start=(5) dtype=(5) : i32[1]
%2 = add %0, %1 : i32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : i32[N,3]
%1 = constant 5 : i32[]
%2 = add %0, %1 : i32[N,3]
output "y" %2
)"},
    {"fold", R"(
%0 = constant {1, 2, 3, 4, 5, 6} : f32[2,3]
%1 = transpose %0 permutation=(-1,-2) : f32[3,2]
%2 = constant 3 : f32[]
%3 = div %1, %2 : f32[3,2]
%4 = sum %3 axes=(-1) : f32[3,1]
output "y" %4
)",
     R"(
%0 = constant {1.6666667, 2.3333333, 3} : f32[3,1]
output "y" %0
)"},
    {"fold", R"(
%0 = constant {1, 200, 3} : u8[3]
%1 = add %0, %0 : u8[3]
%2 = cast %1 dtype=(2) : f16[3]
output "y" %2
)",
     R"(
%0 = constant {2, 144, 6} : f16[3]
output "y" %0
)"},
    // 2^53 + 1 is not a double, and the sum of two doubles need not be one.
    {"iota_one", R"(
%0 = iota length=(1) start=(9007199254740993) dtype=(4) : i64[1]
output "y" %0
)",
     R"(
%0 = constant 9007199254740993 : i64[]
%1 = broadcast %0 shape=(1) : i64[1]
output "y" %1
)"},
    {"fold", R"(
%0 = constant {9007199254740993, -9007199254740993} : i64[2]
%1 = neg %0 : i64[2]
output "y" %1
)",
     R"(
%0 = constant {-9007199254740993, 9007199254740993} : i64[2]
output "y" %0
)"},
    {"fold", R"(
%0 = input "x" : i64[N]
%1 = constant 9007199254740991 : i64[]
%2 = constant 2 : i64[]
%3 = add %1, %2 : i64[]
%4 = lt %0, %3 : bool[N]
output "y" %4
)",
     R"(
%0 = input "x" : i64[N]
%1 = constant 9007199254740993 : i64[]
%2 = lt %0, %1 : bool[N]
output "y" %2
)"},
};

}  // namespace

std::span<const RuleCase> constant_cases() { return constant; }
