#include "rule_cases.hpp"

namespace {

constexpr RuleCase logic[] = {
    {"same_operands", R"(
%0 = input "x" : f32[N,3]
%1 = max %0, %0 : f32[N,3]
%2 = min %1, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"same_operands", R"(
%0 = input "x" : bool[N,3]
%1 = logical_and %0, %0 : bool[N,3]
%2 = logical_or %1, %1 : bool[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : bool[N,3]
output "y" %0
)"},
    {"same_operands", R"(
%0 = input "x" : i32[N,3]
%1 = bitwise_and %0, %0 : i32[N,3]
output "y" %1
)",
     R"(
%0 = input "x" : i32[N,3]
output "y" %0
)"},
    {"bits_constant", R"(
%0 = input "x" : i64[N,3]
%1 = constant -1 : i64[]
%2 = bitwise_and %0, %1 : i64[N,3]
%3 = constant 0 : i64[]
%4 = bitwise_and %0, %3 : i64[N,3]
%5 = input "z" : u8[3]
%6 = constant 255 : u8[]
%7 = bitwise_and %6, %5 : u8[3]
output "y" %2
output "z" %4
output "u" %7
)",
     R"(
%0 = input "x" : i64[N,3]
%1 = constant 0 : i64[]
%2 = broadcast %1 shape=(N,3) : i64[N,3]
%3 = input "z" : u8[3]
output "y" %0
output "z" %2
output "u" %3
)"},
    {"min_highest", R"(
%0 = input "x" : f32[N,3]
%1 = constant inf : f32[]
%2 = min %0, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"max_lowest", R"(
%0 = input "x" : i8[N,3]
%1 = constant -128 : i8[]
%2 = max %0, %1 : i8[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : i8[N,3]
output "y" %0
)"},
    {"and_constant", R"(
%0 = input "x" : bool[N,3]
%1 = constant 1 : bool[]
%2 = logical_and %0, %1 : bool[N,3]
%3 = constant 0 : bool[]
%4 = logical_and %0, %3 : bool[N,3]
output "y" %2
output "z" %4
)",
     R"(
%0 = input "x" : bool[N,3]
%1 = constant 0 : bool[]
%2 = broadcast %1 shape=(N,3) : bool[N,3]
output "y" %0
output "z" %2
)"},
    {"or_constant", R"(
%0 = input "x" : bool[N,3]
%1 = constant 1 : bool[]
%2 = logical_or %0, %1 : bool[N,3]
%3 = constant 0 : bool[]
%4 = logical_or %0, %3 : bool[N,3]
output "y" %2
output "z" %4
)",
     R"(
%0 = input "x" : bool[N,3]
%1 = constant 1 : bool[]
%2 = broadcast %1 shape=(N,3) : bool[N,3]
output "y" %2
output "z" %0
)"},
    {"xor_constant", R"(
%0 = input "x" : bool[N,3]
%1 = constant 1 : bool[]
%2 = logical_xor %0, %1 : bool[N,3]
%3 = logical_xor %2, %2 : bool[N,3]
output "y" %2
output "z" %3
)",
     R"(
%0 = input "x" : bool[N,3]
%1 = logical_not %0 : bool[N,3]
%2 = constant 0 : bool[]
%3 = broadcast %2 shape=(N,3) : bool[N,3]
output "y" %1
output "z" %3
)"},
    {"not_not", R"(
%0 = input "x" : bool[N,3]
%1 = logical_not %0 : bool[N,3]
%2 = logical_not %1 : bool[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : bool[N,3]
output "y" %0
)"},
    {"not_comparison", R"(
%0 = input "x" : i32[N,3]
%1 = input "z" : i32[3]
%2 = lt %0, %1 : bool[N,3]
%3 = logical_not %2 : bool[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : i32[N,3]
%1 = input "z" : i32[3]
%2 = ge %0, %1 : bool[N,3]
output "y" %2
)"},
    {"compare_self", R"(
%0 = input "x" : i32[N,3]
%1 = eq %0, %0 : bool[N,3]
%2 = input "z" : f32[N,3]
%3 = lt %2, %2 : bool[N,3]
output "y" %1
output "z" %3
)",
     R"(
%0 = input "x" : i32[N,3]
%1 = constant 1 : bool[]
%2 = broadcast %1 shape=(N,3) : bool[N,3]
%3 = input "z" : f32[N,3]
%4 = constant 0 : bool[]
%5 = broadcast %4 shape=(N,3) : bool[N,3]
output "y" %2
output "z" %5
)"},
    {"where_constant", R"(
%0 = input "x" : f32[3]
%1 = input "z" : f32[N,3]
%2 = constant 1 : bool[]
%3 = where %2, %0, %1 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[3]
%1 = input "z" : f32[N,3]
%2 = broadcast %0 shape=(N,3) : f32[N,3]
output "y" %2
)"},
    {"where_same", R"(
%0 = input "c" : bool[N,1]
%1 = input "x" : f32[3]
%2 = where %0, %1, %1 : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "c" : bool[N,1]
%1 = input "x" : f32[3]
%2 = broadcast %1 shape=(N,3) : f32[N,3]
output "y" %2
)"},
    {"where_not", R"(
%0 = input "c" : bool[N,1]
%1 = input "x" : f32[3]
%2 = input "z" : f32[N,3]
%3 = logical_not %0 : bool[N,1]
%4 = where %3, %1, %2 : f32[N,3]
output "y" %4
)",
     R"(
%0 = input "c" : bool[N,1]
%1 = input "x" : f32[3]
%2 = input "z" : f32[N,3]
%3 = where %0, %2, %1 : f32[N,3]
output "y" %3
)"},
};

}  // namespace

std::span<const RuleCase> logic_cases() { return logic; }
