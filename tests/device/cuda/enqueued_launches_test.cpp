#include "device/cuda/captured_launches.hpp"

#include "cairn/kernel.hpp"
#include "tests/device/cuda/commands_fixture.hpp"

#include <array>
#include <functional>
#include <stdexcept>
#include <utility>

// Launches that are functions of the host (KernelLaunch::enqueued), alone and among kernels and copies.
namespace cairn::device::cuda {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char *launch_graph = "cuGraphLaunch", *update_graph = "cuGraphExecUpdate_v2",
                     *instantiate = "cuGraphInstantiateWithFlags", *set_kernel = "cuGraphExecKernelNodeSetParams_v2",
                     *set_enabled = "cuGraphNodeSetEnabled", *begin_capture = "cuStreamBeginCapture_v2",
                     *wait_for_stream = "cuStreamSynchronize";

/// A function that is a library: it doubles as many ints as its input has, in `parts` kernels.
class EnqueuedLaunchesTest : public CommandsTest {
protected:
    explicit EnqueuedLaunchesTest(bool graphs = true) : CommandsTest(graphs) {
        kernel.enqueue = [this](const Args& args, const DeviceStream& stream) { enqueue(args, stream); };
    }

    /// A launch of the function from one operand to another, of one axis.
    struct Doubling {
        TensorArg input, output;
        std::array<std::int64_t, 2> sizes{4, 1};  ///< shape and stride
        std::int64_t attribute = 0;
    };
    Doubling& add_doubling(const TensorArg& input, const TensorArg& output) {
        Doubling& made = *doublings.emplace_back(std::make_unique<Doubling>(Doubling{input, output}));
        for (TensorArg* operand : {&made.input, &made.output}) {
            operand->shape = &made.sizes[0];
            operand->strides = &made.sizes[1];
            operand->rank = 1;
        }
        KernelLaunch& launch = launches.emplace_back();
        launch.args = {&made.input, &made.output, &made.attribute, nullptr, nullptr};
        launch.inputs = launch.outputs = 1;
        launch.dims = 1;
        launch.enqueued = &kernel;
        return made;
    }
    void enqueue(const Args& args, const DeviceStream& stream) {
        ++called;
        if (on_call) on_call(stream);
        EXPECT_EQ(stream.device, Device::cuda(0));
        const auto count = static_cast<std::size_t>(args.inputs[0].shape[0]);
        const std::int64_t stride = args.inputs[0].strides[0];
        std::byte *const from = args.inputs[0].data, *const to = args.outputs[0].data;
        for (int part = 0; part < parts; ++part) {
            const auto work = [this, from, to, count, stride, is_first = part == 0] {
                const auto* source = reinterpret_cast<const int*>(driver.memory().host(from));
                auto* target = reinterpret_cast<int*>(driver.memory().host(to));
                for (std::size_t i = 0; i < count && is_first; ++i)
                    target[i] = 2 * source[static_cast<std::ptrdiff_t>(i) * stride];
                ran.push_back(-1);
            };
            if (driver.submit(stream.handle, work) != Result::success) throw std::runtime_error("the library failed");
        }
    }
    std::vector<std::string> calls_of_run() {
        driver.clear_calls();
        EXPECT_EQ(run().thrown, nullptr);
        const std::vector<std::string> calls = driver.calls();
        return {calls.begin() + 1, calls.end() - 1};
    }
    void set_values(std::size_t memory, const std::vector<int>& values) {
        const std::size_t bytes = values.size() * sizeof(int);
        memories.at(memory)->write({0, bytes, 1, bytes}, reinterpret_cast<const std::byte*>(values.data()));
    }
    std::vector<int> values(std::size_t memory) { return download<int>(*memories.at(memory)); }

    int called = 0, parts = 1;
    std::function<void(const DeviceStream& stream)> on_call;
    Kernel kernel;
    std::vector<std::unique_ptr<Doubling>> doublings;
    const TensorArg a = operand({1, 2, 3, 4}), b = operand({0, 0, 0, 0}), c = operand({0, 0, 0, 0});  // memories 1 to 3
};

class EnqueuedLaunchesInEachMode : public EnqueuedLaunchesTest, public ::testing::WithParamInterface<bool> {
protected:
    EnqueuedLaunchesInEachMode() : EnqueuedLaunchesTest(GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(Modes, EnqueuedLaunchesInEachMode, ::testing::Bool(), mode_name);

TEST_P(EnqueuedLaunchesInEachMode, RunInOrderAmongKernelsAndCopies) {
    record("n");
    add_doubling(a, b);
    record("n");
    add_copy(b, c, 8);
    record("n");
    for (int repeat = 0; repeat < 2; ++repeat) {
        EXPECT_EQ(run().begun(), 5);
        EXPECT_EQ(submission->thrown, nullptr);
        EXPECT_THAT(ran, ElementsAre(0, -1, 2, 4));
        EXPECT_THAT(values(2), ElementsAre(2, 4, 6, 8));
        EXPECT_THAT(values(3), ElementsAre(2, 4, 0, 0));
    }
    EXPECT_EQ(called, GetParam() ? 1 : 2);
}

TEST_P(EnqueuedLaunchesInEachMode, MaySubmitKernelsCopiesAndWrites) {
    const auto table = driver.table();
    const FunctionHandle note = static_cast<const CudaKernel*>(codes.at("note").get())->function;
    kernel.enqueue = [&](const Args& args, const DeviceStream& given) {
        const auto stream = static_cast<StreamHandle>(given.handle);
        void *data = args.outputs[0].data, *none = nullptr;
        int number = 70;
        void* parameters[] = {&data, &none, &none, &none, &number};
        const LaunchConfig config = {3, 1, 1, 32, 1, 1, 0, stream, nullptr, 0};
        EXPECT_EQ(table->launch(&config, note, parameters, nullptr), Result::success);
        const DeviceAddress source = address_of(args.inputs[0].data), target = address_of(data);
        EXPECT_EQ(table->copy_on_device(target, source, 8, stream), Result::success);
        EXPECT_EQ(table->set_words(target + 8, 9, 2, stream), Result::success);
    };
    Doubling& launch = add_doubling(a, b);
    record("n");
    run();
    EXPECT_THAT(ran, ElementsAre(70, 1));
    EXPECT_THAT(values(2), ElementsAre(1, 2, 9, 9));
    launch.output.data = c.data;
    run();
    EXPECT_THAT(ran, ElementsAre(70, 1));
    EXPECT_THAT(operands, ElementsAre(c.data, one_operand.data));
    EXPECT_THAT(values(3), ElementsAre(1, 2, 9, 9));
}

TEST_P(EnqueuedLaunchesInEachMode, AreNotCalledForOutputsWithoutElements) {
    Doubling& launch = add_doubling(a, b);
    record("n");
    launch.sizes[0] = 0;
    run();
    EXPECT_THAT(ran, ElementsAre(1));
    EXPECT_EQ(called, 0);
    launch.sizes[0] = 2;
    run();
    EXPECT_THAT(ran, ElementsAre(-1, 1));
    EXPECT_THAT(values(2), ElementsAre(2, 4, 0, 0));
    launch.sizes[0] = 0;
    run();
    EXPECT_THAT(ran, ElementsAre(1));
    EXPECT_EQ(called, 1);
}

TEST_P(EnqueuedLaunchesInEachMode, AnExceptionIsTheOutcomeOfItsLaunch) {
    record("n");
    Doubling& launch = add_doubling(a, b);
    record("n");
    on_call = [](const DeviceStream&) { throw std::runtime_error("no plan today"); };
    run();
    EXPECT_EQ(submission->failed, 1);
    EXPECT_THAT([&] { std::rethrow_exception(submission->thrown); },
                ::testing::ThrowsMessage<std::runtime_error>("no plan today"));
    on_call = {};
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(values(2), ElementsAre(2, 4, 6, 8));
    // And when it is captured again.
    on_call = [](const DeviceStream&) { throw std::runtime_error("no plan today"); };
    launch.sizes[0] = 1;
    EXPECT_NE(run().thrown, nullptr);
    EXPECT_EQ(submission->failed, 1);
    on_call = {};
    launch.input.data = c.data;
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(values(2), ElementsAre(0, 4, 6, 8));
}

TEST_P(EnqueuedLaunchesInEachMode, OperandsMustBeInTheMemoryOfTheDevice) {
    std::vector<int> host(4);
    add_doubling(host_operand(host), b);
    record("n");
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("operand 0 is not in the memory of the device"));
    EXPECT_EQ(called, 0);
}

TEST_F(EnqueuedLaunchesTest, ARunThatChangesNothingDoesNotCallThemAgain) {
    record("n");
    add_doubling(a, b);
    record("n");
    run();
    EXPECT_EQ(called, 1);
    for (int repeat = 0; repeat < 3; ++repeat) EXPECT_THAT(calls_of_run(), ElementsAre(launch_graph, wait_for_stream));
    EXPECT_EQ(called, 1);
}

TEST_F(EnqueuedLaunchesTest, OneAloneIsAGraph) {
    std::vector<int> to(4);
    add_doubling(a, b);
    add_copy(b, host_operand(to), 16);
    record("");
    run();
    EXPECT_THAT(calls_of_run(), ElementsAre(launch_graph, "cuMemcpyDtoHAsync_v2", wait_for_stream));
    EXPECT_EQ(called, 1);
    EXPECT_THAT(to, ElementsAre(2, 4, 6, 8));
}

TEST_F(EnqueuedLaunchesTest, EachChangeOfAnArgumentUpdatesTheGraphOnce) {
    const TensorArg strided = operand({1, -1, 2, -1, 3, -1, 4, -1});
    const auto workspace = upload(std::vector<int>(1));
    record("n");
    Doubling& launch = add_doubling(a, b);
    record("n");
    run();
    const std::vector<std::function<void()>> changes = {
        [&] { launch.output.data = c.data; },
        [&] { launch.sizes[0] = 3; },
        [&] {
            launch.input.data = strided.data;
            launch.sizes[1] = 2;
        },
        [&] { launch.sizes[1] = 1; },
        [&] { launch.attribute = 7; },
        [&] { launches[1].args.workspace = workspace->data(); },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        SCOPED_TRACE(i);
        changes[i]();
        const std::vector<std::string> calls = calls_of_run();
        EXPECT_THAT(calls, Contains(update_graph).Times(1));
        EXPECT_THAT(calls, Contains(begin_capture).Times(1));
        EXPECT_THAT(calls, Not(Contains(instantiate)));
        EXPECT_EQ(called, static_cast<int>(i) + 2);
        EXPECT_THAT(ran, ElementsAre(0, -1, 2));
        EXPECT_THAT(calls_of_run(), ElementsAre(launch_graph, wait_for_stream));
    }
    EXPECT_THAT(values(3), ElementsAre(2, -2, 4, 8));
    EXPECT_THAT(values(2), ElementsAre(2, 4, 6, 8)) << "before the first change";
}

TEST_F(EnqueuedLaunchesTest, NodesOfAnUpdatedGraphAreStillSetAlone) {
    const TensorArg other = operand({0});
    record("nnn");
    Doubling& launch = add_doubling(a, b);
    record("");
    launches[1].grid = {0, 1, 1};
    run();
    EXPECT_THAT(ran, ElementsAre(0, 2, -1));
    // Also where a kernel changes together with the function.
    launch.sizes[0] = 3;
    launches[2].args.outputs = &other;
    std::vector<std::string> calls = calls_of_run();
    EXPECT_THAT(calls, Contains(update_graph));
    EXPECT_THAT(calls, Not(Contains(set_kernel)));
    EXPECT_THAT(calls, Not(Contains(set_enabled))) << "an update leaves nodes disabled";
    EXPECT_THAT(ran, ElementsAre(0, 2, -1));
    EXPECT_THAT(operands, ElementsAre(one_operand.data, other.data));
    launches[0].args.outputs = &other;
    launches[1].grid = {2, 1, 1};
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, set_kernel, set_enabled, launch_graph, wait_for_stream));
    EXPECT_THAT(operands, ElementsAre(other.data, one_operand.data, other.data));
    EXPECT_EQ(called, 2);
    // A node that becomes empty in the run that updates.
    launches[1].grid = {0, 1, 1};
    launch.sizes[0] = 4;
    EXPECT_THAT(calls_of_run(), Contains(set_enabled).Times(1));
    EXPECT_THAT(ran, ElementsAre(0, 2, -1));
}

TEST_F(EnqueuedLaunchesTest, WhereTheDriverRefusesAnUpdateTheGraphIsInstantiatedAnew) {
    const TensorArg other = operand({0});
    record("nn");
    Doubling& launch = add_doubling(a, b);
    record("");
    launches[0].grid = {0, 1, 1};
    run();
    parts = 2;
    launch.sizes[0] = 3;
    EXPECT_THAT(calls_of_run(), Contains(instantiate).Times(1));
    EXPECT_THAT(ran, ElementsAre(1, -1, -1)) << "the first launch is still disabled";
    EXPECT_THAT(calls_of_run(), ElementsAre(launch_graph, wait_for_stream));
    launches[1].args.outputs = &other;
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, launch_graph, wait_for_stream));
    EXPECT_THAT(operands, ElementsAre(other.data));
    parts = 1;
    launch.sizes[0] = 4;
    EXPECT_THAT(calls_of_run(), Contains(instantiate).Times(1));
    EXPECT_THAT(ran, ElementsAre(1, -1));
}

TEST_F(EnqueuedLaunchesTest, AGraphThatPendingRunsUseStaysUntilTheyAreComplete) {
    Doubling& launch = add_doubling(a, b);
    record("n");
    const auto submit = [&](int sizes, int with_parts) {
        launch.sizes[0] = sizes;
        parts = with_parts;
        Submission pending;
        pending.stream_options.wait = false;
        commands->run(pending);
        EXPECT_EQ(pending.thrown, nullptr);
    };
    submit(4, 1);
    submit(3, 2);
    submit(2, 1);
    EXPECT_EQ(driver.count("cuGraphExecDestroy"), 0) << "three are in flight, two of them are replaced";
    Submission outcome;
    commands->wait(outcome);
    EXPECT_EQ(outcome.thrown, nullptr);
    EXPECT_THAT(ran, ElementsAre(-1, 1, -1, -1, 1, -1, 1));
    run();
    EXPECT_EQ(driver.count("cuGraphExecDestroy"), 2);
}

TEST_F(EnqueuedLaunchesTest, NoProgrammaticEdgeLeadsToThemOrFromThem) {
    DeviceCode waiting = {"note", "note"};
    waiting.waits_for_dependencies = true;
    codes["waiting"] = compile(waiting);
    record("nn");
    Doubling& launch = add_doubling(a, b);
    record("nn");
    for (const std::size_t i : {0, 1, 3, 4}) launches[i].code = codes.at("waiting").get();
    record("");
    run();
    EXPECT_THAT(dependent, ElementsAre(false, true, false, true));
    launch.sizes[0] = 1;
    run();
    EXPECT_THAT(dependent, ElementsAre(false, true, false, true));
}

TEST_F(EnqueuedLaunchesTest, ALibraryMayLoadItsKernelsAtItsFirstCall) {
    const auto table = driver.table();
    ModuleHandle module = nullptr;
    on_call = [&](const DeviceStream&) {
        if (module == nullptr) { EXPECT_EQ(table->module_load(&module, "image"), Result::success); }
    };
    Doubling& launch = add_doubling(a, b);
    record("n");
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(values(2), ElementsAre(2, 4, 6, 8));
    const auto unload = [&] {
        ContextHandle context = nullptr;
        table->primary_context_retain(&context, 0);
        table->context_push(context);
        EXPECT_EQ(table->module_unload(std::exchange(module, nullptr)), Result::success);
        table->context_pop(&context);
        table->primary_context_release(0);
    };
    unload();
    TimedCalls calls{nullptr, 1, [&] { return std::make_unique<SameArguments>(launches[0].args); }, 1, 1};
    calls.enqueued = &kernel;
    std::optional<Failure> failure;
    launch.sizes[0] = 2;
    EXPECT_NO_THROW(backend->time(calls, failure));
    EXPECT_NE(module, nullptr);
    unload();
}

TEST_F(EnqueuedLaunchesTest, ACallThatACaptureForbidsIsNamed) {
    record("n");
    Doubling& launch = add_doubling(a, b);
    record("n");
    const auto table = driver.table();
    const auto waits = [&](const DeviceStream& stream) {
        (void)table->stream_synchronize(static_cast<StreamHandle>(stream.handle));
    };
    on_call = waits;
    run();
    EXPECT_EQ(submission->failed, 1);
    EXPECT_THROW(std::rethrow_exception(submission->thrown), std::runtime_error) << "the library notices it";
    parts = 0;
    EXPECT_THAT(thrown_by(run(), ErrorKind::argument), HasSubstr("a call that a captured stream does not permit"));
    EXPECT_EQ(submission->failed, 1);
    EXPECT_THAT(driver.violations(), Contains("a stream is waited for while it is captured").Times(2));
    on_call = {};
    parts = 1;
    launch.sizes[0] = 3;
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(values(2), ElementsAre(2, 4, 6, 0));
    commands.reset();
    driver.forget_violations();
}

TEST_F(EnqueuedLaunchesTest, AfterACallThatFailsTheNextRunIsRight) {
    for (const std::string call :
         {"cuStreamCreate", begin_capture, "cuLaunchKernelEx", StandInDriver::library_work, "cuStreamIsCapturing",
          "cuStreamGetCaptureInfo_v3", "cuStreamEndCapture", update_graph, instantiate, "cuGraphUpload"}) {
        SCOPED_TRACE(call);
        commands.reset();
        launches.clear();
        record("n");
        Doubling& launch = add_doubling(a, b);
        record("n");
        parts = 1;
        run();
        const bool is_refused = call == instantiate || call == "cuGraphUpload";
        for (const Result result : {Result::invalid_value, Result::out_of_memory}) {
            --launch.sizes[0];
            if (is_refused) ++parts;
            driver.fail(call, 1, result);
            EXPECT_NE(run().thrown, nullptr);
            EXPECT_EQ(driver.failed_call(), call);
            EXPECT_THAT(ran, IsEmpty());
        }
        // Back at the size of the first run: what the call that failed has done is unknown.
        launch.sizes[0] = 4;
        set_values(2, {0, 0, 0, 0});
        EXPECT_EQ(run().thrown, nullptr);
        EXPECT_THAT(values(2), ElementsAre(2, 4, 6, 8));
        launch.sizes[0] = 2;
        set_values(2, {0, 0, 0, 0});
        EXPECT_EQ(run().thrown, nullptr);
        EXPECT_THAT(values(2), ElementsAre(2, 4, 0, 0));
        EXPECT_THAT(calls_of_run(), ElementsAre(launch_graph, wait_for_stream));
    }
    commands.reset();
    const std::vector<std::string> leaks = driver.leaks();
    EXPECT_THAT(leaks, Not(Contains(HasSubstr("graph"))));
    EXPECT_THAT(leaks, Contains("1 streams"));
}

TEST_F(EnqueuedLaunchesTest, AreTimedAsNodesOfAGraph) {
    Doubling& launch = add_doubling(a, b);
    TimedCalls calls{nullptr, 5, [&] { return std::make_unique<SameArguments>(launches[0].args); }, 1, 1};
    calls.enqueued = &kernel;
    std::optional<Failure> failure;
    driver.clear_calls();
    EXPECT_NEAR(backend->time(calls, failure), 5e-3, 1e-6);
    EXPECT_EQ(called, 5);
    EXPECT_EQ(driver.count(launch_graph), 1);
    on_call = [](const DeviceStream&) { throw std::runtime_error("no plan today"); };
    EXPECT_THROW(backend->time(calls, failure), std::runtime_error);
    on_call = {};
    launch.sizes[0] = 0;
    EXPECT_NEAR(backend->time(calls, failure), 0, 1e-6);
}

}  // namespace
}  // namespace cairn::device::cuda
