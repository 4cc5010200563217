#include "tests/rewrite/normal_form/identity_examples.hpp"

namespace cairn::test {
namespace {

// clang-format off
constexpr IdentityExample logic[] = {
    {"scaled_max", R"(
%0 = input "y" : f32[N,4]
%1 = constant 2 : f32[]
%2 = mul %1, %0 : f32[N,4]
%3 = input "x" : f32[N,4]
%4 = mul %1, %3 : f32[N,4]
%5 = max %4, %2 : f32[N,4]
%6 = max %3, %0 : f32[N,4]
%7 = mul %1, %6 : f32[N,4]
output "left" %5
output "right" %7
)"},
    {"min", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = min %1, %0 : f32[N,4]
%3 = neg %0 : f32[N,4]
%4 = neg %1 : f32[N,4]
%5 = max %4, %3 : f32[N,4]
%6 = neg %5 : f32[N,4]
output "left" %2
output "right" %6
)"},
    {"ne", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = ne %1, %0 : bool[N,4]
%3 = eq %1, %0 : bool[N,4]
%4 = logical_not %3 : bool[N,4]
output "left" %2
output "right" %4
)"},
    {"ge", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = ge %1, %0 : bool[N,4]
%3 = le %0, %1 : bool[N,4]
output "left" %2
output "right" %3
)"},
    {"gt", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = gt %1, %0 : bool[N,4]
%3 = lt %0, %1 : bool[N,4]
output "left" %2
output "right" %3
)"},
    {"lt", R"(
%0 = input "j" : i32[N]
%1 = input "i" : i32[N]
%2 = lt %1, %0 : bool[N]
%3 = le %0, %1 : bool[N]
%4 = logical_not %3 : bool[N]
output "left" %2
output "right" %4
)"},
    {"order_of_positions", R"(
%0 = iota length=(N) start=(0) dtype=(5) : i32[N]
%1 = reshape %0 shape=(N,1) : i32[N,1]
%2 = constant 3 : i32[]
%3 = add %1, %2 : i32[N,1]
%4 = constant 1 : i32[]
%5 = add %0, %4 : i32[N]
%6 = le %5, %3 : bool[N,N]
%7 = sub %1, %0 : i32[N,N]
%8 = constant 2 : i32[]
%9 = add %7, %8 : i32[N,N]
%10 = constant 0 : i32[]
%11 = ge %9, %10 : bool[N,N]
output "left" %6
output "right" %11
)"},
    {"not", R"(
%0 = input "p" : bool[N,4]
%1 = logical_not %0 : bool[N,4]
%2 = logical_not %1 : bool[N,4]
%3 = logical_and %0, %0 : bool[N,4]
output "left" %2
output "right" %3
)"},
    {"or", R"(
%0 = input "p" : bool[N,4]
%1 = input "q" : bool[N,4]
%2 = logical_or %0, %1 : bool[N,4]
%3 = logical_not %0 : bool[N,4]
%4 = logical_not %1 : bool[N,4]
%5 = logical_and %3, %4 : bool[N,4]
%6 = logical_not %5 : bool[N,4]
output "left" %2
output "right" %6
)"},
    {"and", R"(
%0 = input "p" : bool[N,4]
%1 = input "q" : bool[N,4]
%2 = logical_and %1, %0 : bool[N,4]
%3 = logical_and %0, %2 : bool[N,4]
output "left" %3
output "right" %2
)"},
    {"choice_by_sign", R"(
%0 = input "x" : f32[N,4]
%1 = constant 0 : f32[]
%2 = lt %0, %1 : bool[N,4]
%3 = where %2, %1, %0 : f32[N,4]
%4 = max %0, %1 : f32[N,4]
output "left" %3
output "right" %4
)"},
    {"negated_choice", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = input "p" : bool[N,4]
%3 = logical_not %2 : bool[N,4]
%4 = where %3, %1, %0 : f32[N,4]
%5 = where %2, %0, %1 : f32[N,4]
output "left" %4
output "right" %5
)"},
    {"nested_choice", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = input "q" : bool[N,4]
%3 = where %2, %1, %0 : f32[N,4]
%4 = input "p" : bool[N,4]
%5 = where %4, %3, %0 : f32[N,4]
%6 = logical_and %4, %2 : bool[N,4]
%7 = where %6, %1, %0 : f32[N,4]
output "left" %5
output "right" %7
)"},
    {"integer_add", R"(
%0 = input "i" : i32[N]
%1 = input "j" : i32[N]
%2 = add %1, %0 : i32[N]
%3 = add %0, %2 : i32[N]
%4 = constant 2 : i32[]
%5 = mul %4, %0 : i32[N]
%6 = add %5, %1 : i32[N]
output "left" %3
output "right" %6
)"},
    {"integer_sub", R"(
%0 = input "j" : i32[N]
%1 = input "i" : i32[N]
%2 = sub %1, %0 : i32[N]
%3 = constant -1 : i32[]
%4 = mul %3, %0 : i32[N]
%5 = add %1, %4 : i32[N]
output "left" %2
output "right" %5
)"},
    {"integer_neg", R"(
%0 = input "i" : i32[N]
%1 = neg %0 : i32[N]
%2 = constant -1 : i32[]
%3 = mul %2, %0 : i32[N]
output "left" %1
output "right" %3
)"},
    {"integer_mul", R"(
%0 = input "j" : i32[N]
%1 = input "i" : i32[N]
%2 = add %1, %0 : i32[N]
%3 = constant 3 : i32[]
%4 = mul %3, %2 : i32[N]
%5 = mul %3, %0 : i32[N]
%6 = mul %3, %1 : i32[N]
%7 = add %6, %5 : i32[N]
output "left" %4
output "right" %7
)"},
    {"cast_positions", R"(
%0 = iota length=(N) start=(0) dtype=(5) : i32[N]
%1 = constant 2 : i32[]
%2 = add %0, %1 : i32[N]
%3 = cast %2 dtype=(4) : i64[N]
%4 = iota length=(N) start=(0) dtype=(4) : i64[N]
%5 = constant 2 : i64[]
%6 = add %4, %5 : i64[N]
output "left" %3
output "right" %6
)"},
    {"iota_from_zero", R"(
%0 = iota length=(N) start=(3) dtype=(5) : i32[N]
%1 = iota length=(N) start=(0) dtype=(5) : i32[N]
%2 = constant 3 : i32[]
%3 = add %1, %2 : i32[N]
output "left" %0
output "right" %3
)"},
    {"abs", R"(
%0 = input "x" : f32[N,4]
%1 = constant -2 : f32[]
%2 = mul %1, %0 : f32[N,4]
%3 = abs %2 : f32[N,4]
%4 = abs %0 : f32[N,4]
%5 = constant 2 : f32[]
%6 = mul %5, %4 : f32[N,4]
output "left" %3
output "right" %6
)"},
    {"odd_function", R"(
%0 = input "x" : f32[N,4]
%1 = neg %0 : f32[N,4]
%2 = erf %1 : f32[N,4]
%3 = erf %0 : f32[N,4]
%4 = neg %3 : f32[N,4]
output "left" %2
output "right" %4
)"},
    {"even_function", R"(
%0 = input "x" : f32[N,4]
%1 = neg %0 : f32[N,4]
%2 = cos %1 : f32[N,4]
%3 = cos %0 : f32[N,4]
output "left" %2
output "right" %3
)"},
    {"linear_function", R"(
%0 = input "x" : f32[N,4]
%1 = constant 2 : f32[]
%2 = mul %1, %0 : f32[N,4]
%3 = cumsum %2 axis=(-1) : f32[N,4]
%4 = cumsum %0 axis=(-1) : f32[N,4]
%5 = mul %1, %4 : f32[N,4]
output "left" %3
output "right" %5
)"},
    {"move_of_multiple", R"(
%0 = input "x" : f32[N,4]
%1 = constant 2 : f32[]
%2 = mul %1, %0 : f32[N,4]
%3 = transpose %2 permutation=(-1,-2) : f32[4,N]
%4 = transpose %0 permutation=(-1,-2) : f32[4,N]
%5 = mul %1, %4 : f32[4,N]
output "left" %3
output "right" %5
)"},
    {"concat_of_multiples", R"(
%0 = input "x" : f32[N,4]
%1 = constant 2 : f32[]
%2 = mul %1, %0 : f32[N,4]
%3 = input "y" : f32[N,4]
%4 = constant 6 : f32[]
%5 = mul %4, %3 : f32[N,4]
%6 = concat %2, %5 axis=(-1) : f32[N,8]
%7 = constant 3 : f32[]
%8 = mul %7, %3 : f32[N,4]
%9 = concat %0, %8 axis=(-1) : f32[N,8]
%10 = mul %1, %9 : f32[N,8]
output "left" %6
output "right" %10
)"},
    {"largest_multiple", R"(
%0 = input "x" : f32[N,4]
%1 = constant 3 : f32[]
%2 = mul %1, %0 : f32[N,4]
%3 = max_reduce %2 axes=(-1) : f32[N,1]
%4 = max_reduce %0 axes=(-1) : f32[N,1]
%5 = mul %1, %4 : f32[N,1]
output "left" %3
output "right" %5
)"},
};
// clang-format on

}  // namespace

std::span<const IdentityExample> logic_examples() { return logic; }

}  // namespace cairn::test
