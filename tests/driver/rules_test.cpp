#include "cairn/cairn.hpp"
#include "tests/autotune/policy/inexact_product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace cairn {
namespace {

using testing::HasSubstr, testing::Not;

/// A product compiled with a database of kernel rules.
class RulesOfADatabase : public testing::Test {
protected:
    RulesOfADatabase() {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder = std::filesystem::path(CAIRN_BINARY_DIR) / "rules_test" / test->name();
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        options.timing_db = folder / "timings.db";
    }
    CompiledGraph compiled(Mode mode = Mode::cached) const {
        Graph g("product");
        g.output("y", matmul(g.input("x", DType::f32, {4, 64}), g.weight("w", DType::f32, {64, 32})));
        return compile(g, Context(options), {.mode = mode});
    }
    /// The kernel that computes the product.
    static std::string kernel_of(const CompiledGraph& graph) {
        for (const auto& bucket : graph.explain().buckets)
            for (const auto& instruction : bucket.instructions)
                if (instruction.chosen.problem.starts_with("matmul ")) return instruction.chosen.kernel;
        return "";
    }
    std::filesystem::path folder;
    ContextOptions options;
};

TEST_F(RulesOfADatabase, ABanIsAppliedAndExplained) {
    const std::string first = kernel_of(compiled());
    ASSERT_NE(first, "");
    TimingDb(options.timing_db).add_rule({first, "matmul | *", RuleAction::ban, "slow on our machines"});
    const CompiledGraph without = compiled();
    EXPECT_NE(kernel_of(without), first);
    EXPECT_NE(kernel_of(without), "");
    EXPECT_THAT(why_not(without.explain(), first), HasSubstr("banned by a rule: slow on our machines"));
    EXPECT_EQ(kernel_of(compiled(Mode::off)), first) << "which reads no database";
    TimingDb(options.timing_db).remove_rule(first, "matmul | *");
    EXPECT_EQ(kernel_of(compiled()), first);
}

TEST_F(RulesOfADatabase, APinOfShippedTimingsIsAppliedAndExplained) {
    const std::string first = kernel_of(compiled());
    const std::filesystem::path shipped = folder / "shipped_timings.db";
    TimingDb(shipped).add_rule({"*.reference.*", "*", RuleAction::pin, "to compare with"});
    options.shipped_timings = {shipped};
    const CompiledGraph pinned = compiled();
    EXPECT_THAT(kernel_of(pinned), HasSubstr(".reference."));
    EXPECT_THAT(why_not(pinned.explain(), first), HasSubstr("a rule pins cpu.reference.matmul"));
}

TEST_F(RulesOfADatabase, OptionsHaveRulesOfTheirOwnInEveryMode) {
    Graph g("product");
    g.output("y", matmul(g.input("x", DType::f32, {4, 64}), g.weight("w", DType::f32, {64, 32})));
    const std::string first = kernel_of(compiled());
    const std::vector<KernelRule> pin{{"*.reference.*", "*", RuleAction::pin, "of the options"}};
    const Context context(options);
    for (const Mode mode : {Mode::off, Mode::cached}) {
        const CompiledGraph pinned = compile(g, context, {.mode = mode, .rules = pin});
        EXPECT_THAT(kernel_of(pinned), HasSubstr(".reference."));
    }
    const std::vector<KernelRule> ban{{first, "*", RuleAction::ban, "of the options"}};
    const CompiledGraph banned = compile(g, context, {.mode = Mode::cached, .rules = ban});
    EXPECT_NE(kernel_of(banned), first);
    EXPECT_THAT(why_not(banned.explain(), first), HasSubstr("banned by a rule: of the options"));
    EXPECT_TRUE(TimingDb(options.timing_db).rules().empty()) << "they are not stored";
    TimingDb(options.timing_db).add_rule({"*.reference.*", "*", RuleAction::ban, "of the database"});
    EXPECT_THAT(kernel_of(compile(g, context, {.mode = Mode::cached, .rules = pin})), Not(HasSubstr(".reference.")))
        << "both apply";
    TimingDb(options.timing_db).remove_rule("*.reference.*", "*");
    const std::filesystem::path cached = folder / "cached";
    const CompiledGraph plain = compile(g, context, {.mode = Mode::cached, .cache_file = cached});
    EXPECT_EQ(kernel_of(plain), first);
    EXPECT_NE(kernel_of(compile(g, context, {.mode = Mode::cached, .rules = ban, .cache_file = cached})), first);
}

/// The exact program that verifies cannot use the pinned kernel, and the pin must not leave it without one.
TEST_F(RulesOfADatabase, APinOnAKernelThatStatesAnErrorHoldsForInexactProgramsAlone) {
    options.extra.kernels = {test::inexact_product()};
    TimingDb(options.timing_db).add_rule({"test.bf16.*", "*", RuleAction::pin, "to compare with"});
    Graph g("product");
    g.output("y", matmul(g.input("x", DType::f32, {4, 64}), g.weight("w", DType::f32, {64, 32})));
    const Context context(options);
    const CompileOptions loose{.mode = Mode::cached, .tolerance = Tolerance::relative(1e-2)};
    const std::vector<float> x(4 * 64, 1.01F), w(64 * 32, 1.003F);
    const auto check = [&](CompiledGraph model) {
        EXPECT_EQ(kernel_of(model), "test.bf16.matmul.f32@1");
        InputView view;
        view.data = w.data();
        view.shape = {64, 32};
        model.bind([&](std::string_view) { return view; });
        model.set("x", x, {4, 64});
        model.run();
        ASSERT_EQ(model.verified_errors().size(), 1U);
        EXPECT_TRUE(model.verified_errors()[0].verified);
        EXPECT_FALSE(model.verified_errors()[0].fell_back);
        EXPECT_GT(model.verified_errors()[0].error, 1e-4);
    };
    check(compile(g, context, loose));
    check(paths(g, context, loose).cheapest().compile());
    TimingDb(options.timing_db).add_rule({"cpu.*", "matmul *", RuleAction::ban, "in the database"});
    const KernelRule pin{"test.bf16.*", "*", RuleAction::pin, "of the options"};
    check(compile(g, context, {.tolerance = loose.tolerance, .rules = {pin}}));  // Mode::off reads no database
    TimingDb(options.timing_db).remove_rule("cpu.*", "matmul *");
    EXPECT_EQ(kernel_of(compile(g, context, {.mode = Mode::cached})).find("test."), std::string::npos)
        << "an exact program";
}

TEST_F(RulesOfADatabase, AnErrorReportsThatAllKernelsAreBanned) {
    TimingDb(options.timing_db).add_rule({"*", "matmul | *", RuleAction::ban, "we do no products"});
    try {
        compiled();
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_THAT(error.what(), HasSubstr("banned by a rule: we do no products"));
    }
}

TEST_F(RulesOfADatabase, SessionsContainTheNameOfTheProgram) {
    options.program = "rules_test";
    const Context context(options);
    Graph g;
    g.output("y", floor(g.input("x", DType::f32, {8, 8})));
    compile(g, context, {.mode = Mode::normal, .tune_seconds = 10});
    const auto sessions = TimingFile(options.timing_db, TimingFile::Use::read).sessions();
    ASSERT_EQ(sessions.size(), 1U);
    EXPECT_EQ(sessions[0].program, "rules_test");
    EXPECT_GT(sessions[0].times, 0);
}

}  // namespace
}  // namespace cairn
