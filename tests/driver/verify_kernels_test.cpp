#include "cairn/cairn.hpp"
#include "tests/driver/own_kernels.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

/// CompileOptions::verify checks the caller's own kernels against their definitions, on the Problems of the program.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Faults of a kernel for exp.
enum class Fault { none, ignores_output_strides, wrong_behind_100, depends_on_threads };

template <Fault fault>
void run_exp(const Args& args, Team& team) {
    const TensorArg &x = args.inputs[0], &y = args.outputs[0];
    std::int64_t count = 1;
    for (int axis = 0; axis < y.rank; ++axis) count *= y.shape[axis];
    for (std::int64_t i = team.rank(); i < count; i += team.size()) {
        std::int64_t from = 0, to = 0, left = i;
        for (int axis = y.rank - 1; axis >= 0; --axis) {
            from += left % y.shape[axis] * x.strides[axis];
            to += left % y.shape[axis] * y.strides[axis];
            left /= y.shape[axis];
        }
        if (fault == Fault::ignores_output_strides) to = i;
        float value = std::exp(reinterpret_cast<const float*>(x.data)[from]);
        if (fault == Fault::wrong_behind_100 && i >= 100) value *= 1.01f;
        if (fault == Fault::depends_on_threads && *static_cast<const int*>(args.prepared) == 3) value *= 1 + 1e-7f;
        reinterpret_cast<float*>(y.data)[to] = value;
    }
}

template <Fault fault>
Kernel own_exp() {
    Kernel kernel;
    kernel.id = "own.exp.f32@1";
    kernel.definition = "exp";
    kernel.accepts = [](const Problem& problem) {
        return Refusal(problem.inputs[0].dtype == DType::f32 ? "" : "needs f32");
    };
    kernel.run = run_exp<fault>;
    kernel.prepare = [](const Problem&, int threads) -> std::shared_ptr<const void> {
        return std::make_shared<int>(threads);
    };
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    kernel.samples = {"exp | f32[8] -> f32[8]"};  // which does not reveal the fault
    return kernel;
}

/// Columns appended to a state: the kernel's output is strided.
Graph appended() {
    Graph g;
    const Dim past = g.symbol("past", 0, 7);
    State s = g.state("s", DType::f32, {4, past}, 1, 8);
    g.output("y", s.append(exp(g.input("x", DType::f32, {4, 1}))));
    return g;
}

Graph elementwise(std::int64_t most) {
    Graph g;
    g.output("y", exp(g.input("x", DType::f32, {g.symbol("N", 1, most)})));
    return g;
}

TEST(VerifyKernels, ACorrectKernelPasses) {
    const Context context = context_with({own_exp<Fault::none>()});
    for (const Graph& graph : {appended(), elementwise(200)})
        EXPECT_THAT(compile(graph, context, {.verify = true}).program(), HasSubstr("own.exp.f32@1"));
}

TEST(VerifyKernels, AFaultOnTheProgramsOwnProblemIsNamed) {
    const Context context = context_with({own_exp<Fault::ignores_output_strides>()});
    EXPECT_NO_THROW(compile(appended(), context));
    EXPECT_NO_THROW(compile(elementwise(200), context, {.verify = true})) << "dense memory shows no fault";
    try {
        (void)compile(appended(), context, {.verify = true});
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::argument);
        EXPECT_THAT(error.what(),
                    AllOf(HasSubstr("[verify] "), HasSubstr("own.exp.f32@1"), HasSubstr("writes around output 0"),
                          HasSubstr("exp | f32[4,1]"), HasSubstr("(8,1)")));
    }
}

TEST(VerifyKernels, SeveralSizesOfASymbolAreTried) {
    const Context context = context_with({own_exp<Fault::wrong_behind_100>()});
    EXPECT_NO_THROW(compile(elementwise(100), context, {.verify = true}));
    EXPECT_THAT(message([&] { (void)compile(elementwise(101), context, {.verify = true}); }),
                AllOf(HasSubstr("own.exp.f32@1"), HasSubstr("is wrong"), HasSubstr("exp | f32[101]")));
    // The reference takes minutes at the upper bound.
    EXPECT_THAT(message([&] { (void)compile(elementwise(std::int64_t{1} << 33), context, {.verify = true}); }),
                HasSubstr("is wrong"));
}

TEST(VerifyKernels, TheBindSectionIsVerified) {
    Graph g;
    g.output("y", g.input("x", DType::f32, {200}) * exp(g.weight("w", DType::f32, {200})));
    EXPECT_THAT(message([&] {
                    (void)compile(g, context_with({own_exp<Fault::wrong_behind_100>()}),
                                  {.disable = {"elementwise"}, .verify = true});
                }),
                HasSubstr("is wrong"));
}

TEST(VerifyKernels, ResultsMayDependOnTheNumberOfThreadsPreparedFor) {
    EXPECT_NO_THROW(compile(elementwise(50), context_with({own_exp<Fault::depends_on_threads>()}), {.verify = true}));
}

TEST(VerifyKernels, EveryFunctionThatCompilesVerifies) {
    const Context context = context_with({own_exp<Fault::ignores_output_strides>()});
    const Graph graph = appended();
    const Paths all_paths = paths(graph, context, {.verify = true});
    EXPECT_THAT(message([&] { (void)all_paths.cheapest().compile(); }), HasSubstr("[verify]"));

    const std::filesystem::path file = std::filesystem::path(CAIRN_BINARY_DIR) / "verify_kernels.cairn";
    std::filesystem::remove(file);
    EXPECT_NO_THROW(compile(graph, context, {.cache_file = file}));
    ASSERT_TRUE(std::filesystem::exists(file));
    EXPECT_THAT(message([&] { (void)compile(graph, context, {.verify = true, .cache_file = file}); }),
                HasSubstr("[verify]"));
    std::filesystem::remove(file);
}

TEST(VerifyKernels, StopsOnRequest) {
    std::stop_source stopped;
    const Context context = context_with({own_exp<Fault::none>()});
    CompileOptions options{.verify = true, .stop = stopped.get_token()};
    options.progress = [&](const Progress& progress) {
        if (progress.phase == "plan") stopped.request_stop();
    };
    EXPECT_THROW(compile(elementwise(50), context, options), Cancelled);
}

/// The definition computes an index that may be out of range for generated operands.
TEST(VerifyKernels, UncheckedKernelsAreLogged) {
    std::string log;
    ContextOptions options;
    options.log = [&](LogLevel, std::string_view line) { log += line; };
    Definition next;
    next.name = "next_row";
    next.build = [](std::span<const Tensor> x, const Attributes&) {
        return std::vector<Tensor>{gather(x[0], x[1] + 1, 0)};
    };
    next.patterns = {"next_row | f32[V,D] i32[T]"};
    Kernel kernel;
    kernel.id = "own.next_row@1";
    kernel.definition = "next_row";
    kernel.accepts = [](const Problem&) { return Refusal(); };
    kernel.run = [](const Args&, Team&) {};
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    options.extra = {{next}, {}, {kernel}};
    Graph g;
    g.output("y", gather(g.input("table", DType::f32, {4, 8}), g.input("i", DType::i32, {3}) + 1, 0));
    EXPECT_THAT(compile(g, Context(options), {.verify = true}).program(), HasSubstr("own.next_row@1"));
    EXPECT_THAT(log,
                AllOf(HasSubstr("verify: own.next_row@1 is not checked"), HasSubstr("next_row | f32[4,8] i32[3]")));
}

}  // namespace
}  // namespace cairn::test
