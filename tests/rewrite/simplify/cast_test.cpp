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
