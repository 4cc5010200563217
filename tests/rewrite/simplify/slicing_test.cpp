#include "rule_cases.hpp"

namespace {

constexpr RuleCase slicing[] = {
    {"slice_all", R"(
%0 = input "x" : f32[N,3]
%1 = slice %0 axis=(-2) start=(0) stop=(N) step=(1) : f32[N,3]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"slice_slice", R"(
%0 = input "x" : f32[20]
%1 = slice %0 axis=(-1) start=(2) stop=(18) step=(1) : f32[16]
%2 = slice %1 axis=(-1) start=(1) stop=(11) step=(3) : f32[4]
output "y" %2
)",
     R"(
%0 = input "x" : f32[20]
%1 = slice %0 axis=(-1) start=(3) stop=(13) step=(3) : f32[4]
output "y" %1
)"},
    {"slice_slice", R"(
%0 = input "x" : f32[10]
%1 = slice %0 axis=(-1) start=(0) stop=(10) step=(3) : f32[4]
%2 = slice %1 axis=(-1) start=(1) stop=(4) step=(2) : f32[2]
output "y" %2
)",
     R"(
%0 = input "x" : f32[10]
%1 = slice %0 axis=(-1) start=(3) stop=(10) step=(6) : f32[2]
output "y" %1
)"},
    {"slice_concat", R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[5,3]
%2 = concat %0, %1 axis=(-2) : f32[5 + N,3]
%3 = slice %2 axis=(-2) start=(1 + N) stop=(4 + N) step=(1) : f32[3,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[5,3]
%2 = slice %1 axis=(-2) start=(1) stop=(4) step=(1) : f32[3,3]
output "y" %2
)"},
    {"slice_broadcast", R"(
%0 = input "x" : f32[1,3]
%1 = broadcast %0 shape=(2,8,3) : f32[2,8,3]
%2 = slice %1 axis=(-2) start=(1) stop=(4) step=(1) : f32[2,3,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[1,3]
%1 = broadcast %0 shape=(2,3,3) : f32[2,3,3]
output "y" %1
)"},
    {"slice_pad", R"(
%0 = input "x" : f32[N,3]
%1 = pad %0 axis=(-1) before=(2) after=(4) value=1 : f32[N,9]
%2 = slice %1 axis=(-1) start=(3) stop=(5) step=(1) : f32[N,2]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = slice %0 axis=(-1) start=(1) stop=(3) step=(1) : f32[N,2]
output "y" %1
)"},
    {"slice_iota", R"(
%0 = iota length=(9) start=(M) dtype=(5) : i32[9]
%1 = slice %0 axis=(-1) start=(2) stop=(6) step=(1) : i32[4]
output "y" %1
)",
     R"(
%0 = iota length=(4) start=(2 + M) dtype=(5) : i32[4]
output "y" %0
)"},
    {"pad_nothing", R"(
%0 = input "x" : f32[N,3]
%1 = pad %0 axis=(-1) before=(0) after=(0) value=1 : f32[N,3]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"pad_pad", R"(
%0 = input "x" : f32[N,3]
%1 = pad %0 axis=(-1) before=(1) after=(2) value=7 : f32[N,6]
%2 = pad %1 axis=(-1) before=(M) after=(0) value=7 : f32[N,6 + M]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = pad %0 axis=(-1) before=(1 + M) after=(2) value=7 : f32[N,6 + M]
output "y" %1
)"},
    {"concat_one", R"(
%0 = input "x" : f32[N,3]
%1 = concat %0 axis=(-1) : f32[N,3]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,3]
output "y" %0
)"},
    {"concat_empty", R"(
%0 = input "x" : f32[N,3]
%1 = input "e" : f32[0,3]
%2 = concat %1, %0, %1 axis=(-2) : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = input "e" : f32[0,3]
output "y" %0
)"},
    {"concat_concat", R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[2,3]
%2 = concat %0, %1 axis=(-2) : f32[2 + N,3]
%3 = concat %1, %2 axis=(-2) : f32[4 + N,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = input "z" : f32[2,3]
%2 = concat %1, %0, %1 axis=(-2) : f32[4 + N,3]
output "y" %2
)"},
    {"concat_slices", R"(
%0 = input "x" : f32[9,3]
%1 = slice %0 axis=(-2) start=(0) stop=(4) step=(1) : f32[4,3]
%2 = slice %0 axis=(-2) start=(4) stop=(7) step=(1) : f32[3,3]
%3 = concat %1, %2 axis=(-2) : f32[7,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[9,3]
%1 = slice %0 axis=(-2) start=(0) stop=(7) step=(1) : f32[7,3]
output "y" %1
)"},
    {"gather_iota", R"(
%0 = input "x" : f32[16,3]
%1 = iota length=(N) start=(M) dtype=(5) : i32[N]
%2 = gather %0, %1 axis=(-2) : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[16,3]
%1 = slice %0 axis=(-2) start=(M) stop=(M + N) step=(1) : f32[N,3]
output "y" %1
)"},
    {"gather_iota", R"(
%0 = input "x" : f32[2,16,3]
%1 = iota length=(6) start=(M) dtype=(5) : i32[6]
%2 = reshape %1 shape=(2,3) : i32[2,3]
%3 = gather %0, %2 axis=(-2) : f32[2,2,3,3]
output "y" %3
)",
     R"(
%0 = input "x" : f32[2,16,3]
%1 = slice %0 axis=(-2) start=(M) stop=(6 + M) step=(1) : f32[2,6,3]
%2 = reshape %1 shape=(2,2,3,3) : f32[2,2,3,3]
output "y" %2
)"},
    {"gather_constant", R"(
%0 = input "x" : f32[N,4,3]
%1 = constant 2 : i32[]
%2 = gather %0, %1 axis=(-2) : f32[N,3]
output "y" %2
)",
     R"(
%0 = input "x" : f32[N,4,3]
%1 = slice %0 axis=(-2) start=(2) stop=(3) step=(1) : f32[N,1,3]
%2 = reshape %1 shape=(N,3) : f32[N,3]
output "y" %2
)"},
    {"window_one", R"(
%0 = input "x" : f32[N,3]
%1 = window %0 axis=(-2) size=(1) stride=(1) dilation=(1) : f32[N,3,1]
output "y" %1
)",
     R"(
%0 = input "x" : f32[N,3]
%1 = reshape %0 shape=(N,3,1) : f32[N,3,1]
output "y" %1
)"},
};

}  // namespace

std::span<const RuleCase> slicing_cases() { return slicing; }
