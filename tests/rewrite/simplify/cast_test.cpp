#include "rule_cases.hpp"

namespace {

constexpr RuleCase cast[] = {
    {"cast_same", R"(
%0 = input "x" : f32[N,3]
%1 = cast %0 dtype=(1) : f32[N,3]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"cast_cast", R"(
%0 = input "x" : f16[N,3]
%1 = cast %0 dtype=(1) : f32[N,3]
%2 = cast %1 dtype=(0) : f64[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f16[N,3]
%1 = cast %0 dtype=(0) : f64[N,3]
output "y" %1
)"},
    {"cast_cast", R"(
%0 = input "x" : f32[N,3]
%1 = cast %0 dtype=(0) : f64[N,3]
%2 = cast %1 dtype=(3) : bf16[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = cast %0 dtype=(3) : bf16[N,3]
output "y" %1
)"},
    {"bitcast_back", R"(
%0 = input "x" : f32[N,4]
%1 = bitcast %0 dtype=(7) : u8[N,4,4]
%2 = bitcast %1 dtype=(1) : f32[N,4]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,4]
output "y" %0
)"},
    {"bitcast_back", R"(
%0 = input "x" : i8[N,3]
%1 = bitcast %0 dtype=(6) : i8[N,3]
output "y" %1
)",
     R"(
%0 = input "x" : i8[N,3]
output "y" %0
)"},
    {"widened_weight", R"(
%0 = weight "w" : f16[5,7]
%1 = cast %0 dtype=(1) : f32[5,7]
%2 = transpose %1 permutation=(-1,-2) : f32[7,5]
output "y" %2
)",
     R"(
%0 = weight "w" : f16[5,7]
%1 = transpose %0 permutation=(-1,-2) : f16[7,5]
%2 = cast %1 dtype=(1) : f32[7,5]
output "y" %2
)"},
    {"widened_weight", R"(
%0 = weight "w" : bf16[6,7]
%1 = reshape %0 shape=(2,3,7) : bf16[2,3,7]
%2 = cast %1 dtype=(1) : f32[2,3,7]
%3 = reshape %2 shape=(6,7) : f32[6,7]
output "y" %3
)",
     R"(
%0 = weight "w" : bf16[6,7]
%1 = cast %0 dtype=(1) : f32[6,7]
output "y" %1
)"},
    {"widened_weight", R"(
%0 = weight "w" : f16[6,7]
%1 = cast %0 dtype=(1) : f32[6,7]
%2 = slice %1 axis=(-2) start=(2) stop=(4) step=(1) : f32[2,7]
output "y" %2
)",
     R"(
%0 = weight "w" : f16[6,7]
%1 = slice %0 axis=(-2) start=(2) stop=(4) step=(1) : f16[2,7]
%2 = cast %1 dtype=(1) : f32[2,7]
output "y" %2
)"},
    {"copy_only", R"(
%0 = input "x" : f32[N,3]
%1 = copy_to %0 device=(0) : f32[N,3]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"copy_copy", R"(
%0 = input "x" : f32[N,3]
%1 = copy_to %0 device=(1) : f32[N,3]
%2 = copy_to %1 device=(0) : f32[N,3]
%3 = neg %2 : f32[N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = neg %0 : f32[N,3]
output "y" %1
)"},
};

}  // namespace

std::span<const RuleCase> cast_cases() { return cast; }
