#include "cairn/check.hpp"
#include "cairn/kernels.hpp"
#include "kernels/cpu/gemm/gemm_plan.hpp"
#include "kernels/cpu/table.hpp"
#include "tests/kernels/emulated_levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

/// Products of plain matrices: every tile height, every block width, every memory layout of operands.
namespace cairn::test {
namespace {

Kernel gemm_of(const Level& level, const std::string& end) {
    for (Kernel& kernel : kernels_of(level))
        if (kernel.id.starts_with("cpu.gemm_") && kernel.id.ends_with(end)) return std::move(kernel);
    return {};
}

/// Checks the kernel of each level whose id has this ending on the given problems, as every_kernel_test does on its
/// samples.
void expect_right(const std::string& end, const std::vector<std::string>& problems) {
    for (const Level& level : runnable_levels()) {
        Kernel kernel = gemm_of(level, end);
        kernel.samples = problems;
        const KernelReport report = check_kernel(kernel, cpu_kernels().definitions, {.size_stride = 4});
        for (const std::string& fault : report.faults) ADD_FAILURE() << level.name << ": " << fault;
        EXPECT_GE(report.runs, static_cast<int>(problems.size())) << level.name;
    }
}

TEST(Gemm, EveryNumberOfRowsDenseAndTransposed) {
    std::vector<std::string> problems;
    for (int rows = 1; rows <= 26; ++rows) {
        const std::string m = std::to_string(rows);
        problems.push_back("matmul | f32[" + m + ",37] f32[37,150] -> f32[" + m + ",150]");
        problems.push_back("matmul | f32[" + m + ",37] f32[37,41]:(1,37) -> f32[" + m + ",41]");
        problems.push_back("matmul | f32[" + m + ",37]:(1," + m + ") f32[37,41] -> f32[" + m + ",41]");
    }
    expect_right("matmul.f32@6", problems);
}

TEST(Gemm, EveryNumberOfColumns) {
    std::vector<std::string> problems;
    for (int columns = 1; columns <= 34; ++columns) {
        const std::string n = std::to_string(columns);
        problems.push_back("matmul | f32[29,19] f32[19," + n + "] -> f32[29," + n + "]");
        problems.push_back("matmul | f32[2,19] f32[19," + n + "] -> f32[2," + n + "]");
    }
    expect_right("matmul.f32@6", problems);
}

// Blocks of rows, runs of columns and parts of the depth, whole ones and tails.
TEST(Gemm, EveryPartOfALargeProduct) {
    expect_right(
        "matmul.f32@6",
        {"matmul | f32[200,20] f32[20,50] -> f32[200,50]", "matmul | f32[13,20] f32[20,810] -> f32[13,810]",
         "matmul | f32[3,20] f32[20,1700] -> f32[3,1700]", "matmul | f32[30,300] f32[300,40] -> f32[30,40]",
         "matmul | f32[2,8200] f32[8200,9]:(1,8200) -> f32[2,9]", "matmul | f32[2,1100] f32[1100,290] -> f32[2,290]",
         "matmul | f32[2,150]:(1,2) f32[150,290] -> f32[2,290]:(1,2)", "matmul | f32[8,150] f32[150,70] -> f32[8,70]",
         "matmul | f32[24,150] f32[150,70] -> f32[24,70]", "matmul | f32[40,5] f32[5,2500] -> f32[40,2500]:(5000,2)",
         "matmul | f32[26,520] f32[520,70] -> f32[26,70]", "matmul | f32[13,130] f32[130,1024] -> f32[13,1024]",
         "matmul | f32[2,140] f32[140,1201] -> f32[2,1201]", "matmul | f32[50,800] f32[800,80]:(1,800) -> f32[50,80]",
         "matmul | f32[12,6000] f32[6000,13]:(1,6000) -> f32[12,13]:(512,1)"});
    expect_right("matmul.f64@6",
                 {"matmul | f64[200,20] f64[20,50] -> f64[200,50]", "matmul | f64[5,300] f64[300,420] -> f64[5,420]"});
    expect_right("matmul.i8@6",
                 {"matmul | i8[30,300] i8[300,70] -> i8[30,70]", "matmul | i8[30,40] i8[40,70]:(1,40) -> i8[30,70]"});
}

TEST(Gemm, BatchesAndNoDepth) {
    expect_right("matmul.f32@6",
                 {"matmul | f32[2,3,7,20] f32[2,3,20,9] -> f32[2,3,7,9]", "matmul | f32[1,0] f32[0,150] -> f32[1,150]",
                  "matmul | f32[5,0] f32[0,9] -> f32[5,9]", "matmul | f32[30,0] f32[0,40] -> f32[30,40]"});
}

TEST(Gemm, FewTasksAreDistributedEvenly) {
    using kernels::cpu::even_runs;
    EXPECT_EQ(even_runs(5, 1, 2, 18), 6);
    EXPECT_EQ(even_runs(4, 1, 3, 18), 6);
    EXPECT_EQ(even_runs(3, 4, 6, 18), 3);  // 12 tasks
    EXPECT_EQ(even_runs(5, 1, 1, 18), 5);
    EXPECT_EQ(even_runs(17, 1, 2, 40), 17);  // of many tasks, one extra costs little
    EXPECT_EQ(even_runs(5, 1, 2, 5), 5);     // too few columns for more
    EXPECT_EQ(even_runs(5, 1, 7, 6), 5);
    EXPECT_EQ(even_runs(2, 0, 2, 9), 2);
}

TEST(Gemm, RefusalsHaveReasons) {
    const Level baseline = runnable_levels()[0];
    const auto refusal = [&](const std::string& end, const std::string& text) {
        const auto symbols = Symbols::create();
        return gemm_of(baseline, end).accepts(parse_problem(text, *symbols));
    };
    EXPECT_EQ(refusal("matmul.f32@6", "matmul | f32[B,T,8]:(T*9,9,1) f32[B,8,N]:(0,1,8) -> f32[B,T,N]:(T*N*3,N*3,3)"),
              "");
    EXPECT_EQ(refusal("matmul.f32@6", "matmul | f16[4,8] f16[8,9] -> f16[4,9]"), "needs f32");
    EXPECT_EQ(refusal("matmul.f16@7", "matmul | f32[4,8] f16[8,9] -> f16[4,9]"), "needs f16");
    EXPECT_EQ(refusal("matmul.f32@6", "matmul | f32[4,8] f32[8,9]@panel32 -> f32[4,9]"),
              "needs plain memory, not the layout panel32");
}

}  // namespace
}  // namespace cairn::test
