#include "runtime/run_fault.hpp"
#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>

namespace cairn {
namespace {

struct Outcome {
    ErrorKind kind = ErrorKind::internal;
    std::string text = "nothing was thrown";
};

Outcome outcome(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) { return {error.kind(), error.what()}; }
    return {};
}

/// A context whose kernel for floor is this one.
Context with_floor(int threads, void (*run)(const Args&, Team&)) {
    Kernel kernel;
    kernel.id = "own.floor@1";
    kernel.definition = "floor";
    kernel.accepts = [](const Problem&) { return Refusal(); };
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    kernel.run = run;
    ContextOptions options;
    options.threads = threads;
    options.extra.kernels = {kernel};
    return Context(options);
}

/// Two instructions of `rows` x 64; the second is floor. Few rows are for one thread alone, many are shared.
CompiledGraph floors(const Context& context, std::int64_t rows) {
    Graph g;
    g.output("y", floor(g.input("x", DType::f32, {rows, 64}) * 2.0f));
    return compile(g, context, {.disable = {"elementwise", "simplify"}});
}

void expect_fault(void (*run)(const Args&, Team&), ErrorKind kind, const std::string& text) {
    for (const int threads : {1, 2, 3})
        for (const std::int64_t rows : {1, 200}) {
            CompiledGraph model = floors(with_floor(threads, run), rows);
            const std::vector<float> x(static_cast<std::size_t>(rows) * 64, 1);
            model.set("x", x);
            for (int round = 0; round < 3; ++round) {
                const Outcome got = outcome([&] { model.run(); });
                EXPECT_EQ(got.kind, kind) << got.text;
                EXPECT_EQ(got.text, "[run] instruction 1, floor by own.floor@1: " + text);
            }
        }
}

TEST(RunFault, AnyExceptionOfAKernelIsAnErrorThatNamesTheKernel) {
    expect_fault([](const Args&, Team&) { throw std::runtime_error("boom"); }, ErrorKind::argument, "boom");
    expect_fault([](const Args&, Team&) { throw std::bad_alloc(); }, ErrorKind::memory, "out of memory");
    expect_fault([](const Args&, Team&) { throw 7; }, ErrorKind::argument,
                 "threw an exception that is not a std::exception");
    expect_fault([](const Args&, Team&) { throw Error(ErrorKind::unsupported, "floor", "not today"); },
                 ErrorKind::unsupported, "[floor] not today");
    expect_fault([](const Args&, Team& team) { team.fail("cannot"); }, ErrorKind::argument, "cannot");
}

TEST(RunFault, AnExceptionOfOneMemberReleasesTheOthersFromTheBarrier) {
    CompiledGraph model = floors(with_floor(3,
                                            [](const Args&, Team& team) {
                                                if (team.rank() == team.size() - 1) throw std::runtime_error("last");
                                                team.barrier();
                                            }),
                                 200);
    const std::vector<float> x(200 * 64, 1);
    model.set("x", x);
    for (int round = 0; round < 50; ++round)
        EXPECT_EQ(outcome([&] { model.run(); }).text, "[run] instruction 1, floor by own.floor@1: last");
}

TEST(RunFault, AnIndexOutOfRangeIsReportedWithItsPosition) {
    for (const int threads : {1, 2}) {
        Graph g;
        const Tensor table = g.input("table", DType::f32, {4, 2});
        const Tensor ids = g.input("ids", DType::i32, {2, 3});
        g.output("y", gather(table, ids));
        g.output("z", scatter(table, g.input("places", DType::i64, {2}), g.input("rows", DType::f32, {2, 2})));
        for (const bool reference : {false, true}) {
            ContextOptions options;
            options.threads = threads;
            options.reference_only = reference;
            CompiledGraph model = compile(g, Context(options));
            model.set("table", std::vector<float>(8));
            model.set("rows", std::vector<float>(4));
            model.set("places", {std::int64_t{0}, std::int64_t{1}});
            model.set("ids", {0, 3, 1, 2, -1, 0});
            const std::string gathered = outcome([&] { model.run(); }).text;
            EXPECT_NE(gathered.find(" by cpu."), std::string::npos) << gathered;
            EXPECT_TRUE(gathered.ends_with("an index is out of range of the indexed axis: \"ids\"[1,1] is -1"))
                << gathered;
            model.set("ids", {0, 3, 1, 2, 1, 0});
            model.set("places", {std::int64_t{3}, std::int64_t{4}});
            const std::string scattered = outcome([&] { model.run(); }).text;
            EXPECT_NE(scattered.find(" by cpu."), std::string::npos) << scattered;
            EXPECT_TRUE(scattered.ends_with("\"places\"[1] is 4")) << scattered;
        }
    }
}

/// Overwrites the last live row, appends another, and sums everything afterwards.
Graph last_row_again() {
    Graph g;
    const Dim n = g.symbol("N", 1, 8);
    State s = g.state("s", DType::f32, {n, 4}, 0, 16);
    const Tensor row = g.input("row", DType::f32, {1, 4});
    s.write(row * 2.0f, n - 1);
    g.output("total", sum(s.append(row), {0}));
    return g;
}

struct Sink : std::exception {};

TEST(RunFault, AFailureInMidRunRequiresARewindToValidRows) {
    for (const int threads : {1, 2})
        for (const bool throws : {false, true}) {
            CompiledGraph model = compile(last_row_again(), Context({.threads = threads}));
            model.set("row", {1.f, 2.f, 3.f, 4.f});
            for (int i = 0; i < 3; ++i) model.run();  // rows 2, 2, 2, 1
            std::stop_source source;
            RunOptions options;
            options.stop = source.get_token();
            options.progress = [&](const Progress& progress) {
                if (progress.done + 1 != progress.total) return;
                if (throws) throw Sink();
                source.request_stop();
            };
            if (throws)
                EXPECT_THROW(model.run(options), Sink);
            else
                EXPECT_THROW(model.run(options), Cancelled);
            EXPECT_EQ(outcome([&] { model.run(); }).text,
                      "[run] a failed run has overwritten parts of state \"s\": rewind N to 3 or less, "
                      "set its contents again, or reset_states() first");
            model.rewind("N", 3);
            model.run();  // rows 2, 2, 2, 1
            EXPECT_EQ(model.output("total").as<float>()[0], 7);
        }
}

TEST(RunFault, EachLengthIsRewoundIndependently) {
    Graph g;
    const Dim p = g.symbol("P", 0, 8), q = g.symbol("Q", 0, 8);
    State s = g.state("s", DType::f32, {p, 4}, 0, 16), t = g.state("t", DType::f32, {q, 4}, 0, 16);
    const Tensor row = g.input("row", DType::f32, {1, 4});
    s.append(row);
    t.append(row);
    const Tensor a = s.write(row * 2.0f, 0), b = t.write(row * 3.0f, 0);
    g.output("a", sum(a));
    g.output("b", sum(b));
    CompiledGraph model = compile(g, Context());
    model.set("row", {1.f, 1.f, 1.f, 1.f});
    model.run();
    model.run();
    RunOptions options;
    options.progress = [](const Progress& progress) {
        if (progress.done == progress.total) throw Sink();
    };
    EXPECT_THROW(model.run(options), Sink);
    model.rewind("P", 0);
    EXPECT_NE(outcome([&] { model.run(); }).text.find("state \"t\": rewind Q to 0"), std::string::npos);
    model.rewind("Q", 0);
    model.run();
    EXPECT_EQ(model.output("b").as<float>()[0], 12);
}

TEST(RunFault, AFailureBeforeAnyOverwriteLosesNothing) {
    Graph g;
    const Dim n = g.symbol("N", 2, 8);
    State s = g.state("s", DType::f32, {n, 4}, 0, 8);
    const Tensor table = g.input("table", DType::f32, {4, 4});
    const Tensor after = s.write(gather(table, g.input("ids", DType::i32, {1})), 0);
    g.output("total", sum(after, {0}));
    CompiledGraph model = compile(g, Context({.threads = 2}));
    model.set("table", std::vector<float>(16, 1));
    model.set("ids", {9});
    EXPECT_NE(outcome([&] { model.run(); }).text.find("\"ids\"[0] is 9"), std::string::npos);
    model.set("ids", {3});
    model.run();
    EXPECT_EQ(model.output("total").as<float>()[0], 1);
}

TEST(RunFault, ASinkCannotChangeTheObservedRun) {
    CompiledGraph model = floors(Context({.threads = 2}), 200);
    std::vector<float> x(200 * 64, 1);
    model.set("x", x);
    int busy = 0;
    const std::vector<std::function<void()>> calls = {
        [&] { model.set("x", x); },    [&] { model.set("N", 1); }, [&] { model.set_output("y", x); },
        [&] { model.rewind("N", 0); }, [&] { model.reserve({}); }, [&] { (void)model.memory({}); },
        [&] { model.run(); }};
    RunOptions options;
    options.progress = [&](const Progress& progress) {
        if (progress.done != 1) return;
        for (const auto& call : calls) busy += outcome(call).kind == ErrorKind::busy ? 1 : 0;
    };
    model.run(options);
    EXPECT_EQ(busy, static_cast<int>(calls.size()));
    EXPECT_EQ(model.output("y").as<float>()[0], 2);
}

TEST(RunFault, AStopAfterTheLastInstructionHasNoEffect) {
    CompiledGraph model = floors(Context(), 1);
    const std::vector<float> x(64, 1);
    model.set("x", x);
    std::stop_source source;
    RunOptions options;
    options.stop = source.get_token();
    options.progress = [&](const Progress& progress) {
        if (progress.done == progress.total) source.request_stop();
    };
    model.run(options);
    EXPECT_EQ(model.output("y").as<float>()[0], 2);
}

TEST(RunFault, ADeviceThatIsLostInAnUnknownLaunchIsAnErrorWithoutItsName) {
    device::Submission submission;
    submission.thrown = std::make_exception_ptr(Error(ErrorKind::unsupported, "cuda", "the device is lost"));
    const Outcome got = outcome([&] { runtime::throw_fault(submission, {}, "run", {}, {}); });
    EXPECT_EQ(got.kind, ErrorKind::unsupported);
    EXPECT_EQ(got.text, "[run] [cuda] the device is lost");
}

}  // namespace
}  // namespace cairn
