#include "tests/rewrite/normal_form/identity_examples.hpp"

namespace cairn::test {
namespace {

// clang-format off
constexpr IdentityExample structure[] = {
    {"factors_of_sum", R"(
%0 = input "x" : f32[N,4]
%1 = input "column" : f32[N,1]
%2 = mul %1, %0 : f32[N,4]
%3 = sum %2 axes=(-1) : f32[N,1]
%4 = sum %0 axes=(-1) : f32[N,1]
%5 = mul %1, %4 : f32[N,1]
output "left" %3
output "right" %5
)"},
    {"appended_rows", R"(
%0 = state_read "s" axis=(-2) capacity=(16) : f32[N,4]
%1 = input "x" : f32[2,4]
%2 = state_append %0, %1 : f32[2 + N,4]
%3 = exp %2 : f32[2 + N,4]
%4 = concat %0, %1 axis=(-2) : f32[2 + N,4]
%5 = exp %4 : f32[2 + N,4]
state "s" %2
output "left" %3
output "right" %5
)"},
    {"product_of_concat", R"(
%0 = input "tall" : f32[8,5]
%1 = input "x" : f32[N,4]
%2 = input "y" : f32[N,4]
%3 = concat %1, %2 axis=(-1) : f32[N,8]
%4 = matmul %3, %0 : f32[N,5]
%5 = slice %0 axis=(-2) start=(4) stop=(8) step=(1) : f32[4,5]
%6 = matmul %2, %5 : f32[N,5]
%7 = slice %0 axis=(-2) start=(0) stop=(4) step=(1) : f32[4,5]
%8 = matmul %1, %7 : f32[N,5]
%9 = add %8, %6 : f32[N,5]
output "left" %4
output "right" %9
)"},
    {"product_of_sums", R"(
%0 = input "b" : f32[4,6]
%1 = input "y" : f32[N,4]
%2 = input "x" : f32[N,4]
%3 = add %2, %1 : f32[N,4]
%4 = matmul %3, %0 : f32[N,6]
%5 = matmul %1, %0 : f32[N,6]
%6 = matmul %2, %0 : f32[N,6]
%7 = add %6, %5 : f32[N,6]
output "left" %4
output "right" %7
)"},
    {"bound_factors", R"(
%0 = weight "w" : f32[4,5]
%1 = weight "g" : f32[4]
%2 = input "x" : f32[N,4]
%3 = mul %2, %1 : f32[N,4]
%4 = matmul %3, %0 : f32[N,5]
%5 = reshape %1 shape=(4,1) : f32[4,1]
%6 = mul %5, %0 : f32[4,5]
%7 = matmul %2, %6 : f32[N,5]
output "left" %4
output "right" %7
)"},
    {"bound_terms", R"(
%0 = weight "w" : f32[4,5]
%1 = weight "g" : f32[4]
%2 = input "x" : f32[N,4]
%3 = add %2, %1 : f32[N,4]
%4 = matmul %3, %0 : f32[N,5]
%5 = reshape %1 shape=(1,4) : f32[1,4]
%6 = matmul %5, %0 : f32[1,5]
%7 = matmul %2, %0 : f32[N,5]
%8 = add %7, %6 : f32[N,5]
output "left" %4
output "right" %8
)"},
    {"chain_of_products", R"(
%0 = input "c" : f32[6,2]
%1 = input "b" : f32[4,6]
%2 = input "a" : f32[N,4]
%3 = matmul %2, %1 : f32[N,6]
%4 = matmul %3, %0 : f32[N,2]
%5 = matmul %1, %0 : f32[4,2]
%6 = matmul %2, %5 : f32[N,2]
output "left" %4
output "right" %6
)"},
    {"factors_of_product", R"(
%0 = input "row" : f32[6]
%1 = input "b" : f32[4,6]
%2 = mul %1, %0 : f32[4,6]
%3 = input "a" : f32[N,4]
%4 = input "column" : f32[N,1]
%5 = mul %4, %3 : f32[N,4]
%6 = matmul %5, %2 : f32[N,6]
%7 = matmul %3, %1 : f32[N,6]
%8 = mul %4, %7 : f32[N,6]
%9 = mul %8, %0 : f32[N,6]
output "left" %6
output "right" %9
)"},
    {"leading_ones", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = reshape %1 shape=(1,1,N,4) : f32[1,1,N,4]
%3 = add %2, %0 : f32[1,1,N,4]
%4 = reshape %0 shape=(1,1,N,4) : f32[1,1,N,4]
%5 = add %1, %4 : f32[1,1,N,4]
output "left" %3
output "right" %5
)"},
    {"still_transpose", R"(
%0 = input "tall" : f32[N,1,4]
%1 = transpose %0 permutation=(-2,-3,-1) : f32[1,N,4]
%2 = reshape %0 shape=(1,N,4) : f32[1,N,4]
output "left" %1
output "right" %2
)"},
    {"two_reshapes", R"(
%0 = input "x" : f32[N,4]
%1 = reshape %0 shape=(N,2,2) : f32[N,2,2]
%2 = reshape %1 shape=(2*N,2) : f32[2*N,2]
%3 = reshape %0 shape=(2*N,2) : f32[2*N,2]
output "left" %2
output "right" %3
)"},
    {"two_transposes", R"(
%0 = input "cube" : f32[N,3,4]
%1 = transpose %0 permutation=(-2,-3,-1) : f32[3,N,4]
%2 = transpose %1 permutation=(-1,-2,-3) : f32[4,N,3]
%3 = transpose %0 permutation=(-1,-3,-2) : f32[4,N,3]
output "left" %2
output "right" %3
)"},
    {"move_of_elements", R"(
%0 = input "y" : f32[N,4]
%1 = input "x" : f32[N,4]
%2 = mul %1, %0 : f32[N,4]
%3 = tanh %2 : f32[N,4]
%4 = reshape %3 shape=(2*N,2) : f32[2*N,2]
%5 = reshape %0 shape=(2*N,2) : f32[2*N,2]
%6 = reshape %1 shape=(2*N,2) : f32[2*N,2]
%7 = mul %6, %5 : f32[2*N,2]
%8 = tanh %7 : f32[2*N,2]
output "left" %4
output "right" %8
)"},
    {"transpose_of_product", R"(
%0 = input "b" : f32[4,6]
%1 = input "a" : f32[N,4]
%2 = matmul %1, %0 : f32[N,6]
%3 = transpose %2 permutation=(-1,-2) : f32[6,N]
%4 = transpose %1 permutation=(-1,-2) : f32[4,N]
%5 = transpose %0 permutation=(-1,-2) : f32[6,4]
%6 = matmul %5, %4 : f32[6,N]
output "left" %3
output "right" %6
)"},
    {"rows_of_product", R"(
%0 = input "cube" : f32[N,3,4]
%1 = input "b" : f32[4,6]
%2 = matmul %0, %1 : f32[N,3,6]
%3 = reshape %2 shape=(3*N,6) : f32[3*N,6]
%4 = reshape %0 shape=(3*N,4) : f32[3*N,4]
%5 = matmul %4, %1 : f32[3*N,6]
output "left" %3
output "right" %5
)"},
    {"reshape_of_gather", R"(
%0 = constant {2, 0, 1, 2} : i32[4]
%1 = input "table" : f32[3,4]
%2 = gather %1, %0 axis=(-2) : f32[4,4]
%3 = reshape %2 shape=(2,2,4) : f32[2,2,4]
%4 = reshape %0 shape=(2,2) : i32[2,2]
%5 = gather %1, %4 axis=(-2) : f32[2,2,4]
output "left" %3
output "right" %5
)"},
    {"unit_axes", R"(
%0 = input "cube" : f32[N,3,4]
%1 = sum %0 axes=(-1) : f32[N,3,1]
%2 = reshape %1 shape=(N,1,3,1) : f32[N,1,3,1]
%3 = reshape %0 shape=(N,1,3,4) : f32[N,1,3,4]
%4 = sum %3 axes=(-1) : f32[N,1,3,1]
output "left" %2
output "right" %4
)"},
    {"reshape_of_broadcast", R"(
%0 = input "cube" : f32[N,3,4]
%1 = input "r" : f32[4]
%2 = mul %0, %1 : f32[N,3,4]
%3 = sin %2 : f32[N,3,4]
%4 = reshape %3 shape=(3*N,4) : f32[3*N,4]
%5 = reshape %0 shape=(3*N,4) : f32[3*N,4]
%6 = mul %5, %1 : f32[3*N,4]
%7 = sin %6 : f32[3*N,4]
output "left" %4
output "right" %7
)"},
    {"transpose_of_broadcast", R"(
%0 = input "r" : f32[4]
%1 = input "x" : f32[N,4]
%2 = mul %1, %0 : f32[N,4]
%3 = sin %2 : f32[N,4]
%4 = transpose %3 permutation=(-1,-2) : f32[4,N]
%5 = reshape %0 shape=(4,1) : f32[4,1]
%6 = transpose %1 permutation=(-1,-2) : f32[4,N]
%7 = mul %6, %5 : f32[4,N]
%8 = sin %7 : f32[4,N]
output "left" %4
output "right" %8
)"},
    {"slice_of_elements", R"(
%0 = input "column" : f32[N,1]
%1 = input "x" : f32[N,4]
%2 = mul %1, %0 : f32[N,4]
%3 = sin %2 : f32[N,4]
%4 = slice %3 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,2]
%5 = slice %1 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,2]
%6 = mul %5, %0 : f32[N,2]
%7 = sin %6 : f32[N,2]
output "left" %4
output "right" %7
)"},
    {"slice_of_reduction", R"(
%0 = input "cube" : f32[N,3,4]
%1 = sum %0 axes=(-2) : f32[N,1,4]
%2 = slice %1 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,1,2]
%3 = slice %0 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,3,2]
%4 = sum %3 axes=(-2) : f32[N,1,2]
output "left" %2
output "right" %4
)"},
    {"slice_of_product", R"(
%0 = input "b" : f32[4,6]
%1 = input "a" : f32[N,4]
%2 = matmul %1, %0 : f32[N,6]
%3 = slice %2 axis=(-1) start=(2) stop=(4) step=(1) : f32[N,2]
%4 = slice %0 axis=(-1) start=(2) stop=(4) step=(1) : f32[4,2]
%5 = matmul %1, %4 : f32[N,2]
output "left" %3
output "right" %5
)"},
    {"slice_across_concat", R"(
%0 = input "u" : f32[4,4]
%1 = input "v" : f32[4,3]
%2 = concat %0, %1 axis=(-1) : f32[4,7]
%3 = slice %2 axis=(-2) start=(1) stop=(3) step=(1) : f32[2,7]
%4 = slice %0 axis=(-2) start=(1) stop=(3) step=(1) : f32[2,4]
%5 = slice %1 axis=(-2) start=(1) stop=(3) step=(1) : f32[2,3]
%6 = concat %4, %5 axis=(-1) : f32[2,7]
output "left" %3
output "right" %6
)"},
    {"slice_within_concat", R"(
%0 = input "x" : f32[N,4]
%1 = input "y" : f32[N,4]
%2 = concat %0, %1 axis=(-1) : f32[N,8]
%3 = slice %2 axis=(-1) start=(5) stop=(7) step=(1) : f32[N,2]
%4 = slice %1 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,2]
output "left" %3
output "right" %4
)"},
    {"slice_of_slice", R"(
%0 = input "x" : f32[N,4]
%1 = slice %0 axis=(-1) start=(1) stop=(4) step=(1) : f32[N,3]
%2 = slice %1 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,2]
%3 = slice %0 axis=(-1) start=(2) stop=(4) step=(1) : f32[N,2]
output "left" %2
output "right" %3
)"},
    {"slices_of_two_axes", R"(
%0 = input "u" : f32[4,4]
%1 = slice %0 axis=(-1) start=(1) stop=(3) step=(1) : f32[4,2]
%2 = slice %1 axis=(-2) start=(0) stop=(2) step=(1) : f32[2,2]
%3 = slice %0 axis=(-2) start=(0) stop=(2) step=(1) : f32[2,4]
%4 = slice %3 axis=(-1) start=(1) stop=(3) step=(1) : f32[2,2]
output "left" %2
output "right" %4
)"},
    {"slice_of_transpose", R"(
%0 = input "x" : f32[N,4]
%1 = transpose %0 permutation=(-1,-2) : f32[4,N]
%2 = slice %1 axis=(-2) start=(1) stop=(3) step=(1) : f32[2,N]
%3 = slice %0 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,2]
%4 = transpose %3 permutation=(-1,-2) : f32[2,N]
output "left" %2
output "right" %4
)"},
    {"slice_of_reshape", R"(
%0 = input "cube" : f32[N,3,4]
%1 = reshape %0 shape=(3*N,4) : f32[3*N,4]
%2 = slice %1 axis=(-1) start=(1) stop=(3) step=(1) : f32[3*N,2]
%3 = slice %0 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,3,2]
%4 = reshape %3 shape=(3*N,2) : f32[3*N,2]
output "left" %2
output "right" %4
)"},
    {"gather_of_elements", R"(
%0 = constant {2, 0, 1, 2} : i32[4]
%1 = input "r" : f32[4]
%2 = input "table" : f32[3,4]
%3 = mul %2, %1 : f32[3,4]
%4 = tanh %3 : f32[3,4]
%5 = gather %4, %0 axis=(-2) : f32[4,4]
%6 = gather %2, %0 axis=(-2) : f32[4,4]
%7 = mul %6, %1 : f32[4,4]
%8 = tanh %7 : f32[4,4]
output "left" %5
output "right" %8
)"},
};
// clang-format on

}  // namespace

std::span<const IdentityExample> structure_examples() { return structure; }

}  // namespace cairn::test
