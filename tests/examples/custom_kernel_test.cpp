// Checks the kernel of examples/custom_kernel.cpp, and that files of examples/ and docs/ with a kernel check it.
#define main custom_kernel_main
#include "examples/custom_kernel.cpp"
#undef main

#include "tests/examples/run_program.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cairn::test {
namespace {

TEST(CustomKernel, PassesItsChecks) {
    const std::vector<KernelReport> reports = check_kernels(Context({.extra = own_kernels()}), {.only_extra = true});
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].kernel, "own.softplus.f32@1");
    EXPECT_EQ(reports[0].faults, std::vector<std::string>());
    EXPECT_EQ(reports[0].not_checked, "");
    EXPECT_GT(reports[0].runs, 30);
    EXPECT_GT(reports[0].in_place, 5);
}

/// The contents of a state after two appends of a column. The state grows along its last axis, so columns are strided.
std::vector<float> appended(const Context& context) {
    Graph g;
    const Dim past = g.symbol("past", 0, 7);
    State s = g.state("s", DType::f32, {4, past}, 1, 8);
    g.output("y", s.append(log(exp(g.input("x", DType::f32, {4, 1})) + 1)));
    CompiledGraph model = compile(g, context);
    const float v[] = {1, 2, 3, 4};
    for (int i = 0; i < 2; ++i) {
        model.set("x", v, {4, 1});
        model.run();
    }
    const auto rows = model.state("s").as<float>();
    return {rows.begin(), rows.end()};
}

TEST(CustomKernel, WritesTheRowsOfAStateAsBuiltInKernelsDo) {
    const std::vector<float> own = appended(Context({.extra = own_kernels()})), built_in = appended(Context());
    ASSERT_EQ(own.size(), 8U);
    for (std::size_t i = 0; i < own.size(); ++i) EXPECT_FLOAT_EQ(own[i], built_in[i]) << i;
}

TEST(CustomKernel, EveryKernelOfTheExampleIsChecked) {
    int shown = 0;
    for (const char* folder : {"examples", "docs"})
        for (const auto& entry :
             std::filesystem::directory_iterator(std::filesystem::path(CAIRN_SOURCE_DIR) / folder)) {
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".md") continue;
            const std::string text = read_file(entry.path().string());
            if (text.find("kernel.run =") == std::string::npos) continue;
            ++shown;
            EXPECT_NE(text.find("check_kernel"), std::string::npos) << entry.path();
        }
    EXPECT_EQ(shown, 3);
}

}  // namespace
}  // namespace cairn::test
