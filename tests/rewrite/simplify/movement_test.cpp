#include "rule_cases.hpp"

namespace {

constexpr RuleCase movement[] = {
    {"reshape_same", R"(
%0 = input "x" : f32[N,3]
%1 = reshape %0 shape=(N,3) : f32[N,3]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"reshape_reshape", R"(
%0 = input "x" : f32[N,6]
%1 = reshape %0 shape=(N,2,3) : f32[N,2,3]
%2 = reshape %1 shape=(2*N,3) : f32[2*N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,6]
%1 = reshape %0 shape=(2*N,3) : f32[2*N,3]
output "y" %1
)"},
    {"reshape_scalar", R"(
%0 = input "x" : f32[]
%1 = reshape %0 shape=(1,1) : f32[1,1]
output "y" %1
)",
     R"(
%0 = input "x" : f32[]
%1 = broadcast %0 shape=(1,1) : f32[1,1]
output "y" %1
)"},
    {"move_scalar", R"(
%0 = input "x" : f32[]
%1 = broadcast %0 shape=(N,6) : f32[N,6]
%2 = reshape %1 shape=(N,2,3) : f32[N,2,3]
%3 = transpose %2 permutation=(-1,-3,-2) : f32[3,N,2]
%4 = slice %3 axis=(-3) start=(0) stop=(2) step=(1) : f32[2,N,2]
%5 = window %4 axis=(-1) size=(2) stride=(1) dilation=(1) : f32[2,N,1,2]
output "y" %5
)",
     R"(
%0 = input "x" : f32[]
%1 = broadcast %0 shape=(2,N,1,2) : f32[2,N,1,2]
output "y" %1
)"},
    {"transpose_still", R"(
%0 = input "x" : f32[N,3]
%1 = transpose %0 permutation=(-2,-1) : f32[N,3]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"transpose_transpose", R"(
%0 = input "x" : f32[N,2,3]
%1 = transpose %0 permutation=(-2,-3,-1) : f32[2,N,3]
%2 = transpose %1 permutation=(-1,-2,-3) : f32[3,N,2]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,2,3]
%1 = transpose %0 permutation=(-1,-3,-2) : f32[3,N,2]
output "y" %1
)"},
    {"transpose_transpose", R"(
%0 = input "x" : f32[N,3]
%1 = transpose %0 permutation=(-1,-2) : f32[3,N]
%2 = transpose %1 permutation=(-1,-2) : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"transpose_still", R"(
%0 = input "x" : f32[N,1,2,3]
%1 = transpose %0 permutation=(-4,-2,-3,-1) : f32[N,2,1,3]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,1,2,3]
%1 = reshape %0 shape=(N,2,1,3) : f32[N,2,1,3]
output "y" %1
)"},
    {"transpose_split", R"(
%0 = input "k" : f32[2,N,3,4]
%1 = transpose %0 permutation=(-4,-2,-1,-3) : f32[2,3,4,N]
output "y" %1
)",
     R"(
%0 = input "k" : f32[2,N,3,4]
%1 = transpose %0 permutation=(-4,-2,-3,-1) : f32[2,3,N,4]
%2 = transpose %1 permutation=(-4,-3,-1,-2) : f32[2,3,4,N]
output "y" %2
)"},
    {"broadcast_same", R"(
%0 = input "x" : f32[]
%1 = broadcast %0 shape=() : f32[]
output "y" %1
)",
     R"(
%0 = input "x" : f32[]
output "y" %0
)"},
    {"broadcast_broadcast", R"(
%0 = input "x" : f32[3]
%1 = broadcast %0 shape=(N,3) : f32[N,3]
%2 = broadcast %1 shape=(2,N,3) : f32[2,N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[3]
%1 = broadcast %0 shape=(2,N,3) : f32[2,N,3]
output "y" %1
)"},
    {"broadcast_ones", R"(
%0 = input "x" : f32[N,3]
%1 = broadcast %0 shape=(1,1,N,3) : f32[1,1,N,3]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = reshape %0 shape=(1,1,N,3) : f32[1,1,N,3]
output "y" %1
)"},
    {"broadcast_leading_ones", R"(
%0 = input "x" : f32[3]
%1 = reshape %0 shape=(1,3) : f32[1,3]
%2 = broadcast %1 shape=(N,3) : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[3]
%1 = broadcast %0 shape=(N,3) : f32[N,3]
output "y" %1
)"},
    {"matmul_broadcast", R"(
%0 = input "x" : f32[4,N,3]
%1 = input "w" : f32[3,2]
%2 = broadcast %1 shape=(4,3,2) : f32[4,3,2]
%3 = matmul %0, %2 : f32[4,N,2]
output "y" %3
)",
     R"(
%0 = input "x" : f32[4,N,3]
%1 = input "w" : f32[3,2]
%2 = matmul %0, %1 : f32[4,N,2]
output "y" %2
)"},
    {"matmul_broadcast", R"(
%0 = input "x" : f32[4,N,3]
%1 = input "w" : f32[3,2]
%2 = reshape %1 shape=(1,3,2) : f32[1,3,2]
%3 = matmul %0, %2 : f32[4,N,2]
output "y" %3
)",
     R"(
%0 = input "x" : f32[4,N,3]
%1 = input "w" : f32[3,2]
%2 = matmul %0, %1 : f32[4,N,2]
output "y" %2
)"},
    {"broadcast_operand", R"(
%0 = input "x" : f32[3]
%1 = input "z" : f32[N,3]
%2 = broadcast %0 shape=(N,3) : f32[N,3]
%3 = add %2, %1 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[3]
%1 = input "z" : f32[N,3]
%2 = add %0, %1 : f32[N,3]
output "y" %2
)"},
    {"broadcast_operand", R"(
%0 = input "x" : f32[3]
%1 = input "z" : f32[3]
%2 = broadcast %0 shape=(N,3) : f32[N,3]
%3 = broadcast %1 shape=(N,3) : f32[N,3]
%4 = mul %2, %3 : f32[N,3]
%5 = tanh %4 : f32[N,3]
output "y" %5
)",
     R"(
%0 = input "x" : f32[3]
%1 = input "z" : f32[3]
%2 = mul %0, %1 : f32[3]
%3 = tanh %2 : f32[3]
%4 = broadcast %3 shape=(N,3) : f32[N,3]
output "y" %4
)"},
    {"leading_ones", R"(
%0 = input "x" : f32[N,3]
%1 = input "b" : f32[3]
%2 = reshape %1 shape=(1,3) : f32[1,3]
%3 = add %0, %2 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = input "b" : f32[3]
%2 = add %0, %1 : f32[N,3]
output "y" %2
)"},
};

}  // namespace

std::span<const RuleCase> movement_cases() { return movement; }
