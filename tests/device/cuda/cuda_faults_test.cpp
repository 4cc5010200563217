#include "device/cuda/driver_calls.hpp"
#include "tests/device/cuda/cuda_fixture.hpp"

#include <set>

namespace cairn::device::cuda {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What a program does with a device, from its creation to its end. A failure must be an Error.
class Scenario {
public:
    explicit Scenario(StandInDriver& driver) : driver_(driver) {}

    void run(const std::shared_ptr<Nvrtc>& nvrtc) {
        const auto backend = cuda_backend(0, driver_.table(), nvrtc);
        constexpr std::size_t bytes = std::size_t{5} << 18;
        const auto memory = backend->reserve(bytes, MemoryUse::arena), state = backend->reserve(64, MemoryUse::state);
        std::vector<std::byte> values(bytes, std::byte{1});
        memory->write({0, bytes, 1, bytes}, values.data());
        memory->write({0, 16, 4, 32}, values.data());
        state->clear({0, 8, 4, 16});

        const DeviceCode small = {"text k", "k"}, large = {"text l", "l", 64, 16, 100 << 10};
        const DeviceCode* const texts[] = {&small, &large};
        const auto codes = backend->compile(texts);
        const TensorArg device_operand{memory->data(), nullptr, nullptr, 1};
        const TensorArg host_operand{values.data(), nullptr, nullptr, 1};
        const std::vector<std::int64_t> symbols = {1, 2};
        std::vector<KernelLaunch> launches(4);
        for (KernelLaunch& launch : launches) {
            launch.args = {&device_operand, &device_operand, nullptr, nullptr, nullptr};
            launch.inputs = launch.outputs = 1;
        }
        launches[0].args.inputs = launches[3].args.outputs = &host_operand;
        launches[0].copy_bytes = launches[3].copy_bytes = 100;
        launches[1].code = codes[0].get();
        launches[2].code = codes[1].get();
        launches[2].grid = {16, 1, 1};
        const auto commands = backend->record(launches, symbols);
        for (const bool watched : {false, true, false}) {
            std::vector<TimeSpan> spans(4);
            Submission submission;
            if (watched) {
                submission.spans = spans.data();
                submission.progress = [](void*, std::int64_t) {};
            }
            commands->run(submission);
            if (submission.thrown) std::rethrow_exception(submission.thrown);
        }
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
};

void add_kernels(StandInDriver& driver) {
    for (const char* name : {"k", "l"}) driver.add_kernel(name, {5, [](const StandInLaunch&) {}});
}

/// Calls that free something, or without which nothing can be freed.
const std::set<std::string> freeing = {"cuMemFree_v2",       "cuMemFreeHost",     "cuModuleUnload",
                                       "cuStreamDestroy_v2", "cuEventDestroy_v2", "cuDevicePrimaryCtxRelease_v2",
                                       "cuCtxPushCurrent_v2"};

class EveryCall : public ::testing::TestWithParam<Result> {};

TEST_P(EveryCall, MayFail) {
    StandInNvrtc nvrtc;
    std::set<std::string> failed;
    int errors = 0;
    for (std::int64_t nth = 1;; ++nth) {
        StandInDriver driver;
        add_kernels(driver);
        driver.fail("", nth, GetParam());
        try {
            Scenario(driver).run(nvrtc.nvrtc());
        } catch (const Error& error) {
            ++errors;
            EXPECT_THAT(error.what(), HasSubstr("[cuda] "));
        }  // any other exception fails the test
        const std::string call = driver.failed_call();
        if (call.empty()) break;  // there are fewer calls
        failed.insert(call);
        EXPECT_THAT(driver.violations(), IsEmpty()) << nth << ": " << call;
        if (call != "cuCtxPopCurrent_v2") { EXPECT_EQ(driver.context_depth(), 0U) << nth << ": " << call; }
        if (outcome_of(GetParam()) != Outcome::lost && !freeing.contains(call)) {
            EXPECT_THAT(driver.leaks(), IsEmpty()) << nth << ": " << call;
        }
    }
    EXPECT_GT(errors, 100);
    for (const char* call :
         {"cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuMemAlloc_v2", "cuMemsetD8Async",
          "cuMemHostAlloc", "cuMemcpy2DAsync_v2", "cuMemsetD2D8Async", "cuModuleLoadData", "cuFuncSetAttribute",
          "cuFuncLoad", "cuMemHostGetDevicePointer_v2", "cuLaunchKernelEx", "cuStreamSynchronize", "cuEventRecord",
          "cuEventElapsedTime_v2", "cuMemGetInfo_v2", "cuMemFree_v2"})
        EXPECT_THAT(failed, Contains(call));
}

INSTANTIATE_TEST_SUITE_P(Results, EveryCall,
                         ::testing::Values(Result::out_of_memory, Result::illegal_address, Result::invalid_value));

TEST(Faults, WithoutOneTheScenarioSucceeds) {
    StandInNvrtc nvrtc;
    StandInDriver driver;
    add_kernels(driver);
    Scenario(driver).run(nvrtc.nvrtc());
    EXPECT_THAT(driver.violations(), IsEmpty());
    EXPECT_THAT(driver.leaks(), IsEmpty());
}

}  // namespace
}  // namespace cairn::device::cuda
