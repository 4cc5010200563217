#include "driver/program_trials.hpp"

#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>

namespace cairn {
namespace {

int exponentials_run = 0;

/// A kernel that takes two milliseconds in a program, whatever its measured time, and states a negligible cost.
Kernel slow_in_program_exp() {
    Kernel kernel;
    kernel.id = "test.moody.exp@1";
    kernel.definition = "exp";
    kernel.accepts = [](const Problem&) -> Refusal { return {}; };
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    kernel.run = [](const Args&, Team& team) {
        if (team.rank() != 0) return;
        ++exponentials_run;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
    return kernel;
}

Graph moody() {
    Graph g("moody");
    g.output("y", exp(g.input("x", DType::f32, {64, 64})));
    return g;
}

class CompileWithProgramTrials : public testing::Test {
protected:
    CompileWithProgramTrials() {
        std::filesystem::remove(path());
        exponentials_run = 0;
    }
    static std::filesystem::path path() {
        return std::filesystem::path(CAIRN_BINARY_DIR) /
               (std::string("whole_") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".db");
    }
    static Context context() {
        ContextOptions options;
        options.timing_db = path();
        options.extra.kernels = {slow_in_program_exp()};
        return Context(options);
    }
    /// Records times of all kernels as if measured outside a program, `seconds_of` each.
    template <typename F>
    static void measure(const Context& context, const Graph& graph, F seconds_of) {
        const Explanation why = compile(graph, context).explain();
        for (const ExplainedValue& value : why.buckets[0].values)
            for (const ExplainedAlternative& alternative : value.alternatives)
                for (const ExplainedKernel& kernel : alternative.kernels) {
                    if (!kernel.refusal.empty()) continue;
                    Timing timing;
                    timing.samples = 5;
                    timing.min = timing.p10 = timing.median = timing.p90 = seconds_of(kernel);
                    const auto symbols = Symbols::create();
                    context.impl()->timings->record(parse_problem(kernel.problem, *symbols), kernel.kernel,
                                                    environment(context, graph), {.threads = 1}, timing);
                }
    }
    /// The recorded time of the moody kernel is slightly shorter than those of the others.
    static void measure(const Context& context) {
        measure(context, moody(),
                [](const ExplainedKernel& kernel) { return kernel.kernel == "test.moody.exp@1" ? 1e-3 : 1.02e-3; });
    }
    static TimingEnvironment environment(const Context& context, const Graph& graph = moody()) {
        CompileOptions options;
        options.mode = Mode::cached;
        return driver::Stages(graph, context, options).costs().environment;
    }
    static CompiledGraph compiled(const Context& context, Mode mode, double seconds = 30) {
        CompileOptions options;
        options.mode = mode;
        options.tune_seconds = seconds;
        return compile(moody(), context, options);
    }
    static bool is_moody(const CompiledGraph& graph) { return graph.program().find("test.moody") != std::string::npos; }
};

TEST_F(CompileWithProgramTrials, TheFasterProgramIsSelectedAndRecorded) {
    {
        const Context with = context();
        measure(with);
        EXPECT_TRUE(is_moody(compiled(with, Mode::cached))) << "by sums";
        const CompiledGraph chosen = compiled(with, Mode::normal);
        EXPECT_FALSE(is_moody(chosen));
        const Explanation why = chosen.explain();
        ASSERT_FALSE(why.trials.empty());
        EXPECT_TRUE(why.trials[0].won);
        EXPECT_LT(why.trials[0].high, 1);
        EXPECT_NEAR(why.trials[0].expected, 0.02, 1e-3);
        ASSERT_EQ(why.trials[0].without.size(), 1U);
        EXPECT_NE(why.trials[0].without[0].find("test.moody.exp@1"), std::string::npos);
        EXPECT_FALSE(why.is_exact);
        EXPECT_NEAR(why.optimality_gap, 0.02, 1e-3);
        EXPECT_NE(to_string(why).find(" by test.moody.exp@1: slower as a whole program: "), std::string::npos)
            << to_string(why);
        EXPECT_NE(details(why).find("(faster by summed kernel times, slower as a whole program: "), std::string::npos)
            << details(why);
        EXPECT_NE(details(why).find("taken, without\n    0 | test.moody.exp@1 | exp | f32[64,64] -> f32[64,64] | "
                                    "program_trials_test.cpp:"),
                  std::string::npos)
            << details(why);
    }
    const Context later = context();
    const int runs = exponentials_run;
    for (const Mode mode : {Mode::cached, Mode::normal}) {
        const CompiledGraph again = compiled(later, mode);
        EXPECT_FALSE(is_moody(again));
        const Explanation why = again.explain();
        ASSERT_EQ(why.trials.size(), 1U);
        EXPECT_TRUE(why.trials[0].won);
        EXPECT_GT(why.trials[0].samples, 0);
    }
    EXPECT_EQ(exponentials_run, runs) << "nothing is run again";
    EXPECT_TRUE(is_moody(compile(moody(), later))) << "Mode::off knows no times";
}

/// A product that an unmeasured compile computes with a packed weight.
Graph product() {
    Graph g("product");
    g.output("y", matmul(g.input("x", DType::f32, {64, 512}), g.weight("w", DType::f32, {512, 512})));
    return g;
}

TEST_F(CompileWithProgramTrials, InconclusiveTrialsKeepTheUnmeasuredPlan) {
    const auto compiled_product = [](const Context& context, Mode mode) {
        CompileOptions options;
        options.mode = mode;
        options.tune_seconds = 0;
        return compile(product(), context, options);
    };
    const auto is_packed = [](const CompiledGraph& graph) {
        return graph.program().find("@panel32") != std::string::npos;
    };
    ContextOptions options;
    options.timing_db = path();
    const Context with(options);
    const auto measure_forms = [&](double packed, double stored, double by_eigen) {
        measure(with, product(), [&](const ExplainedKernel& kernel) {
            if (kernel.problem.find("@panel32") != std::string::npos) return packed;
            return kernel.kernel.find("eigen") != std::string::npos ? by_eigen : stored;
        });
    };
    ASSERT_TRUE(is_packed(compiled_product(with, Mode::off)));
    measure_forms(1.05e-3, 1e-3, 1.02e-3);
    ASSERT_FALSE(is_packed(compiled_product(with, Mode::cached))) << "by sums";
    EXPECT_TRUE(is_packed(compiled_product(with, Mode::normal)));
    EXPECT_TRUE(is_packed(compiled_product(with, Mode::cached)));
    measure_forms(1.1e-3, 1e-3, 0.9e-3);  // other covers by summed times
    EXPECT_TRUE(is_packed(compiled_product(with, Mode::cached)));
    const Explanation why = compiled_product(with, Mode::cached).explain();
    ASSERT_EQ(why.trials.size(), 1U);
    EXPECT_TRUE(why.trials[0].as_unmeasured);
    EXPECT_EQ(why.trials[0].samples, 0);
}

TEST_F(CompileWithProgramTrials, NoTrialRunsWithoutTimeOrPermission) {
    const Context with = context();
    measure(with);
    EXPECT_TRUE(is_moody(compiled(with, Mode::normal, 0)));
    EXPECT_TRUE(is_moody(compile(moody(), with, {.mode = Mode::normal, .run_program_trials = false})));
    EXPECT_EQ(exponentials_run, 0);
}

TEST_F(CompileWithProgramTrials, AResultAppliesOnlyToTheSameOptions) {
    const Context with = context();
    measure(with);
    EXPECT_FALSE(is_moody(compiled(with, Mode::normal)));
    CompileOptions options;
    options.mode = Mode::cached;
    options.seconds_per_kept_byte = 1e-8;
    EXPECT_TRUE(is_moody(compile(moody(), with, options))) << "with another price other programs may be better";
    options.seconds_per_kept_byte = CompileOptions().seconds_per_kept_byte;
    options.memory_limit = 1 << 20;
    EXPECT_TRUE(is_moody(compile(moody(), with, options))) << "not beside a limit";
}

}  // namespace
}  // namespace cairn
