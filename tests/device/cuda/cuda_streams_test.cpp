#include "tests/device/cuda/commands_fixture.hpp"
#include "tests/device/cuda/host_stream.hpp"

#include <vector>

// Submissions in a stream of the host program, and submissions that are not waited for.
namespace cairn::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// As graphs if the parameter is true, otherwise one by one.
class CudaStreamsTest : public CommandsTest, public ::testing::WithParamInterface<bool> {
protected:
    CudaStreamsTest() : CommandsTest(GetParam()) {}

    /// Runs without waiting, in the device's stream or in that of the host program.
    Submission& submit(const HostStream* stream = nullptr) {
        submission = std::make_unique<Submission>();
        submission->stream_options.wait = false;
        if (stream != nullptr) submission->stream_options.stream = stream->handle();
        commands->run(*submission);
        return *submission;
    }
    Submission& wait() {
        submission = std::make_unique<Submission>();
        commands->wait(*submission);
        return *submission;
    }
    /// Two additions: c = a + b, d = c + b.
    void record_additions(const TensorArg& a, const TensorArg& b, const TensorArg& c, const TensorArg& d) {
        first_inputs = {a, b};
        second_inputs = {c, b};
        outputs = {c, d};
        for (std::size_t i = 0; i < 2; ++i) {
            KernelLaunch& launch = launches.emplace_back();
            launch.args = {(i == 0 ? first_inputs : second_inputs).data(), &outputs[i], nullptr, nullptr, nullptr};
            launch.inputs = 2;
            launch.outputs = 1;
            launch.code = codes.at("add").get();
            launch.grid = {2, 1, 1};
        }
        record("");
    }

    std::vector<TensorArg> first_inputs, second_inputs, outputs;
};
INSTANTIATE_TEST_SUITE_P(Launches, CudaStreamsTest, ::testing::Bool(), mode_name);

DeviceAddress address_of(const TensorArg& tensor) { return reinterpret_cast<DeviceAddress>(tensor.data); }

TEST_P(CudaStreamsTest, WorkIsOrderedInTheStreamOfTheHostProgram) {
    const TensorArg a = operand({0, 0, 0, 0}), b = operand({1, 2, 3, 4}), c = operand({0, 0, 0, 0}),
                    d = operand({0, 0, 0, 0});
    record_additions(a, b, c, d);
    HostStream stream(driver.table());
    for (const unsigned value : {10U, 20U}) {
        stream.call(&DriverTable::set_words, address_of(a), value, std::size_t{4}, stream.handle());
        EXPECT_EQ(submit(&stream).thrown, nullptr);
        stream.call(&DriverTable::copy_on_device, address_of(b), address_of(d), sizeof(int), stream.handle());
        EXPECT_THAT(ran, IsEmpty()) << "nothing has waited for the stream";
        stream.synchronize();
        EXPECT_THAT(ran, ElementsAre(0, 1));
        ran.clear();
    }
    EXPECT_THAT(download<int>(*memories[memories.size() - 1]), ElementsAre(20 + 2 * 12, 24, 26, 28));
    EXPECT_EQ(wait().thrown, nullptr);
}

TEST_P(CudaStreamsTest, ARunInAStreamIsWaitedForUnlessAskedNotTo) {
    record("nn");
    HostStream stream(driver.table());
    submission = std::make_unique<Submission>();
    submission->stream_options.stream = stream.handle();
    commands->run(*submission);
    EXPECT_EQ(submission->thrown, nullptr);
    EXPECT_THAT(ran, ElementsAre(0, 1));
    EXPECT_FALSE(commands->is_pending());
}

TEST_P(CudaStreamsTest, RunsThatAreNotWaitedForAreCompleteAfterAWait) {
    symbols = {1};
    record("nn");
    for (const std::int64_t value : {1, 2, 3}) {
        symbols[0] = value;
        commands->update();
        EXPECT_EQ(submit().thrown, nullptr);
        EXPECT_TRUE(commands->is_pending());
        EXPECT_THAT(ran, IsEmpty());
    }
    Submission& outcome = wait();
    EXPECT_EQ(outcome.thrown, nullptr);
    EXPECT_EQ(outcome.failed, -1);
    EXPECT_FALSE(commands->is_pending());
    EXPECT_THAT(ran, ElementsAre(0, 1, 0, 1, 0, 1));
    EXPECT_THAT(seen_symbols, ElementsAre(1, 1, 2, 2, 3, 3)) << "each run has its own values";
    ran.clear();
    EXPECT_EQ(wait().thrown, nullptr) << "there is nothing to wait for";
    EXPECT_THAT(ran, IsEmpty());
}

TEST_P(CudaStreamsTest, ARunFollowsThosePendingInOtherStreams) {
    const TensorArg other = operand({0});
    record("nn");
    HostStream first(driver.table()), second(driver.table());
    submit(&first);
    for (KernelLaunch& launch : launches) launch.args.outputs = &other;
    submit(&second);
    second.synchronize();
    EXPECT_THAT(operands, ElementsAre(one_operand.data, one_operand.data, other.data, other.data));
    for (KernelLaunch& launch : launches) launch.args.outputs = &one_operand;
    submit(&first);
    EXPECT_EQ(wait().thrown, nullptr);
    EXPECT_EQ(operands.size(), 6U);
}

TEST_P(CudaStreamsTest, AStreamMayBeDestroyedBeforeTheWait) {
    record("nn");
    {
        HostStream stream(driver.table());
        submit(&stream);
    }
    EXPECT_EQ(wait().thrown, nullptr);
    EXPECT_THAT(ran, ElementsAre(0, 1));
}

TEST_P(CudaStreamsTest, AFailureOfAnyPendingRunIsReportedByTheWait) {
    record("nfn");
    for (const bool fails : {false, true, false}) {
        driver.run_all();
        is_failing = fails;
        submit();
    }
    driver.run_all();
    Submission& outcome = wait();
    EXPECT_EQ(outcome.failed, 1);
    ASSERT_TRUE(outcome.failure);
    EXPECT_EQ(outcome.failure->position, 3);
    EXPECT_EQ(outcome.failure->value, 7);
    ran.clear();
    is_failing = false;
    EXPECT_FALSE(run().failure) << "it is told once";
}

TEST_P(CudaStreamsTest, AFailureOfAPendingRunIsReportedByARunThatWaits) {
    record("nf");
    submit();
    driver.run_all();
    is_failing = false;
    EXPECT_TRUE(run().failure);
    EXPECT_FALSE(commands->is_pending());
    EXPECT_FALSE(run().failure);
}

TEST_P(CudaStreamsTest, AStoppedRunTellsAFailureOfALaterLaunchInAnEarlierOne) {
    record("nnf");
    submit();
    driver.run_all();
    submission = std::make_unique<Submission>();
    submission->should_stop = [](void*) { return true; };
    commands->run(*submission);
    EXPECT_EQ(submission->thrown, nullptr);
    EXPECT_TRUE(submission->failure);
    EXPECT_EQ(submission->failed, 2);
}

TEST_P(CudaStreamsTest, TheEndOfTheCommandsWaitsForPendingRuns) {
    record("nn");
    submit();
    commands.reset();
    EXPECT_THAT(ran, ElementsAre(0, 1));
}

TEST_P(CudaStreamsTest, AStreamThatIsCapturedIsRefused) {
    record("nn");
    HostStream stream(driver.table());
    stream.call(&DriverTable::capture_begin, stream.handle(), CaptureMode::relaxed);
    EXPECT_THAT(thrown_by(submit(&stream), ErrorKind::argument), HasSubstr("captured into a graph"));
    GraphHandle graph = nullptr;
    stream.call(&DriverTable::capture_end, stream.handle(), &graph);
    EXPECT_NE(graph, nullptr) << "the capture goes on";
    stream.call(&DriverTable::graph_destroy, graph);
    EXPECT_EQ(submit(&stream).thrown, nullptr);
}

TEST_P(CudaStreamsTest, ASteadyRunDoesNotAllocate) {
    symbols = {1};
    record("nn");
    HostStream stream(driver.table());
    Submission outcome;
    outcome.stream_options = {stream.handle(), false};
    for (int i = 0; i < 2; ++i) commands->run(outcome);
    wait();
    const auto in_driver = [&] { return driver.count("cuMemAlloc_v2") + driver.count("cuMemHostAlloc"); };
    const std::int64_t before = in_driver();
    commands->run(outcome);
    EXPECT_EQ(outcome.thrown, nullptr);
    EXPECT_EQ(in_driver(), before);
    EXPECT_EQ(driver.count("cuEventCreate"), 1);
}

/// Kernels read the caller's memory where it lies.
TEST_P(CudaStreamsTest, OperandsMayLieInMemoryOfTheHostProgram) {
    HostStream stream(driver.table());
    DeviceAddress theirs = 0;
    stream.call(&DriverTable::memory_alloc, &theirs, std::size_t{64});
    stream.call(&DriverTable::set_words, theirs, 5U, std::size_t{16}, stream.handle());
    stream.synchronize();
    const TensorArg a{reinterpret_cast<std::byte*>(theirs), nullptr, nullptr, 0};
    const TensorArg d{reinterpret_cast<std::byte*>(theirs) + 16, nullptr, nullptr, 0};
    const TensorArg b = operand({1, 2, 3, 4}), c = operand({0, 0, 0, 0});
    std::vector<int> to(4);
    const TensorArg host = host_operand(to);
    record_additions(a, b, c, d);
    add_copy(d, c, 16);
    add_copy(d, host, 16);
    commands = backend->record(launches, {});
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(to, ElementsAre(7, 9, 11, 13));
    EXPECT_THAT(download<int>(*memories.back()), ElementsAre(7, 9, 11, 13));
    EXPECT_EQ(run().thrown, nullptr) << "the same addresses again";

    backend->copy(reinterpret_cast<std::byte*>(to.data()), d.data, 8);
    EXPECT_THAT(to, ElementsAre(7, 9, 11, 13));
    to = {-1, -2, -3, -4};
    backend->copy(c.data, reinterpret_cast<const std::byte*>(to.data()), 16);
    backend->copy(d.data, c.data, 16);
    backend->copy(d.data, nullptr, 0);
    std::vector<int> back(4);
    backend->copy(reinterpret_cast<std::byte*>(back.data()), d.data, 16);
    EXPECT_THAT(back, ElementsAre(-1, -2, -3, -4));
    stream.call(&DriverTable::memory_free, theirs);
}

}  // namespace
}  // namespace cairn::device::cuda
