#include "rule_cases.hpp"

namespace {

constexpr RuleCase power[] = {
    {"pow_zero", R"(
%0 = input "x" : f32[N,3]
%1 = constant 0 : f32[]
%2 = pow %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = constant 1 : f32[]
%2 = broadcast %1 shape=(N,3) : f32[N,3]
output "y" %2
)"},
    {"pow_one", R"(
%0 = input "x" : f32[N,3]
%1 = constant 1 : f32[]
%2 = pow %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"pow_two", R"(
%0 = input "x" : f32[N,3]
%1 = constant 2 : f32[]
%2 = pow %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = mul %0, %0 : f32[N,3]
output "y" %1
)"},
    {"pow_three", R"(
%0 = input "x" : f32[N,3]
%1 = constant 3 : f32[]
%2 = pow %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = mul %0, %0 : f32[N,3]
%2 = mul %0, %1 : f32[N,3]
output "y" %2
)"},
    {"pow_minus_one", R"(
%0 = input "x" : f32[N,3]
%1 = constant -1 : f32[]
%2 = pow %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = constant 1 : f32[]
%2 = div %1, %0 : f32[N,3]
output "y" %2
)"},
    {"pow_half", R"(
%0 = input "x" : f32[N,3]
%1 = abs %0 : f32[N,3]
%2 = constant 0.5 : f32[]
%3 = pow %1, %2 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = abs %0 : f32[N,3]
%2 = sqrt %1 : f32[N,3]
output "y" %2
)"},
    {"pow_half", R"(
%0 = input "x" : f32[N,3]
%1 = mul %0, %0 : f32[N,3]
%2 = constant 1e-05 : f32[]
%3 = add %1, %2 : f32[N,3]
%4 = constant -0.5 : f32[]
%5 = pow %3, %4 : f32[N,3]
output "y" %5
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = mul %0, %0 : f32[N,3]
%2 = constant 1e-05 : f32[]
%3 = add %1, %2 : f32[N,3]
%4 = rsqrt %3 : f32[N,3]
output "y" %4
)"},
    {"reciprocal_sqrt", R"(
%0 = input "x" : f32[N,3]
%1 = sqrt %0 : f32[N,3]
%2 = constant 1 : f32[]
%3 = div %2, %1 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = rsqrt %0 : f32[N,3]
output "y" %1
)"},
    {"reciprocal_rsqrt", R"(
%0 = input "x" : f32[N,3]
%1 = rsqrt %0 : f32[N,3]
%2 = constant 1 : f32[]
%3 = div %2, %1 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = sqrt %0 : f32[N,3]
output "y" %1
)"},
    {"log_exp", R"(
%0 = input "x" : f32[N,3]
%1 = exp %0 : f32[N,3]
%2 = log %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"floor_floor", R"(
%0 = input "x" : f32[N,3]
%1 = floor %0 : f32[N,3]
%2 = floor %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = floor %0 : f32[N,3]
output "y" %1
)"},
    {"cos_even", R"(
%0 = input "x" : f32[N,3]
%1 = neg %0 : f32[N,3]
%2 = cos %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = cos %0 : f32[N,3]
output "y" %1
)"},
};

}  // namespace

std::span<const RuleCase> power_cases() { return power; }
