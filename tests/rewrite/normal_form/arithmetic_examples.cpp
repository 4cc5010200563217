#include "tests/rewrite/normal_form/identity_examples.hpp"

namespace cairn::test {
namespace {

// clang-format off
constexpr IdentityExample arithmetic[] = {
    {"neg", R"(
%0 = input "x" : f32[N,4]
%1 = neg %0 : f32[N,4]
%2 = constant -1 : f32[]
%3 = mul %2, %0 : f32[N,4]
output "left" %1
output "right" %3
)"},
    {"add", R"(
%0 = input "r" : f32[4]
%1 = input "y" : f32[N,4]
%2 = add %1, %0 : f32[N,4]
%3 = input "x" : f32[N,4]
%4 = add %3, %2 : f32[N,4]
%5 = add %0, %3 : f32[N,4]
%6 = add %5, %1 : f32[N,4]
output "left" %4
output "right" %6
)"},
    {"sub", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = sub %1, %0 : f32[N,4]
%3 = constant -1 : f32[]
%4 = mul %3, %0 : f32[N,4]
%5 = add %1, %4 : f32[N,4]
output "left" %2
output "right" %5
)"},
    {"mul", R"(
%0 = input "r" : f32[4]
%1 = input "y" : f32[N,4]
%2 = mul %1, %0 : f32[N,4]
%3 = input "x" : f32[N,4]
%4 = mul %3, %2 : f32[N,4]
%5 = mul %0, %3 : f32[N,4]
%6 = mul %5, %1 : f32[N,4]
output "left" %4
output "right" %6
)"},
    {"div", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = div %1, %0 : f32[N,4]
%3 = constant -1 : f32[]
%4 = pow %0, %3 : f32[N,4]
%5 = mul %1, %4 : f32[N,4]
output "left" %2
output "right" %5
)"},
    {"sqrt", R"(
%0 = input "x" : f32[N,4]
%1 = sqrt %0 : f32[N,4]
%2 = constant 0.5 : f32[]
%3 = pow %0, %2 : f32[N,4]
output "left" %1
output "right" %3
)"},
    {"rsqrt", R"(
%0 = input "x" : f32[N,4]
%1 = rsqrt %0 : f32[N,4]
%2 = constant -0.5 : f32[]
%3 = pow %0, %2 : f32[N,4]
output "left" %1
output "right" %3
)"},
    {"pow", R"(
%0 = input "x" : f32[N,4]
%1 = constant 2 : f32[]
%2 = pow %0, %1 : f32[N,4]
%3 = mul %0, %0 : f32[N,4]
output "left" %2
output "right" %3
)"},
    {"power_of_product", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = mul %1, %0 : f32[N,4]
%3 = constant 2 : f32[]
%4 = pow %2, %3 : f32[N,4]
%5 = pow %0, %3 : f32[N,4]
%6 = pow %1, %3 : f32[N,4]
%7 = mul %6, %5 : f32[N,4]
output "left" %4
output "right" %7
)"},
    {"power_of_multiple", R"(
%0 = input "x" : f32[N,4]
%1 = constant 4 : f32[]
%2 = mul %1, %0 : f32[N,4]
%3 = sqrt %2 : f32[N,4]
%4 = sqrt %0 : f32[N,4]
%5 = constant 2 : f32[]
%6 = mul %5, %4 : f32[N,4]
output "left" %3
output "right" %6
)"},
    {"like_factors", R"(
%0 = input "x" : f32[N,4]
%1 = constant 2 : f32[]
%2 = pow %0, %1 : f32[N,4]
%3 = mul %2, %0 : f32[N,4]
%4 = constant 3 : f32[]
%5 = pow %0, %4 : f32[N,4]
output "left" %3
output "right" %5
)"},
    {"flatten_sum", R"(
%0 = input "r" : f32[4]
%1 = input "y" : f32[N,4]
%2 = input "x" : f32[N,4]
%3 = add %2, %1 : f32[N,4]
%4 = constant 2 : f32[]
%5 = mul %4, %3 : f32[N,4]
%6 = add %5, %0 : f32[N,4]
%7 = mul %4, %1 : f32[N,4]
%8 = add %7, %0 : f32[N,4]
%9 = mul %4, %2 : f32[N,4]
%10 = add %9, %8 : f32[N,4]
output "left" %6
output "right" %10
)"},
    {"distribute", R"(
%0 = input "r" : f32[4]
%1 = input "y" : f32[N,4]
%2 = add %1, %0 : f32[N,4]
%3 = input "x" : f32[N,4]
%4 = mul %3, %2 : f32[N,4]
%5 = add %4, %0 : f32[N,4]
%6 = mul %3, %0 : f32[N,4]
%7 = add %6, %0 : f32[N,4]
%8 = mul %3, %1 : f32[N,4]
%9 = add %8, %7 : f32[N,4]
output "left" %5
output "right" %9
)"},
    {"zero_terms", R"(
%0 = input "r" : f32[4]
%1 = input "x" : f32[N,4]
%2 = mul %1, %0 : f32[N,4]
%3 = input "y" : f32[N,4]
%4 = mul %1, %3 : f32[N,4]
%5 = add %4, %2 : f32[N,4]
%6 = constant 0 : f32[]
%7 = add %5, %6 : f32[N,4]
output "left" %7
output "right" %5
)", true},
    {"like_terms", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = constant 2 : f32[]
%3 = mul %2, %1 : f32[N,4]
%4 = add %3, %1 : f32[N,4]
%5 = add %4, %0 : f32[N,4]
%6 = constant 3 : f32[]
%7 = mul %6, %1 : f32[N,4]
%8 = add %7, %0 : f32[N,4]
output "left" %5
output "right" %8
)"},
    {"common_factors", R"(
%0 = input "r" : f32[4]
%1 = input "x" : f32[N,4]
%2 = mul %1, %0 : f32[N,4]
%3 = input "y" : f32[N,4]
%4 = mul %1, %3 : f32[N,4]
%5 = add %4, %2 : f32[N,4]
%6 = add %3, %0 : f32[N,4]
%7 = mul %1, %6 : f32[N,4]
output "left" %5
output "right" %7
)"},
    {"joined_numbers", R"(
%0 = input "x" : f32[N,4]
%1 = constant 3 : f32[]
%2 = add %0, %1 : f32[N,4]
%3 = constant -1 : f32[]
%4 = add %2, %3 : f32[N,4]
%5 = constant 2 : f32[]
%6 = add %0, %5 : f32[N,4]
output "left" %4
output "right" %6
)"},
    {"largest_coefficient", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = constant 2 : f32[]
%3 = mul %2, %1 : f32[N,4]
%4 = add %3, %0 : f32[N,4]
%5 = sin %4 : f32[N,4]
%6 = constant 0.5 : f32[]
%7 = mul %6, %0 : f32[N,4]
%8 = add %1, %7 : f32[N,4]
%9 = mul %2, %8 : f32[N,4]
%10 = sin %9 : f32[N,4]
output "left" %5
output "right" %10
)"},
    {"added_mask", R"(
%0 = input "b" : f32[4,6]
%1 = input "a" : f32[N,4]
%2 = matmul %1, %0 : f32[N,6]
%3 = input "visible" : bool[N,6]
%4 = constant 0 : f32[]
%5 = constant -1e+30 : f32[]
%6 = where %3, %4, %5 : f32[N,6]
%7 = add %2, %6 : f32[N,6]
%8 = where %3, %2, %5 : f32[N,6]
output "left" %7
output "right" %8
)"},
    {"terms_under_mask", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = input "p" : bool[N,4]
%3 = constant -inf : f32[]
%4 = where %2, %1, %3 : f32[N,4]
%5 = add %4, %0 : f32[N,4]
%6 = add %1, %0 : f32[N,4]
%7 = where %2, %6, %3 : f32[N,4]
output "left" %5
output "right" %7
)"},
    {"power_of_exp", R"(
%0 = input "x" : f32[N,4]
%1 = exp %0 : f32[N,4]
%2 = constant 3 : f32[]
%3 = pow %1, %2 : f32[N,4]
%4 = mul %2, %0 : f32[N,4]
%5 = exp %4 : f32[N,4]
output "left" %3
output "right" %5
)"},
    {"exp_of_log", R"(
%0 = input "x" : f32[N,4]
%1 = exp %0 : f32[N,4]
%2 = sum %1 axes=(-1) : f32[N,1]
%3 = log %2 : f32[N,1]
%4 = constant 2 : f32[]
%5 = mul %4, %3 : f32[N,1]
%6 = exp %5 : f32[N,1]
%7 = pow %2, %4 : f32[N,1]
output "left" %6
output "right" %7
)"},
    {"exp_of_sum", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = add %1, %0 : f32[N,4]
%3 = exp %2 : f32[N,4]
%4 = exp %0 : f32[N,4]
%5 = exp %1 : f32[N,4]
%6 = mul %5, %4 : f32[N,4]
output "left" %3
output "right" %6
)"},
    {"log_of_product", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = exp %1 : f32[N,4]
%3 = mul %2, %0 : f32[N,4]
%4 = log %3 : f32[N,4]
%5 = log %0 : f32[N,4]
%6 = add %1, %5 : f32[N,4]
output "left" %4
output "right" %6
)"},
    {"log_of_inverse", R"(
%0 = input "x" : f32[N,4]
%1 = constant 1 : f32[]
%2 = div %1, %0 : f32[N,4]
%3 = log %2 : f32[N,4]
%4 = log %0 : f32[N,4]
%5 = neg %4 : f32[N,4]
output "left" %3
output "right" %5
)"},
    {"softmax_shift", R"(
%0 = input "x" : f32[N,4]
%1 = max_reduce %0 axes=(-1) : f32[N,1]
%2 = sub %0, %1 : f32[N,4]
%3 = exp %2 : f32[N,4]
%4 = sum %3 axes=(-1) : f32[N,1]
%5 = div %3, %4 : f32[N,4]
%6 = exp %0 : f32[N,4]
%7 = sum %6 axes=(-1) : f32[N,1]
%8 = div %6, %7 : f32[N,4]
output "left" %5
output "right" %8
)", true},
    {"softmax_shift", R"(
%0 = input "x" : f32[N,4]
%1 = max_reduce %0 axes=(-1) : f32[N,1]
%2 = sub %0, %1 : f32[N,4]
%3 = exp %2 : f32[N,4]
%4 = sum %3 axes=(-1) : f32[N,1]
%5 = log %4 : f32[N,1]
%6 = sub %2, %5 : f32[N,4]
%7 = exp %0 : f32[N,4]
%8 = sum %7 axes=(-1) : f32[N,1]
%9 = log %8 : f32[N,1]
%10 = sub %0, %9 : f32[N,4]
output "left" %6
output "right" %10
)", true},
    {"rising_exponents", R"(
%0 = input "x" : f32[N,4]
%1 = neg %0 : f32[N,4]
%2 = exp %1 : f32[N,4]
%3 = constant 1 : f32[]
%4 = add %3, %2 : f32[N,4]
%5 = exp %0 : f32[N,4]
%6 = mul %5, %2 : f32[N,4]
%7 = div %6, %4 : f32[N,4]
%8 = div %3, %4 : f32[N,4]
output "left" %7
output "right" %8
)"},
    {"tanh_by_logistic", R"(
%0 = input "x" : f32[N,4]
%1 = tanh %0 : f32[N,4]
%2 = constant 1 : f32[]
%3 = add %2, %1 : f32[N,4]
%4 = constant -2 : f32[]
%5 = mul %4, %0 : f32[N,4]
%6 = exp %5 : f32[N,4]
%7 = add %2, %6 : f32[N,4]
%8 = constant 2 : f32[]
%9 = div %8, %7 : f32[N,4]
output "left" %3
output "right" %9
)"},
    {"falling_exponent", R"(
%0 = input "x" : f32[N,4]
%1 = exp %0 : f32[N,4]
%2 = constant 1 : f32[]
%3 = add %2, %1 : f32[N,4]
%4 = neg %0 : f32[N,4]
%5 = exp %4 : f32[N,4]
%6 = add %2, %5 : f32[N,4]
%7 = mul %1, %6 : f32[N,4]
output "left" %3
output "right" %7
)"},
    {"rest_of_logistic", R"(
%0 = input "x" : f32[N,4]
%1 = exp %0 : f32[N,4]
%2 = constant 1 : f32[]
%3 = add %2, %1 : f32[N,4]
%4 = div %2, %3 : f32[N,4]
%5 = sub %2, %4 : f32[N,4]
%6 = div %1, %3 : f32[N,4]
output "left" %5
output "right" %6
)"},
};
// clang-format on

}  // namespace

std::span<const IdentityExample> arithmetic_examples() { return arithmetic; }

}  // namespace cairn::test
