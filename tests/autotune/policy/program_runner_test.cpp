#include "autotune/policy/program_runner.hpp"

#include "cairn/cairn.hpp"
#include "tests/autotune/policy/prepared.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

namespace cairn::autotune {
namespace {

/// Arguments of a call of the watched kernel.
struct SeenCall {
    const std::byte *x, *w;
    std::int64_t rows;
    double of_x, of_w;
};
std::vector<SeenCall> seen_calls;
bool is_to_fail = false;

/// A kernel for x times w that records its arguments, and fails if is_to_fail.
Kernel watched_kernel() {
    Kernel kernel;
    kernel.id = "test.watched.mul@1";
    kernel.definition = "mul";
    kernel.accepts = [](const Problem&) -> Refusal { return {}; };
    kernel.cost = [](const Problem&) -> Cost { return {1, 1, 1}; };
    kernel.run = [](const Args& args, Team& team) {
        if (team.rank() != 0) return;
        if (is_to_fail) return team.fail("told to");
        float x = 0, w = 0;
        std::memcpy(&x, args.inputs[0].data, sizeof x);
        std::memcpy(&w, args.inputs[1].data, sizeof w);
        seen_calls.push_back({args.inputs[0].data, args.inputs[1].data, args.inputs[0].shape[0], x, w});
    };
    return kernel;
}

class ProgramRunnerTest : public testing::Test {
protected:
    ProgramRunnerTest() {
        seen_calls.clear();
        is_to_fail = false;
    }
    static Context context(int threads = 1) {
        ContextOptions options;
        options.threads = threads;
        options.extra.kernels = {watched_kernel()};
        return Context(options);
    }
    static CompileOptions plain() {
        CompileOptions options;
        options.disable = {"elementwise", "simplify", "expand"};
        return options;
    }
    static program::Program program_of(const Graph& graph, const Context& context) {
        test::PreparedGraph prepared(graph, context, plain());
        return prepared.program_of(0, prepared.choose().buckets[0]);
    }
};

TEST_F(ProgramRunnerTest, EachRunRunsTheProgram) {
    Graph g("g");
    const Dim n = g.symbol("N", 1, 4096);
    g.output("y", g.input("x", DType::f32, {n, 64}) * g.weight("w", DType::f32, {1, 64}));
    for (const int threads : {1, 2}) {
        seen_calls.clear();
        const Context with = context(threads);
        const program::Program program = program_of(g, with);
        const program::Program* const all[] = {&program};
        ProgramRunner runner(all, with, {});
        EXPECT_TRUE(seen_calls.empty());
        const auto sizes = runner.sizes_of(0);
        EXPECT_EQ(sizes, selection::representative_sizes(*program.symbols));
        for (const std::vector<std::int64_t>& values : sizes) {
            seen_calls.clear();
            EXPECT_GT(runner.seconds(0, values, 3), 0);
            ASSERT_EQ(seen_calls.size(), 3U);
            for (const SeenCall& call : seen_calls) {
                EXPECT_EQ(call.rows, values[0]);
                for (const double value : {call.of_x, call.of_w}) EXPECT_TRUE(std::isnormal(value)) << value;
            }
        }
    }
}

TEST_F(ProgramRunnerTest, WeightsAndInputsOfOneNameAreShared) {
    const auto graph = [](const char* weight) {
        Graph g("g");
        const Tensor x = g.input("x", DType::f32, {32, 64});
        g.output("y", x * g.weight(weight, DType::f32, {1, 64}));
        return g;
    };
    const Context with = context();
    const program::Program a = program_of(graph("v"), with), b = program_of(graph("w"), with),
                           c = program_of(graph("w"), with);
    const program::Program* const all[] = {&a, &b, &c};
    ProgramRunner runner(all, with, {});
    for (std::size_t program = 0; program < 3; ++program) runner.seconds(program, {}, 1);
    ASSERT_EQ(seen_calls.size(), 3U);
    EXPECT_NE(seen_calls[0].w, seen_calls[1].w);
    EXPECT_EQ(seen_calls[1].w, seen_calls[2].w);
    EXPECT_EQ(seen_calls[0].x, seen_calls[1].x);
    EXPECT_EQ(seen_calls[1].x, seen_calls[2].x);
}

TEST_F(ProgramRunnerTest, StatesKeepTheirRowsAndHaveRoom) {
    Graph g("g");
    const Dim t = g.symbol("T", 40, 60), past = g.symbol("P", 0, 64);
    State state = g.state("s", DType::f32, {past, 4}, 0, 64);
    const Tensor all = state.append(g.input("x", DType::f32, {t, 4}));
    g.output("y", all * g.weight("w", DType::f32, {1, 4}));
    const Context with = context();
    const program::Program program = program_of(g, with);
    const program::Program* const programs[] = {&program};
    ProgramRunner runner(programs, with, {});
    const auto sizes = runner.sizes_of(0);
    ASSERT_EQ(sizes.size(), 3U);
    EXPECT_NE(sizes, selection::representative_sizes(*program.symbols)) << "some of these have no room";
    for (const std::vector<std::int64_t>& values : sizes) {
        EXPECT_LE(values[0] + values[1], 64);
        seen_calls.clear();
        runner.seconds(0, values, 2);
        ASSERT_EQ(seen_calls.size(), 2U);
        for (const SeenCall& call : seen_calls) EXPECT_EQ(call.rows, values[0] + values[1]);
    }
}

TEST_F(ProgramRunnerTest, AStopRequestOrTimeoutEndsTheGenerationOfWeights) {
    Graph g("g");
    g.output("y", g.input("x", DType::f32, {4, 64}) * g.weight("w", DType::f32, {4, 64}));
    const Context with = context();
    const program::Program program = program_of(g, with);
    const std::vector<const program::Program*> all{&program};
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(ProgramRunner(all, with, source.get_token()), Cancelled);
    EXPECT_THROW(ProgramRunner(all, with, {}, autotune::Clock::now()), Error);
    ProgramRunner in_time(all, with, {}, autotune::Clock::now() + std::chrono::hours(1));
    EXPECT_GT(in_time.seconds(0, {}, 1), 0);
}

TEST_F(ProgramRunnerTest, AKernelFailureIsThrown) {
    Graph g("g");
    g.output("y", g.input("x", DType::f32, {32, 64}) * g.weight("w", DType::f32, {1, 64}));
    const Context with = context();
    const program::Program program = program_of(g, with);
    const program::Program* const all[] = {&program};
    ProgramRunner runner(all, with, {});
    is_to_fail = true;
    try {
        runner.seconds(0, {}, 1);
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("test.watched.mul@1"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("told to"), std::string::npos) << error.what();
    }
    is_to_fail = false;
    runner.seconds(0, {}, 1);
    EXPECT_EQ(seen_calls.size(), 1U);
}

TEST_F(ProgramRunnerTest, AStopRequestEndsBinding) {
    Graph g("g");
    g.output("y", matmul(g.input("x", DType::f32, {32, 64}), g.weight("w", DType::f32, {64, 64})));
    const Context with = context();
    const program::Program program = program_of(g, with);
    const program::Program* const all[] = {&program};
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(ProgramRunner(all, with, source.get_token()), Cancelled);
}

}  // namespace
}  // namespace cairn::autotune
