#include "device/cuda/time_calls.hpp"

#include "tests/device/cuda/cuda_fixture.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace cairn::device::cuda {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Each call gets one address more than the one before.
class NextAddress final : public CallArguments {
public:
    explicit NextAddress(std::byte* data) : operand_{data - 1, nullptr, nullptr, 0} {}
    const Args& next() noexcept override {
        ++operand_.data;
        return args_;
    }

private:
    TensorArg operand_;
    Args args_{nullptr, &operand_, nullptr, nullptr, nullptr};
};

/// As graphs if the parameter is true, otherwise one by one.
class TimeCallsTest : public CudaTest, public ::testing::WithParamInterface<bool> {
protected:
    TimeCallsTest() : CudaTest(GetParam()) {
        driver.add_kernel("k", {4, [this](const StandInLaunch& launch) {
                                    operands.push_back(*static_cast<std::byte**>(launch.parameters[0]));
                                    seen_symbols.push_back(launch.pointer<long long>(2)[0]);
                                    EXPECT_EQ(launch.config.grid_x, 7U);
                                    if (launch.is_dependent) ++dependent_launches;
                                    if (operands.size() == fails_at)
                                        *launch.pointer<FailureReport>(3) = {1, 0, 0, 0, 5, 6};
                                }});
        code = compile({"k", "k"});
        memory = backend->reserve(5000, MemoryUse::arena);
        timed.code = code.get();
        timed.grid = {7, 1, 1};
        timed.symbols = symbols;
        timed.outputs = 1;
        timed.count = 5;
        timed.arguments = [this] { return std::make_unique<NextAddress>(memory->data()); };
    }
    void TearDown() override {
        code.reset();
        memory.reset();
        CudaTest::TearDown();
    }

    std::shared_ptr<const void> code;
    std::unique_ptr<Memory> memory;
    const std::vector<std::int64_t> symbols = {11};
    TimedCalls timed{};
    std::optional<Failure> failure;
    std::vector<std::byte*> operands;
    std::vector<long long> seen_symbols;
    std::size_t fails_at = 0;
    int dependent_launches = 0;
};
INSTANTIATE_TEST_SUITE_P(Calls, TimeCallsTest, ::testing::Bool(), mode_name);

TEST_P(TimeCallsTest, AreTheSecondsBetweenTwoEvents) {
    driver.clear_calls();
    EXPECT_NEAR(backend->time(timed, failure), 5e-3, 1e-8);
    EXPECT_FALSE(failure.has_value());
    ASSERT_EQ(operands.size(), 5U);
    for (std::size_t call = 0; call < 5; ++call) EXPECT_EQ(operands[call], memory->data() + call);
    EXPECT_THAT(seen_symbols, Each(11));
    EXPECT_EQ(driver.count("cuLaunchKernelEx"), 5);
    EXPECT_EQ(driver.count("cuStreamSynchronize"), 1);
    EXPECT_EQ(driver.count("cuEventRecord"), GetParam() ? 0 : 2);
    EXPECT_EQ(driver.count("cuEventRecordWithFlags"), GetParam() ? 2 : 0) << "events are nodes";
    EXPECT_EQ(driver.count("cuGraphInstantiateWithFlags"), GetParam() ? 1 : 0);
    EXPECT_EQ(driver.count("cuGraphUpload"), GetParam() ? 1 : 0);
    EXPECT_EQ(driver.count("cuGraphLaunch"), GetParam() ? 1 : 0);
}

// As in a program, whose graphs have an ordinary edge to their first kernel.
TEST_P(TimeCallsTest, OfAKernelThatWaitsForItsDependenciesAreDependent) {
    backend->time(timed, failure);
    EXPECT_EQ(dependent_launches, 0);
    DeviceCode waiting = {"k", "k"};
    waiting.waits_for_dependencies = true;
    code = compile(waiting);
    timed.code = code.get();
    backend->time(timed, failure);
    EXPECT_EQ(dependent_launches, GetParam() ? 4 : 0);
}

TEST_P(TimeCallsTest, ReportAFailure) {
    fails_at = 3;
    backend->time(timed, failure);
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->position, 5);
    backend->time(timed, failure);
    EXPECT_FALSE(failure.has_value());
}

TEST_P(TimeCallsTest, OfOneCallOrNone) {
    timed.count = 1;
    EXPECT_NEAR(backend->time(timed, failure), 1e-3, 1e-8);
    timed.count = 0;
    EXPECT_EQ(backend->time(timed, failure), 0);
    timed.count = 3;
    timed.grid = {0, 1, 1};
    EXPECT_EQ(backend->time(timed, failure), 0) << "without blocks";
    EXPECT_THAT(operands, SizeIs(1));
}

TEST_P(TimeCallsTest, ManyAreSeveralGraphsThatAreLaunchedTogether) {
    timed.count = 2500;
    driver.clear_calls();
    EXPECT_NEAR(backend->time(timed, failure), 2.5, 1e-6);
    ASSERT_EQ(operands.size(), 2500U);
    EXPECT_EQ(operands.back(), memory->data() + 2499);
    if (!GetParam()) return;
    EXPECT_EQ(driver.count("cuGraphInstantiateWithFlags"), 3);
    EXPECT_EQ(driver.count("cuEventRecordWithFlags"), 2);
    const std::vector<std::string> calls = driver.calls();
    const auto first = std::find(calls.begin(), calls.end(), "cuGraphLaunch");
    ASSERT_GE(calls.end() - first, 4);
    EXPECT_EQ(first[1], "cuGraphLaunch");
    EXPECT_EQ(first[2], "cuGraphLaunch");
    EXPECT_EQ(first[3], "cuStreamSynchronize");
}

TEST_P(TimeCallsTest, CopiesWithTheHostAreNotCaptured) {
    std::vector<int> values(4, 1);
    const TensorArg source{reinterpret_cast<std::byte*>(values.data()), nullptr, nullptr, 0};
    const TensorArg target{memory->data(), nullptr, nullptr, 0};
    const Args args{&source, &target, nullptr, nullptr, nullptr};
    timed.code = nullptr;
    timed.copy_bytes = 16;
    timed.inputs = 1;
    timed.arguments = [&] { return std::make_unique<SameArguments>(args); };
    driver.clear_calls();
    backend->time(timed, failure);
    EXPECT_EQ(driver.count("cuMemcpyHtoDAsync_v2"), 5);
    EXPECT_EQ(driver.count("cuStreamBeginCapture_v2"), 0);
}

TEST_P(TimeCallsTest, NothingRunsOnAfterACallThatFails) {
    // The second call has an operand in host memory.
    class Arguments final : public CallArguments {
    public:
        Arguments(std::byte* data, const std::vector<std::byte*>& ran, std::size_t& seen)
            : operand_{data, nullptr, nullptr, 0}, ran_(ran), seen_(seen) {}
        ~Arguments() override { seen_ = ran_.size(); }
        const Args& next() noexcept override {
            if (++given_ == 2) operand_.data = reinterpret_cast<std::byte*>(this);
            return args_;
        }

    private:
        TensorArg operand_;
        Args args_{nullptr, &operand_, nullptr, nullptr, nullptr};
        const std::vector<std::byte*>& ran_;
        std::size_t& seen_;
        int given_ = 0;
    };
    std::size_t ran_before = 100;
    timed.arguments = [&] { return std::make_unique<Arguments>(memory->data(), operands, ran_before); };
    EXPECT_THAT(message_of(ErrorKind::internal, [&] { backend->time(timed, failure); }),
                HasSubstr("operand 0 is not in the memory"));
    EXPECT_EQ(ran_before, GetParam() ? 0U : 1U) << "a graph is captured as a whole";
    EXPECT_EQ(operands.size(), ran_before);
}

TEST_P(TimeCallsTest, AFailureOfTheDriverLeavesNothing) {
    for (const char* call : {"cuEventCreate", "cuStreamBeginCapture_v2", "cuEventRecordWithFlags", "cuStreamEndCapture",
                             "cuGraphInstantiateWithFlags", "cuGraphUpload", "cuGraphLaunch", "cuStreamSynchronize"}) {
        if (!GetParam() && std::string_view(call).find("Event") == std::string_view::npos) continue;
        if (!GetParam() && std::string_view(call) == "cuEventRecordWithFlags") continue;
        const std::vector<std::string> before = driver.leaks();
        driver.fail(call, 1, Result::invalid_value);
        EXPECT_THAT(message_of(ErrorKind::internal, [&] { backend->time(timed, failure); }), HasSubstr(call));
        EXPECT_EQ(driver.leaks(), before) << call;
        EXPECT_NEAR(backend->time(timed, failure), 5e-3, 1e-8) << call;
    }
}

}  // namespace
}  // namespace cairn::device::cuda
