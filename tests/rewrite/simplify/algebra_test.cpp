#include "rule_cases.hpp"

namespace {

constexpr RuleCase algebra[] = {
    {"add_zero", R"(
%0 = input "x" : i32[N,3]
%1 = constant 0 : i32[]
%2 = add %0, %1 : i32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : i32[N,3]
output "y" %0
)"},
    {"add_zero", R"(
%0 = input "x" : f32[N,3]
%1 = constant -0 : f32[]
%2 = add %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"add_zero", R"(
%0 = input "x" : f32[N,3]
%1 = exp %0 : f32[N,3]
%2 = constant 0 : f32[]
%3 = add %1, %2 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = exp %0 : f32[N,3]
output "y" %1
)"},
    {"add_empty_product", R"(
%0 = input "x" : f32[N,3]
%1 = input "a" : f32[N,0]
%2 = input "b" : f32[0,3]
%3 = matmul %1, %2 : f32[N,3]
%4 = add %0, %3 : f32[N,3]
output "y" %4
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = input "a" : f32[N,0]
%2 = input "b" : f32[0,3]
output "y" %0
)"},
    {"add_empty_product", R"(
%0 = input "x" : f32[2,3]
%1 = input "a" : f32[2,1,0]
%2 = input "b" : f32[2,0,3]
%3 = matmul %1, %2 : f32[2,1,3]
%4 = reshape %3 shape=(2,3) : f32[2,3]
%5 = add %4, %0 : f32[2,3]
output "y" %5
)",
     R"(
%0 = input "x" : f32[2,3]
%1 = input "a" : f32[2,1,0]
%2 = input "b" : f32[2,0,3]
output "y" %0
)"},
    {"sub_zero", R"(
%0 = input "x" : f32[N,3]
%1 = constant 0 : f32[]
%2 = sub %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"zero_sub", R"(
%0 = input "x" : i32[N,3]
%1 = constant 0 : i32[]
%2 = sub %1, %0 : i32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : i32[N,3]
%1 = neg %0 : i32[N,3]
output "y" %1
)"},
    {"sub_self", R"(
%0 = input "x" : i32[N,3]
%1 = sub %0, %0 : i32[N,3]
output "y" %1
)",
     R"(
%0 = input "x" : i32[N,3]
%1 = constant 0 : i32[]
%2 = broadcast %1 shape=(N,3) : i32[N,3]
output "y" %2
)"},
    {"mul_one", R"(
%0 = input "x" : f32[3]
%1 = constant 1 : f32[]
%2 = broadcast %1 shape=(N,3) : f32[N,3]
%3 = mul %2, %0 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[3]
%1 = broadcast %0 shape=(N,3) : f32[N,3]
output "y" %1
)"},
    {"div_one", R"(
%0 = input "x" : i32[N,3]
%1 = constant 1 : i32[]
%2 = div %0, %1 : i32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : i32[N,3]
output "y" %0
)"},
    {"mul_zero", R"(
%0 = input "x" : i32[N,3]
%1 = constant 0 : i32[]
%2 = mul %0, %1 : i32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : i32[N,3]
%1 = constant 0 : i32[]
%2 = broadcast %1 shape=(N,3) : i32[N,3]
output "y" %2
)"},
    {"mul_minus_one", R"(
%0 = input "x" : f32[N,3]
%1 = constant -1 : f32[]
%2 = mul %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = neg %0 : f32[N,3]
output "y" %1
)"},
    {"mul_minus_one", R"(
%0 = input "x" : f32[N,3]
%1 = constant -1 : f32[]
%2 = div %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = neg %0 : f32[N,3]
output "y" %1
)"},
    {"div_power_of_two", R"(
%0 = input "x" : f32[N,3]
%1 = constant 8 : f32[]
%2 = div %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = constant 0.125 : f32[]
%2 = mul %0, %1 : f32[N,3]
output "y" %2
)"},
    {"neg_neg", R"(
%0 = input "x" : f32[N,3]
%1 = neg %0 : f32[N,3]
%2 = neg %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"neg_both", R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[3]
%2 = neg %0 : f32[N,3]
%3 = neg %1 : f32[3]
%4 = mul %2, %3 : f32[N,3]
output "y" %4
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[3]
%2 = mul %0, %1 : f32[N,3]
output "y" %2
)"},
    {"neg_both", R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[3]
%2 = neg %0 : f32[N,3]
%3 = neg %1 : f32[3]
%4 = div %2, %3 : f32[N,3]
output "y" %4
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[3]
%2 = div %0, %1 : f32[N,3]
output "y" %2
)"},
    {"neg_into_constant", R"(
%0 = input "x" : f32[N,3]
%1 = neg %0 : f32[N,3]
%2 = constant 0.3 : f32[]
%3 = mul %1, %2 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = constant -0.3 : f32[]
%2 = mul %0, %1 : f32[N,3]
output "y" %2
)"},
    {"neg_into_constant", R"(
%0 = input "x" : f32[N,3]
%1 = neg %0 : f32[N,3]
%2 = constant 3 : f32[]
%3 = div %2, %1 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = constant -3 : f32[]
%2 = div %1, %0 : f32[N,3]
output "y" %2
)"},
    {"add_neg", R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[3]
%2 = neg %1 : f32[3]
%3 = add %2, %0 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[3]
%2 = sub %0, %1 : f32[N,3]
output "y" %2
)"},
    {"sub_neg", R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[3]
%2 = neg %1 : f32[3]
%3 = sub %0, %2 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[3]
%2 = add %0, %1 : f32[N,3]
output "y" %2
)"},
    {"abs_neg", R"(
%0 = input "x" : i8[N,3]
%1 = neg %0 : i8[N,3]
%2 = abs %1 : i8[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : i8[N,3]
%1 = abs %0 : i8[N,3]
output "y" %1
)"},
    {"abs_nonnegative", R"(
%0 = input "x" : f32[N,3]
%1 = mul %0, %0 : f32[N,3]
%2 = abs %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = mul %0, %0 : f32[N,3]
output "y" %1
)"},
    {"collect_constants", R"(
%0 = input "x" : i32[N,3]
%1 = constant 5 : i32[]
%2 = constant 7 : i32[]
%3 = add %0, %1 : i32[N,3]
%4 = add %3, %2 : i32[N,3]
output "y" %4
)",
     R"(
%0 = input "x" : i32[N,3]
%1 = constant 12 : i32[]
%2 = add %0, %1 : i32[N,3]
output "y" %2
)"},
    {"collect_constants", R"(
%0 = input "x" : u8[N,3]
%1 = constant 50 : u8[]
%2 = constant 7 : u8[]
%3 = mul %0, %1 : u8[N,3]
%4 = mul %3, %2 : u8[N,3]
output "y" %4
)",
     R"(
%0 = input "x" : u8[N,3]
%1 = constant 94 : u8[]
%2 = mul %0, %1 : u8[N,3]
output "y" %2
)"},
};

}  // namespace

std::span<const RuleCase> algebra_cases() { return algebra; }
