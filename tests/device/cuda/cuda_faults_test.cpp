#include "device/cuda/driver_calls.hpp"
#include "tests/device/cuda/cuda_fixture.hpp"

#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace cairn::device::cuda {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What a program does with a device, from its creation to its end: one of its kernels is saved, another is compiled. A
/// failure must be an Error.
class Scenario {
public:
    /// `graphs` as in CudaOptions.
    Scenario(StandInDriver& driver, bool graphs, KernelBinaries saved)
        : driver_(driver), graphs_(graphs), saved_(saved) {}

    void run(const std::shared_ptr<Nvrtc>& nvrtc) {
        const auto backend = cuda_backend(0, driver_.table(), nvrtc, {.graphs = graphs_});
        constexpr std::size_t bytes = std::size_t{5} << 18;
        const auto memory = backend->reserve(bytes, MemoryUse::arena), state = backend->reserve(64, MemoryUse::state);
        std::vector<std::byte> values(bytes, std::byte{1});
        memory->write({0, bytes, 1, bytes}, values.data());
        memory->write({0, 16, 4, 32}, values.data());
        state->clear({0, 8, 4, 16});

        const DeviceCode small = {"text k", "k"}, large = {"text l", "l", 64, 16, 100 << 10};
        const DeviceCode* const texts[] = {&small, &large};
        const auto codes = backend->compile(texts, {.saved = saved_});
        const TensorArg device_operand{memory->data(), nullptr, nullptr, 0};
        const TensorArg other_operand{memory->data() + 512, nullptr, nullptr, 0};
        const TensorArg host_operand{values.data(), nullptr, nullptr, 0};
        const std::vector<std::int64_t> symbols = {1, 2};
        std::vector<KernelLaunch> launches(5);
        for (KernelLaunch& launch : launches) {
            launch.args = {&device_operand, &device_operand, nullptr, nullptr, nullptr};
            launch.inputs = launch.outputs = 1;
        }
        launches[0].args.inputs = launches[4].args.outputs = &host_operand;
        launches[3].args.outputs = &other_operand;
        launches[0].copy_bytes = launches[3].copy_bytes = launches[4].copy_bytes = 100;
        launches[1].code = codes[0].get();
        launches[2].code = codes[1].get();
        launches[2].grid = {16, 1, 1};
        const auto commands = backend->record(launches, symbols);
        const auto run = [&](bool watched) {
            std::vector<TimeSpan> spans(5);
            Submission submission;
            if (watched) {
                submission.spans = spans.data();
                submission.progress = [](void*, std::int64_t) {};
            }
            commands->run(submission);
            if (submission.thrown) std::rethrow_exception(submission.thrown);
        };
        for (const bool watched : {false, true, false}) run(watched);
        launches[1].args.inputs = &other_operand;
        launches[2].grid = {0, 1, 1};
        launches[3].copy_bytes = 50;
        run(false);
        launches[2].grid = {32, 1, 1};
        commands->update();
        run(false);
        // Two runs that are not waited for, a third that is, and one that the end of the commands waits for.
        for (const bool wait : {false, false, true, false}) {
            Submission submission;
            submission.stream_options.wait = wait;
            commands->run(submission);
            if (submission.thrown) std::rethrow_exception(submission.thrown);
        }
        Submission waited;
        commands->wait(waited);
        if (waited.thrown) std::rethrow_exception(waited.thrown);
        Submission last;
        last.stream_options.wait = false;
        commands->run(last);
        if (last.thrown) std::rethrow_exception(last.thrown);
        TimedCalls timed{nullptr, 3, [&] { return std::make_unique<SameArguments>(launches[1].args); }, 1, 1};
        timed.code = codes[0].get();
        timed.symbols = symbols;
        std::optional<Failure> failure;
        backend->time(timed, failure);
        memory->read({0, bytes, 1, bytes}, values.data());
        memory->read({0, 16, 4, 32}, values.data());
        backend->free_memory();
        backend->fingerprint({});
    }

private:
    StandInDriver& driver_;
    bool graphs_;
    KernelBinaries saved_;
};

void add_kernels(StandInDriver& driver) {
    for (const char* name : {"k", "l"}) driver.add_kernel(name, {5, [](const StandInLaunch&) {}});
}

/// The machine code of the kernel that is saved.
std::vector<std::shared_ptr<const KernelBinary>> saved_code(const std::shared_ptr<Nvrtc>& nvrtc) {
    StandInDriver driver;
    add_kernels(driver);
    const auto backend = cuda_backend(0, driver.table(), nvrtc);
    const DeviceCode small = {"text k", "k"};
    const DeviceCode* const texts[] = {&small};
    return {backend->binary(backend->compile(texts)[0].get())};
}

/// Calls that free something, or without which nothing can be freed.
const std::set<std::string> freeing = {"cuMemFree_v2",       "cuMemFreeHost",      "cuModuleUnload",
                                       "cuStreamDestroy_v2", "cuEventDestroy_v2",  "cuDevicePrimaryCtxRelease_v2",
                                       "cuGraphDestroy",     "cuGraphExecDestroy", "cuCtxPushCurrent_v2"};

class EveryCall : public ::testing::TestWithParam<std::tuple<Result, bool>> {};

TEST_P(EveryCall, MayFail) {
    const auto [result, graphs] = GetParam();
    StandInNvrtc nvrtc;
    const auto saved = saved_code(nvrtc.nvrtc());
    std::set<std::string> failed;
    int errors = 0;
    for (std::int64_t nth = 1;; ++nth) {
        StandInDriver driver;
        add_kernels(driver);
        driver.fail("", nth, result);
        try {
            Scenario(driver, graphs, saved).run(nvrtc.nvrtc());
        } catch (const Error& error) {
            ++errors;
            EXPECT_THAT(error.what(), HasSubstr("[cuda] "));
        }  // any other exception fails the test
        const std::string call = driver.failed_call();
        if (call.empty()) break;  // there are fewer calls
        failed.insert(call);
        std::vector<std::string> violations = driver.violations();
        // A graph that could not be destroyed is still there when its module goes.
        if (freeing.contains(call))
            std::erase_if(violations, [](const std::string& rule) {
                return rule == "a module is unloaded that an executable graph uses";
            });
        EXPECT_THAT(violations, IsEmpty()) << nth << ": " << call;
        if (call != "cuCtxPopCurrent_v2") { EXPECT_EQ(driver.context_depth(), 0U) << nth << ": " << call; }
        if (outcome_of(result) != Outcome::lost && !freeing.contains(call)) {
            EXPECT_THAT(driver.leaks(), IsEmpty()) << nth << ": " << call;
        }
    }
    EXPECT_GT(errors, 100);
    std::vector<std::string> expected = {"cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
                                         "cuStreamCreate",       "cuMemAlloc_v2",
                                         "cuMemsetD8Async",      "cuMemHostAlloc",
                                         "cuMemcpy2DAsync_v2",   "cuMemsetD2D8Async",
                                         "cuModuleLoadData",     "cuFuncSetAttribute",
                                         "cuFuncLoad",           "cuMemHostGetDevicePointer_v2",
                                         "cuLaunchKernelEx",     "cuStreamSynchronize",
                                         "cuEventRecord",        "cuEventElapsedTime_v2",
                                         "cuMemGetInfo_v2",      "cuMemFree_v2",
                                         "cuMemcpyDtoDAsync_v2", "cuMemsetD32Async",
                                         "cuEventCreate",        "cuEventSynchronize",
                                         "cuStreamWaitEvent"};
    if (graphs)
        for (const char* call :
             {"cuStreamBeginCapture_v2", "cuStreamGetCaptureInfo_v3", "cuStreamEndCapture",
              "cuGraphInstantiateWithFlags", "cuGraphUpload", "cuGraphLaunch", "cuGraphExecKernelNodeSetParams_v2",
              "cuGraphExecMemcpyNodeSetParams", "cuGraphNodeSetEnabled", "cuGraphExecDestroy", "cuGraphDestroy",
              "cuEventRecordWithFlags"})
            expected.emplace_back(call);
    for (const std::string& call : expected) EXPECT_THAT(failed, Contains(call));
}

INSTANTIATE_TEST_SUITE_P(Results, EveryCall,
                         ::testing::Combine(::testing::Values(Result::out_of_memory, Result::illegal_address,
                                                              Result::invalid_value),
                                            ::testing::Bool()));

TEST(Faults, WithoutOneTheScenarioSucceeds) {
    StandInNvrtc nvrtc;
    const auto saved = saved_code(nvrtc.nvrtc());
    for (const bool graphs : {false, true}) {
        nvrtc.texts.clear();
        StandInDriver driver;
        add_kernels(driver);
        Scenario(driver, graphs, saved).run(nvrtc.nvrtc());
        EXPECT_EQ(nvrtc.texts.size(), 1U) << "the other kernel";
        EXPECT_THAT(driver.violations(), IsEmpty());
        EXPECT_THAT(driver.leaks(), IsEmpty());
        EXPECT_EQ(driver.count("cuGraphLaunch"), graphs ? 10 : 0) << "nine runs and the timed calls";
    }
}

}  // namespace
}  // namespace cairn::device::cuda
