#include "tests/emulated_cuda/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace cairn::emulated_cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string in_function(const std::string& statement) { return "void f() {\n" + statement + "\n}\n"; }

std::string refusal(const std::string& text) {
    try {
        host_text(text);
    } catch (const std::invalid_argument& error) { return error.what(); }
    return "";
}

TEST(KernelText, SharedVariablesBecomeReferences) {
    EXPECT_THAT(host_text(in_function("__shared__ float tile[32][33];")).text,
                HasSubstr("static char tile_key = 0; using tile_type = float[32][33]; tile_type& tile = "
                          "::cairn::emulated_cuda::shared_variable<tile_type>(&tile_key, \"tile\", "
                          "alignof(tile_type));"));
    EXPECT_THAT(host_text(in_function("__shared__ __align__(16) unsigned char bytes[64];")).text,
                HasSubstr("using bytes_type = unsigned char[64];"));
    EXPECT_THAT(host_text(in_function("__shared__ alignas(128) u64 barrier;")).text, HasSubstr("\"barrier\", 128);"));
    EXPECT_THAT(host_text(in_function("__shared__ float* pointer;")).text, HasSubstr("using pointer_type = float*;"));
    EXPECT_THAT(host_text(in_function("__shared__ Pair<float, 2> pairs[n + 1];")).text,
                HasSubstr("using pairs_type = Pair<float, 2>[n + 1];"));
    EXPECT_THAT(host_text(in_function("extern __shared__ __align__(16) float4 rows[];")).text,
                HasSubstr("float4* const rows = ::cairn::emulated_cuda::dynamic_shared<float4>();"));
}

TEST(KernelText, OtherTextIsUnchanged) {
    const std::string text =
        "// __shared__ float x;\nint f() { return 1; } /* __shared__\n */ const char* s = \"__shared__;\";\n";
    EXPECT_EQ(host_text(text).text, text);
}

TEST(KernelText, LinesStayWhereTheyAre) {
    const std::string text = host_text("void f() {\n__shared__ float\n    x[8];\nhere();\n}\n").text;
    EXPECT_EQ(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("here")), '\n'), 3);
}

TEST(KernelText, KernelsAreFound) {
    EXPECT_THAT(host_text("extern \"C\" __global__ void a(int n) {}\n"
                          "extern \"C\" __global__ void __launch_bounds__(128, 2)\nb() {}\n"
                          "extern \"C\" __global__ __launch_bounds__(64) void c(float* x) {}\n"
                          "// extern \"C\" __global__ void d() {}\n"
                          "__device__ void e() {}\n")
                    .entries,
                ElementsAre("a", "b", "c"));
}

TEST(KernelText, OtherDeclarationsAreRefused) {
    EXPECT_THAT(refusal("\n__shared__ float x[8];\n"), HasSubstr("line 2: expected"));
    EXPECT_THAT(refusal(in_function("__shared__ float x[8], y[8];")),
                HasSubstr("found `__shared__ float x[8], y[8];`"));
}

}  // namespace
}  // namespace cairn::emulated_cuda
