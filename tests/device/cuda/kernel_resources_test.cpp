#include "device/cuda/kernel_resources.hpp"

#include <gtest/gtest.h>

namespace cairn::device::cuda {
namespace {

TEST(KernelResources, OfEachKernel) {
    const auto kernels = kernel_resources(
        "norm.cu(3): warning #177-D: variable \"registers\" was declared but never referenced\n"
        "\n"
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function '_Z3twoIfEvPT_' for 'sm_90a'\n"
        "ptxas info    : Function properties for _Z3twoIfEvPT_\n"
        "ptxas         .     792 bytes stack frame, 1860 bytes spill stores, 2028 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 1 barriers, 800 bytes cumulative stack size\n"
        "ptxas info    : Compile time = 60.539 ms\n"
        "ptxas info    : Compiling entry function 'add' for 'sm_90a'\n"
        "ptxas info    : Function properties for add\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 10 registers, used 2 barriers, 256 bytes smem, 364 bytes cmem[0]");
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0].entry, "_Z3twoIfEvPT_");
    EXPECT_EQ(kernels[0].registers, 32);
    EXPECT_EQ(kernels[0].stack_bytes, 800);
    EXPECT_EQ(kernels[0].spill_store_bytes, 1860);
    EXPECT_EQ(kernels[0].spill_load_bytes, 2028);
    EXPECT_EQ(kernels[0].shared_bytes, 0);
    EXPECT_EQ(kernels[0].barriers, 1);
    EXPECT_EQ(kernels[1].entry, "add");
    EXPECT_EQ(kernels[1].registers, 10);
    EXPECT_EQ(kernels[1].stack_bytes, 0);
    EXPECT_EQ(kernels[1].spill_store_bytes, 0);
    EXPECT_EQ(kernels[1].spill_load_bytes, 0);
    EXPECT_EQ(kernels[1].shared_bytes, 256);
    EXPECT_EQ(kernels[1].barriers, 2);
}

TEST(KernelResources, SpillsOfCalledFunctionsCount) {
    const auto kernels = kernel_resources(
        "ptxas info    : Compiling entry function 'uses' for 'sm_80'\n"
        "ptxas info    : Function properties for uses\n"
        "ptxas         .     256 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
        "ptxas info    : Used 40 registers, used 0 barriers, 256 bytes cumulative stack size\n"
        "ptxas info    : Function properties for _Z6helperPfi\n"
        "ptxas         .     0 bytes stack frame, 16 bytes spill stores, 32 bytes spill loads\n");
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].registers, 40);
    EXPECT_EQ(kernels[0].stack_bytes, 256);
    EXPECT_EQ(kernels[0].spill_store_bytes, 24);
    EXPECT_EQ(kernels[0].spill_load_bytes, 36);
}

TEST(KernelResources, OfOtherText) {
    EXPECT_TRUE(kernel_resources("").empty());
    EXPECT_TRUE(kernel_resources("\n\nUsed 10 registers\n").empty());
    EXPECT_TRUE(kernel_resources("Compiling entry function 'add").empty());
    const auto cut = kernel_resources("Compiling entry function 'add' for\n bytes smem, many registers");
    ASSERT_EQ(cut.size(), 1U);
    EXPECT_EQ(cut[0].registers, 0);
    EXPECT_EQ(cut[0].shared_bytes, 0);
}

}  // namespace
}  // namespace cairn::device::cuda
