#include "cairn/kernels.hpp"
#include "tests/apps/cli/cairn_command.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

/// `cairn bench`.
namespace cairn::test {
namespace {

using testing::HasSubstr;

TEST(BenchCommand, HasARowForEveryKernel) {
    const Outcome outcome =
        cairn_command({"bench", "matmul | f32[3,16] f32[16,32]! -> f32[3,32]", "--json", "--budget", "5ms"});
    EXPECT_TRUE(succeeds(outcome));
    std::set<std::string> kernels, expected;
    double last = 0;
    bool packed = false;
    for (const auto& row : rows_of(outcome, "kernel")) {
        kernels.insert(row["kernel"].get<std::string>());
        packed = packed || row["problem"].get<std::string>().find('@') != std::string::npos;
        EXPECT_NE(row.contains("reason"), row.contains("cost_ns")) << row;
        if (!row.contains("cost_ns")) continue;
        EXPECT_GE(row["cost_ns"].get<double>(), last) << "the fastest first";
        last = row["cost_ns"].get<double>();
    }
    for (const Kernel& kernel : cpu_kernels().kernels)
        if (kernel.definition == "matmul") expected.insert(kernel.id);
    EXPECT_EQ(kernels, expected);
    EXPECT_TRUE(packed) << "weights come packed to those who want them so";
    EXPECT_GT(last, 0);
}

TEST(BenchCommand, TimesAKernelAtItsSettingsOrAtOne) {
    const std::string problem = "matmul | f32[3,16] f32[16,32]! -> f32[3,32]", id = "cpu.panel_baseline.matmul.f32@4";
    const auto kernels = [&](const std::string& named) {
        const Outcome outcome = cairn_command({"bench", problem, "--json", "--budget", "5ms", "--kernel", named});
        EXPECT_TRUE(succeeds(outcome));
        std::set<std::string> found;
        for (const auto& row : rows_of(outcome, "kernel")) found.insert(row["kernel"].get<std::string>());
        return found;
    };
    EXPECT_EQ(kernels(id), (std::set<std::string>{id, id + "{ahead=64}"})) << "the depth of 16 has no parts";
    EXPECT_EQ(kernels(id + "{ahead=64}"), (std::set<std::string>{id + "{ahead=64}"}));
    EXPECT_TRUE(refuses(cairn_command({"bench", problem, "--kernel", id + "{ahead=3}"}), {"ahead of 96|64"}));
}

TEST(BenchCommand, ReportsWhyAKernelRefuses) {
    const Outcome outcome = cairn_command({"bench", "exp | f64[8] -> f64[8]", "--budget", "5ms"});
    EXPECT_TRUE(succeeds(outcome));
    EXPECT_THAT(outcome.out, HasSubstr("cpu.reference.exp@1"));
}

TEST(BenchCommand, KernelsThatNeedOtherFeaturesAreNotRun) {
    const std::vector<std::string> line = {"bench", "exp | f32[8] -> f32[8]", "--budget", "5ms", "--json"};
    std::vector<std::string> with = line;
    with.insert(with.end(), {"--features", "baseline"});
    int refused = 0;
    for (const auto& row : rows_of(cairn_command(with), "kernel")) {
        const bool is_wide = row["kernel"].get<std::string>().starts_with("cpu.avx");
        EXPECT_EQ(row.contains("reason"), is_wide) << row;
        if (!is_wide) continue;
        ++refused;
        EXPECT_THAT(row.value("reason", ""), testing::MatchesRegex("it needs avx2.*, in use is baseline"));
    }
    EXPECT_GE(refused, 2);
}

TEST(BenchCommand, AcceptsValuesOfSymbols) {
    const std::string problem = "softmax axis=(-1) | f32[N,8] -> f32[N,8] where N in 1..9";
    EXPECT_TRUE(refuses(cairn_command({"bench", problem}), {"N must have a value in 1..9"}));
    EXPECT_TRUE(refuses(cairn_command({"bench", problem, "--size", "N=10"}), {"N must have a value in 1..9"}));
    const Outcome outcome =
        cairn_command({"bench", problem, "--size", "N=4", "--json", "--kernel", "cpu.baseline.softmax.f32@6"});
    const auto rows = rows_of(outcome);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["problem"], "softmax axis=(-1) | f32[4,8] -> f32[4,8]");
}

TEST(BenchCommand, RefusesInvalidProblems) {
    const auto expect_refused = [](std::vector<std::string> arguments, const std::vector<std::string>& words) {
        arguments.insert(arguments.begin(), "bench");
        EXPECT_TRUE(refuses(cairn_command(arguments), words)) << arguments[1];
    };
    expect_refused({"lineal | f32[4] -> f32[4]"}, {"no definition 'lineal'"});
    expect_refused({"matmul | f32[4,4] -> f32[4,4]"}, {"[matmul]"});
    expect_refused({"matmul | f32[2,3] f32[4,5] -> f32[2,5]"}, {"inner dims differ"});
    expect_refused({"exp | f32[4] -> f32[5]"}, {"it makes f32[4], but the outputs are f32[5]"});
    expect_refused({"softmax axis=(0) | f32[4] -> f32[4]"}, {"axes count from the end"});
    expect_refused({"exp | f32[4] -> f32[4]", "--kernel", "cpu.none@1"}, {"no kernel cpu.none@1"});
    expect_refused({"exp | f32[4] -> f32[4]", "--kernel", "cpu.reference.log@1"}, {"is for log, not for exp"});
}

}  // namespace
}  // namespace cairn::test
