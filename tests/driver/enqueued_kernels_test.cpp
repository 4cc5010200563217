#include "cairn/cairn.hpp"
#include "tests/driver/own_kernel_fixture.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

// A program's own kernels that submit work to a stream (Kernel::enqueue), by a library that is emulated: checked,
// measured, run, explained and saved like kernels in text.
namespace cairn::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class EnqueuedKernels : public OwnKernelFixture {
protected:
    /// What the library does with one element.
    using Element = std::function<float(float x, std::size_t i, std::size_t count)>;
    static float exact(float x, std::size_t, std::size_t) { return std::exp(x); }

    /// Submits `exp` of a dense operand: the library computes `element` for the first `count + excess` of them.
    void submit_exp(const Args& args, const DeviceStream& stream, const Element& element, int excess = 0) {
        ++called;
        std::size_t count = 1;
        for (int axis = 0; axis < args.inputs[0].rank; ++axis)
            count *= static_cast<std::size_t>(args.inputs[0].shape[axis]);
        const std::byte *const from = args.inputs[0].data, *const to = args.outputs[0].data;
        const auto work = [this, from, to, count, element, excess] {
            const auto* x = reinterpret_cast<const float*>(device.driver().memory().host(from));
            auto* y = reinterpret_cast<float*>(device.driver().memory().host(to));
            for (std::size_t i = 0; i < count + static_cast<std::size_t>(excess); ++i)
                y[i] = element(x[i < count ? i : 0], i, count);
        };
        if (device.driver().submit(stream.handle, work) != device::cuda::Result::success)
            throw std::runtime_error("the library failed");
    }
    Kernel own_exp(const Element& element = exact, int excess = 0) {
        Kernel kernel;
        kernel.id = "own.exp.f32@1";
        kernel.definition = "exp";
        kernel.device = Device::cuda();
        kernel.accepts = [](const Problem& problem) -> Refusal {
            if (!problem.inputs[0].is_dense() || !problem.outputs[0].is_dense()) return "needs dense memory";
            return problem.inputs[0].dtype == DType::f32 ? "" : "needs f32";
        };
        kernel.enqueue = [this, element, excess](const Args& args, const DeviceStream& stream) {
            submit_exp(args, stream, element, excess);
        };
        kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
        kernel.samples = {"exp | f32[N,3] -> f32[N,3] where N in 0..70"};
        return kernel;
    }
    static Graph exp_graph() {
        Graph g;
        g.output("y", exp(g.input("x", DType::f32, {g.symbol("N", 1, 300)})));
        return g;
    }
    static std::vector<float> run(CompiledGraph& compiled, std::int64_t count, const RunOptions& options = {}) {
        std::vector<float> x(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
        compiled.set("x", x.data(), {count});
        compiled.run(options);
        const auto y = compiled.output("y").as<float>();
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], std::exp(x[i])) << i;
        return {y.begin(), y.end()};
    }

    int called = 0;
};

TEST_F(EnqueuedKernels, ARightOnePasses) {
    const KernelReport report = checked(own_exp());
    EXPECT_THAT(report.faults, IsEmpty());
    EXPECT_GE(report.runs, 10);
    EXPECT_GE(called, 3 * report.runs / 2) << "it is not called for sizes without elements";
    EXPECT_EQ(device.compilations(), 0U);
}

TEST_F(EnqueuedKernels, FaultsAreFound) {
    EXPECT_THAT(checked(own_exp([](float x, std::size_t i, std::size_t n) {
                    return i < n / 64 * 64 ? std::exp(x) : 0.0F;
                })).faults,
                Contains(HasSubstr("is wrong (sample): output 0")));
    EXPECT_THAT(checked(own_exp(exact, 1)).faults, Contains(HasSubstr("writes around output 0")));
    EXPECT_THAT(checked(own_exp([this](float x, std::size_t i, std::size_t) {
                    return i == 0 && called % 4 < 2 ? std::nextafter(std::exp(x), 0.0F) : std::exp(x);
                })).faults,
                Contains(HasSubstr("gives different bits the third time")));
    Kernel kernel = own_exp();
    kernel.enqueue = [](const Args&, const DeviceStream&) { throw std::runtime_error("no plan today"); };
    EXPECT_THAT(checked(kernel).faults, Contains(HasSubstr(" fails: no plan today")));
    kernel = own_exp();
    kernel.prepare = [](const Problem&, int) -> std::shared_ptr<const void> { throw std::runtime_error("no licence"); };
    EXPECT_THAT(checked(kernel).faults, Contains(HasSubstr(" cannot be prepared: no licence")));
}

TEST_F(EnqueuedKernels, AreCalledAgainOnlyForOtherSizes) {
    CompiledGraph compiled = compile(exp_graph(), context_with(own_exp()));
    EXPECT_THAT(compiled.program(), HasSubstr("own.exp.f32@1"));
    int wanted = 0;
    for (const std::int64_t count : {3, 3, 3, 5, 5, 300, 3}) {
        SCOPED_TRACE(count);
        static std::int64_t before = 0;
        if (std::exchange(before, count) != count) ++wanted;
        run(compiled, count);
        EXPECT_EQ(called, wanted);
    }
    EXPECT_EQ(device.driver().count("cuGraphInstantiateWithFlags"), 1);
    EXPECT_EQ(device.driver().count("cuGraphExecUpdate_v2"), wanted - 1);
}

TEST_F(EnqueuedKernels, GiveTheSameBitsLaunchedOneByOne) {
    CompiledGraph compiled = compile(exp_graph(), context_with(own_exp(), {.cuda_graphs = false}));
    for (const std::int64_t count : {3, 3, 5}) run(compiled, count);
    EXPECT_EQ(called, 3);
    EXPECT_EQ(device.graph_launches(), 0);
}

TEST_F(EnqueuedKernels, AnExceptionReachesTheCallerOfTheRun) {
    bool fails = true;
    Kernel kernel = own_exp();
    kernel.enqueue = [&, inner = kernel.enqueue](const Args& args, const DeviceStream& stream) {
        if (fails) throw std::runtime_error("no plan today");
        inner(args, stream);
    };
    CompiledGraph compiled = compile(exp_graph(), context_with(kernel));
    EXPECT_THAT(message([&] { run(compiled, 3); }),
                AllOf(HasSubstr("exp by own.exp.f32@1: "), HasSubstr("no plan today")));
    fails = false;
    run(compiled, 3);
}

TEST_F(EnqueuedKernels, AreVerifiedOnTheProblemsOfAProgram) {
    const auto compiled = [&](const Element& element) {
        return compile(exp_graph(), context_with(own_exp(element)), {.verify = true});
    };
    EXPECT_THAT(compiled(exact).program(), HasSubstr("own.exp.f32@1"));
    EXPECT_THAT(message([&] {
                    (void)compiled([](float x, std::size_t i, std::size_t) { return i < 256 ? std::exp(x) : 0.0F; });
                }),
                AllOf(HasSubstr("[verify] a kernel differs from its definition: own.exp.f32@1 is wrong"),
                      HasSubstr("exp | f32[300]")));
}

TEST_F(EnqueuedKernels, AreProfiledAndExplained) {
    CompiledGraph compiled = compile(exp_graph(), context_with(own_exp()));
    run(compiled, 4, {.profile = true});
    bool is_profiled = false;
    for (const InstructionProfile& row : compiled.profile())
        if (row.kernel == "own.exp.f32@1") {
            is_profiled = true;
            EXPECT_EQ(row.device, Device::cuda());
            EXPECT_NEAR(row.seconds, 1e-3, 1e-5);
        }
    EXPECT_TRUE(is_profiled);
    EXPECT_THAT(details(compiled.explain()), HasSubstr("own.exp.f32@1"));
}

TEST_F(EnqueuedKernels, EachSettingIsMeasuredAndUsed) {
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "enqueued_kernels_cuda.db";
    std::filesystem::remove(path);
    std::mutex guard;
    std::set<std::int64_t> used;
    Kernel kernel = own_exp();
    kernel.knobs = {{"algorithm", {0, 3}}};
    kernel.enqueue = [&](const Args& args, const DeviceStream& stream, const Setting& setting) {
        const std::scoped_lock lock(guard);
        used.insert(setting["algorithm"]);
        submit_exp(args, stream, exact);
    };
    (void)compile(exp_graph(), context_with(kernel, {.timing_db = path}),
                  {.mode = Mode::exhaustive, .tune_seconds = 300, .run_program_trials = false});
    EXPECT_THAT(used, ElementsAre(0, 3));
    std::set<std::string> measured;
    for (const TimingRecord& row : TimingFile(path, TimingFile::Use::read).query({.kernel = "own.*"})) {
        EXPECT_EQ(row.timing.status, TimingStatus::ok) << row.timing.note;
        measured.insert(row.kernel);
    }
    EXPECT_THAT(measured, ElementsAre("own.exp.f32@1", "own.exp.f32@1{algorithm=3}"));
}

TEST_F(EnqueuedKernels, ASavedProgramHoldsNoCodeOfThem) {
    const TempFolder folder;
    compile(exp_graph(), context_with(own_exp())).save(folder / "m");
    std::ifstream file(folder / "m");
    const std::string saved{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(saved, AllOf(HasSubstr("own.exp.f32@1"), Not(HasSubstr("# code"))));
    CompiledGraph loaded = CompiledGraph::load(folder / "m", context_with(own_exp()));
    run(loaded, 4);
    EXPECT_THAT(message([&] { (void)CompiledGraph::load(folder / "m", device.context()); }),
                HasSubstr("kernels that are not in this library, or that its CPU and devices cannot run: own.exp"));
}

}  // namespace
}  // namespace cairn::test
