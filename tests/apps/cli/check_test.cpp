#include "cairn/context.hpp"
#include "tests/apps/cli/cairn_command.hpp"

#include <gmock/gmock.h>

#include <algorithm>

/// `cairn check`.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(CheckCommand, ComparesKernelsWithTheirDefinitions) {
    const Outcome outcome = run(CAIRN_COMMAND, {"check", "cpu.reference.floor@?"});
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("passed       cpu.reference.floor@1  "), HasSubstr(" runs on "),
                                   HasSubstr("\n1 passed, 0 failed, 0 not checked\n")));
}

TEST(CheckCommand, HasARowForEachKernelThatAPatternNames) {
    const Outcome outcome =
        run(CAIRN_COMMAND, {"check", "cpu.*.softmax.f32@*", "--features", "baseline", "--every", "100", "--json"});
    EXPECT_TRUE(succeeds(outcome));
    std::size_t expected = 0;
    const Context context;
    for (const Kernel& kernel : context.kernels().kernels)
        expected += kernel.id.find(".softmax.f32@") != std::string::npos ? 1 : 0;
    const auto rows = rows_of(outcome, "kernel");
    EXPECT_EQ(rows.size(), expected);
    for (const auto& row : rows) {
        const bool is_baseline = row["kernel"].get<std::string>().find(".avx") == std::string::npos;
        EXPECT_EQ(row.contains("reason"), !is_baseline) << row;
        if (is_baseline) { EXPECT_TRUE(row["faults"].empty() && row["runs"] != "0") << row; }
    }
    ASSERT_EQ(rows_of(outcome, "summary").size(), 1U);
    EXPECT_EQ(rows_of(outcome, "summary")[0]["failed"], "0");
}

TEST(CheckCommand, HelpNamesTheChecksForCustomKernels) {
    EXPECT_THAT(run(CAIRN_COMMAND, {"check", "--help"}).out,
                AllOf(HasSubstr("check_kernels()"), HasSubstr("CompileOptions::verify")));
}

}  // namespace
}  // namespace cairn::test
