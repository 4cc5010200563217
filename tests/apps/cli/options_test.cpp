#include "apps/cli/options.hpp"

#include "cairn/error.hpp"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(Options, Durations) {
    EXPECT_EQ(duration_of("10s"), 10);
    EXPECT_EQ(duration_of("500ms"), 0.5);
    EXPECT_EQ(duration_of("2m"), 120);
    EXPECT_EQ(duration_of("1h"), 3600);
    EXPECT_EQ(duration_of("0.25"), 0.25);
    EXPECT_EQ(duration_of("0"), 0);
    for (const char* wrong : {"", "s", "-1s", "10 s", "s10", "nan", "inf", "1e9", "10x", "1e99s", "--"})
        EXPECT_EQ(duration_of(wrong), std::nullopt) << wrong;
}

TEST(Options, Tolerances) {
    EXPECT_EQ(tolerance_of("exact"), Tolerance::exact());
    EXPECT_EQ(tolerance_of("1e-2"), Tolerance::relative(1e-2));
    for (const char* wrong : {"", "0", "-1", "nan", "inf", "1e-2x", "Exact"})
        EXPECT_EQ(tolerance_of(wrong), std::nullopt) << wrong;
}

TEST(Options, Splits) {
    const std::optional<Split> split = split_of("T=1,12");
    ASSERT_TRUE(split);
    EXPECT_EQ(split->symbol, "T");
    EXPECT_EQ(split->upper_bounds, (std::vector<std::int64_t>{1, 12}));
    EXPECT_TRUE(split_of("T=auto")->is_automatic);
    for (const char* wrong : {"", "T", "T=", "=1", "T=1,", "T=,1", "T=x", "T=1;2"})
        EXPECT_EQ(split_of(wrong).has_value(), false) << wrong;
}

TEST(Options, Sizes) {
    EXPECT_EQ(size_of_text("T=12"), std::pair(std::string("T"), std::int64_t{12}));
    for (const char* wrong : {"", "T", "T=", "=1", "T=1.5", "T=99999999999999999999"})
        EXPECT_EQ(size_of_text(wrong), std::nullopt) << wrong;
}

TEST(Options, AreConvertedToLibraryOptions) {
    Options options;
    options.tolerance = "0.5";
    options.mode = "normal";
    options.budget = "3s";
    options.splits = {"T=4"};
    options.disable = {"fuse"};
    options.pins = {"cpu.panel_*"};
    options.bans = {"*eigen*", "*reference*"};
    const CompileOptions compile = compile_options(options);
    EXPECT_EQ(compile.tolerance, Tolerance::relative(0.5));
    EXPECT_EQ(compile.mode, Mode::normal);
    EXPECT_EQ(compile.tune_seconds, 3);
    ASSERT_EQ(compile.splits.size(), 1u);
    EXPECT_EQ(compile.disable, std::vector<std::string>{"fuse"});
    EXPECT_EQ(compile.lock, "");
    EXPECT_EQ(compile.rules, (std::vector<KernelRule>{{"cpu.panel_*", "*", RuleAction::pin, "--pin cpu.panel_*"},
                                                      {"*eigen*", "*", RuleAction::ban, "--ban *eigen*"},
                                                      {"*reference*", "*", RuleAction::ban, "--ban *reference*"}}));
}

TEST(Options, Modes) {
    const std::vector<std::pair<std::string, Mode>> modes = {
        {"off", Mode::off},       {"cached", Mode::cached},         {"quick", Mode::quick},
        {"normal", Mode::normal}, {"exhaustive", Mode::exhaustive}, {"replay", Mode::replay}};
    std::vector<std::string> names;
    for (const auto& [name, mode] : modes) {
        EXPECT_EQ(mode_of(name), mode);
        names.push_back(name);
    }
    EXPECT_EQ(mode_names(), names);
    EXPECT_THROW(mode_of("fast"), Error);
}

TEST(Options, EachModeHasItsOwnBudget) {
    const auto seconds = [](const char* mode, const char* budget) {
        Options options;
        options.mode = mode;
        options.budget = budget;
        return compile_options(options).tune_seconds;
    };
    EXPECT_EQ(seconds("normal", ""), 5);
    EXPECT_EQ(seconds("quick", ""), std::nullopt) << "as the library has it";
    EXPECT_EQ(seconds("exhaustive", ""), std::nullopt);
    for (const char* mode : {"quick", "normal", "exhaustive"}) EXPECT_EQ(seconds(mode, "3s"), 3);
}

TEST(Options, StepsOfTheMemoryPlanAreThoseOfTheLibrary) {
    Options options;
    EXPECT_EQ(compile_options(options).memory_plan_steps, CompileOptions().memory_plan_steps);
    options.memory_plan_steps = 5;
    EXPECT_EQ(compile_options(options).memory_plan_steps, 5);
}

TEST(Options, ABudgetNeedsAModeThatMeasures) {
    Options options;
    options.budget = "1s";
    for (const char* mode : {"off", "cached"}) {
        options.mode = mode;
        EXPECT_THROW(check_options(options), Error) << mode;
    }
    for (const char* mode : {"quick", "normal", "exhaustive"}) {
        options.mode = mode;
        EXPECT_NO_THROW(check_options(options)) << mode;
    }
    options.mode = "off";
    options.other_mode = "normal";
    EXPECT_NO_THROW(check_options(options));
}

TEST(Options, RunOptionsAreRefusedWithoutARun) {
    Options options;
    EXPECT_NO_THROW(refuse_run_options(options, "--profile"));
    options.seed = 0;
    EXPECT_THROW(refuse_run_options(options, "--profile"), Error);
    options.seed.reset();
    options.sizes = {"T=1"};
    EXPECT_THROW(refuse_run_options(options, "--profile"), Error);
    EXPECT_EQ(sizes_of(options), (std::map<std::string, std::int64_t>{{"T", 1}}));
    options.sizes = {"T=1", "S=2", "T=1"};
    EXPECT_THROW(sizes_of(options), Error);
}

TEST(Options, AReplayNeedsALock) {
    Options options;
    EXPECT_NO_THROW(check_options(options));
    options.lock = "a.lock";
    EXPECT_THROW(check_options(options), Error);
    options.mode = "replay";
    EXPECT_NO_THROW(check_options(options));
    EXPECT_EQ(compile_options(options).lock, "a.lock");
    options.lock.clear();
    EXPECT_THROW(check_options(options), Error);
}

}  // namespace
}  // namespace cairn::cli
