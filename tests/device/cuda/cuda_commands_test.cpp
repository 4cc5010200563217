#include "device/cuda/cuda_commands.hpp"

#include "tests/device/cuda/commands_fixture.hpp"

#include <stdexcept>
#include <tuple>

namespace cairn::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// As graphs if the parameter is true, otherwise one by one.
class CudaCommandsTest : public CommandsTest, public ::testing::WithParamInterface<bool> {
protected:
    CudaCommandsTest() : CommandsTest(GetParam()) {}
    static bool with_graphs() { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Launches, CudaCommandsTest, ::testing::Bool(), mode_name);

TEST_P(CudaCommandsTest, RunsLaunchesInOrder) {
    record("nnn");
    const Submission& outcome = run();
    EXPECT_THAT(ran, ElementsAre(0, 1, 2));
    EXPECT_EQ(outcome.count, 3);
    EXPECT_EQ(outcome.begun(), 3);
    EXPECT_EQ(outcome.failed, -1);
    EXPECT_EQ(outcome.stopped, -1);
    EXPECT_EQ(outcome.thrown, nullptr);
    EXPECT_EQ(commands->threads(), 1);
    driver.clear_calls();
    run();
    EXPECT_THAT(ran, ElementsAre(0, 1, 2));
    if (with_graphs()) {
        EXPECT_THAT(driver.calls(),
                    ElementsAre("cuCtxPushCurrent_v2", "cuGraphLaunch", "cuStreamSynchronize", "cuCtxPopCurrent_v2"));
    } else {
        EXPECT_THAT(driver.calls(), ElementsAre("cuCtxPushCurrent_v2", "cuLaunchKernelEx", "cuLaunchKernelEx",
                                                "cuLaunchKernelEx", "cuStreamSynchronize", "cuCtxPopCurrent_v2"));
    }
}

TEST_P(CudaCommandsTest, WithoutLaunchesNothingRuns) {
    record("");
    EXPECT_EQ(run().begun(), 0);
    EXPECT_EQ(submission->thrown, nullptr);
    EXPECT_EQ(driver.count("cuStreamBeginCapture_v2"), 0);
}

TEST_P(CudaCommandsTest, KernelsGetOperandsGridBlockClusterAndSharedMemory) {
    const TensorArg inputs[] = {operand({1, 2, 3, 4}), operand({10, 20, 30, 40})}, output = operand({0, 0, 0, 0});
    KernelLaunch& launch = launches.emplace_back();
    launch.args = {inputs, &output, nullptr, nullptr, nullptr};
    launch.inputs = 2;
    launch.outputs = 1;
    launch.code = codes.at("add").get();
    launch.grid = {6, 2, 3};
    record("");
    run();
    EXPECT_THAT(download<int>(*memories.back()), ElementsAre(11, 22, 33, 44));
    ASSERT_EQ(configs.size(), 1U);
    EXPECT_EQ(configs[0].grid_x, 6U);
    EXPECT_EQ(configs[0].grid_y, 2U);
    EXPECT_EQ(configs[0].grid_z, 3U);
    EXPECT_EQ(configs[0].block_x, 128U);
    EXPECT_EQ(configs[0].block_y * configs[0].block_z, 1U);
    EXPECT_EQ(configs[0].dynamic_shared_bytes, 1000U);
    EXPECT_EQ(clusters[0], 2U);

    // Arguments and grid may change between submissions.
    const TensorArg others[] = {inputs[1], inputs[1]};
    launch.args.inputs = others;
    run();
    EXPECT_THAT(download<int>(*memories.back()), ElementsAre(20, 40, 60, 80));
    launch.grid = {0, 1, 1};
    EXPECT_EQ(run().begun(), 1);
    EXPECT_THAT(ran, IsEmpty()) << "a grid without blocks";
}

TEST_P(CudaCommandsTest, SymbolsAreUploadedOnceForEachUpdate) {
    symbols = {5, 6};
    record("n");
    driver.clear_calls();
    run();
    run();
    EXPECT_THAT(seen_symbols, ElementsAre(5, 5));
    EXPECT_EQ(driver.count("cuMemsetD32Async"), 4) << "two words each";
    symbols = {8, 6};
    commands->update();
    commands->update();
    run();
    EXPECT_THAT(seen_symbols, ElementsAre(5, 5, 8));
    EXPECT_EQ(driver.count("cuMemsetD32Async"), 5) << "one word has changed";
    symbols = {-1, 6};
    commands->update();
    run();
    EXPECT_THAT(seen_symbols, ElementsAre(5, 5, 8, -1));
    EXPECT_EQ(driver.count("cuMemsetD32Async"), 7);
}

TEST_P(CudaCommandsTest, ASymbolWhoseWriteFailedIsWrittenAgain) {
    symbols = {5};
    record("n");
    driver.fail("cuMemsetD32Async", 1, Result::invalid_value);
    EXPECT_NE(run().thrown, nullptr);
    run();
    EXPECT_THAT(seen_symbols, ElementsAre(5));
}

TEST_P(CudaCommandsTest, CopiesBetweenHostAndDevice) {
    std::vector<int> from = {1, 2, 3}, to(3);
    const TensorArg host_source = host_operand(from), host_target = host_operand(to);
    const TensorArg first = operand({0, 0, 0}), second = operand({0, 0, 0}), third = operand({0, 0, 0});
    add_copy(host_source, first, 12);
    add_copy(first, second, 12);
    add_copy(second, third, 8);
    add_copy(third, host_target, 12);
    record("");
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(to, ElementsAre(1, 2, 0));
    launches[0].copy_bytes = 4;
    from = {4, 5, 6};
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(to, ElementsAre(4, 2, 0));
    for (KernelLaunch& launch : launches) launch.copy_bytes = 0, launch.bytes = 0;
    commands = backend->record(launches, {});
    driver.clear_calls();
    EXPECT_EQ(run().thrown, nullptr) << "without elements there is nothing to copy";
    EXPECT_EQ(driver.count("cuMemcpyHtoDAsync_v2") + driver.count("cuMemcpyDtoHAsync_v2"), 0);
    EXPECT_THAT(to, ElementsAre(4, 2, 0));
}

TEST_P(CudaCommandsTest, OperandsInTheWrongMemoryAreNotLaunched) {
    int value = 0;
    const TensorArg host{reinterpret_cast<std::byte*>(&value), nullptr, nullptr, 0};
    record("nn");
    launches[1].args.outputs = &host;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("operand 0 is not in the memory of the device"));
    EXPECT_EQ(submission->failed, 1);
    EXPECT_EQ(ran.size(), with_graphs() ? 0U : 1U) << "a graph is checked as a whole before it runs";
    EXPECT_EQ(submission->begun(), with_graphs() ? 0 : 2);

    launches[1].code = nullptr;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("neither code nor bytes to copy"));
    launches[1].copy_bytes = 4;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("one input and one output"));
    launches[1].inputs = 1;
    launches[1].args.inputs = &host;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("neither operand of a copy"));
    launches[1].args.outputs = &one_operand;
    launches[1].copy_bytes = 8;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("neither operand of a copy"))
        << "the operand on the device has 4 bytes";
    launches[1].copy_bytes = 4;
    EXPECT_EQ(run().thrown, nullptr);
}

TEST_P(CudaCommandsTest, AnOperandWhoseMemoryIsFreedIsNotLaunched) {
    record("n");
    TensorArg freed = operand({1});
    memories.pop_back();
    launches[0].args.outputs = &freed;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("operand 0 is not in the memory of the device"));
}

// A part of a tensor without elements may begin behind its memory.
TEST_P(CudaCommandsTest, AnOperandWithoutElementsMayBeInNoMemory) {
    std::int64_t shape[] = {0, 2};
    TensorArg part = operand({1});
    part.shape = shape;
    part.rank = 2;
    part.data += 2048;
    record("nn");
    launches[1].args.outputs = &part;
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(operands, ElementsAre(one_operand.data, nullptr));
    shape[0] = 1;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("operand 0 is not in the memory of the device"));
    part.data -= 2048;
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(operands, ElementsAre(one_operand.data, part.data));
    shape[0] = 0;
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(operands, ElementsAre(one_operand.data, part.data)) << "what is repeated 0 times is there";
}

TEST_P(CudaCommandsTest, AKernelOfAnotherDeviceIsNotLaunched) {
    const auto second = cuda_backend(0, driver.table(), nvrtc.nvrtc());
    const DeviceCode code = {"note", "note"};
    const DeviceCode* const texts[] = {&code};
    const auto foreign = second->compile(texts);
    record("n");
    launches[0].code = foreign[0].get();
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("compiled for another device"));
}

TEST_P(CudaCommandsTest, TheFirstFailureIsTheOutcome) {
    record("nffn");
    const Submission& outcome = run();
    EXPECT_EQ(outcome.failed, 1);
    ASSERT_TRUE(outcome.failure.has_value());
    EXPECT_STREQ(outcome.failure->reason, "an index is out of range of the indexed axis");
    EXPECT_EQ(outcome.failure->input, 1);
    EXPECT_EQ(outcome.failure->position, 3);
    EXPECT_EQ(outcome.failure->value, 7);
    EXPECT_EQ(outcome.thrown, nullptr);
    EXPECT_EQ(outcome.begun(), 4) << "later launches have run too";

    is_failing = false;
    EXPECT_EQ(run().failed, -1) << "the failure was of the submission before";
    EXPECT_FALSE(submission->failure.has_value());
}

TEST_P(CudaCommandsTest, AFailureBeforeAnExceptionIsNotThatOfTheNextRun) {
    record("fn");
    driver.fail("cuStreamSynchronize", 1, Result::invalid_value);
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("cuStreamSynchronize failed on cuda:0"));
    EXPECT_THAT(ran, ElementsAre(0, 1));
    is_failing = false;
    EXPECT_EQ(run().failed, -1);
    EXPECT_EQ(submission->thrown, nullptr);
}

TEST_P(CudaCommandsTest, AnUnknownFailureIsAnInternalError) {
    record("f");
    failure_code = 99;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("unknown code 99"));
}

TEST_P(CudaCommandsTest, ADriverFaultIsTheExceptionOfItsLaunch) {
    record("nnn");
    driver.fail("cuLaunchKernelEx", 2, static_cast<Result>(701));
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("cuLaunchKernelEx failed on cuda:0"));
    EXPECT_EQ(submission->failed, 1);
    EXPECT_EQ(submission->begun(), with_graphs() ? 0 : 2);
    EXPECT_EQ(ran.size(), with_graphs() ? 0U : 1U) << "what was submitted is complete";
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(ran, ElementsAre(0, 1, 2));
}

TEST_P(CudaCommandsTest, ALostDeviceHasNoKnownLaunch) {
    is_lost = true;
    record("nnn");
    driver.fail("cuStreamSynchronize", 1, Result::illegal_address);
    EXPECT_THAT(thrown_by(run(), ErrorKind::unsupported), HasSubstr("cuda:0 is lost: cuStreamSynchronize"));
    EXPECT_EQ(submission->failed, -1);
    EXPECT_EQ(submission->begun(), 3);
    EXPECT_THAT(thrown_by(run(), ErrorKind::unsupported), HasSubstr("cuda:0 is lost: cuStreamSynchronize"));
    EXPECT_EQ(submission->begun(), 0);
}

TEST_P(CudaCommandsTest, ALaunchThatLosesTheDeviceMayNotBeTheOneAtFault) {
    is_lost = true;
    record("nnn");
    driver.fail("cuLaunchKernelEx", 2, Result::illegal_address);
    EXPECT_THAT(thrown_by(run(), ErrorKind::unsupported), HasSubstr("cuda:0 is lost: cuLaunchKernelEx"));
    EXPECT_EQ(submission->failed, -1);
    EXPECT_EQ(submission->begun(), with_graphs() ? 0 : 2);
}

TEST_P(CudaCommandsTest, StopsBetweenLaunchesOrGraphs) {
    std::vector<int> from = {1}, to = {0};
    const TensorArg host_source = host_operand(from), host_target = host_operand(to);
    add_copy(host_source, one_operand, 4);
    record("nn");
    add_copy(one_operand, host_target, 4);
    record("");
    struct Caller {
        int polls, stops_at;
    };
    const auto stop_at = [&](int poll) {
        Caller caller{0, poll};
        Submission stopping;
        stopping.caller = &caller;
        stopping.should_stop = [](void* self) {
            auto& polled = *static_cast<Caller*>(self);
            return ++polled.polls == polled.stops_at;
        };
        ran.clear();
        commands->run(stopping);
        EXPECT_EQ(stopping.thrown, nullptr);
        return std::tuple(stopping.stopped, stopping.begun(), ran.size(), caller.polls);
    };
    EXPECT_EQ(stop_at(1), std::tuple(1, 1, 0U, 1));
    if (with_graphs()) {
        EXPECT_EQ(stop_at(2), std::tuple(3, 3, 2U, 2));
    } else {
        EXPECT_EQ(stop_at(2), std::tuple(2, 2, 1U, 2));
    }
    EXPECT_EQ(to[0], 0);
    // Not after the last launch: the run is complete.
    EXPECT_EQ(stop_at(10), std::tuple(-1, 4, 2U, with_graphs() ? 2 : 3));
    EXPECT_EQ(to[0], 1);
}

TEST_P(CudaCommandsTest, ProgressIsReportedAfterEachLaunch) {
    record("nnfn");
    struct Seen {
        std::vector<int>* ran;
        std::vector<std::pair<std::int64_t, std::size_t>> progress;
    } seen{&ran, {}};
    Submission watched;
    watched.caller = &seen;
    watched.progress = [](void* caller, std::int64_t done) {
        auto& all = *static_cast<Seen*>(caller);
        all.progress.emplace_back(done, all.ran->size());
    };
    commands->run(watched);
    EXPECT_THAT(seen.progress, ElementsAre(std::pair(1, 1U), std::pair(2, 2U)));
    EXPECT_EQ(watched.failed, 2);
    EXPECT_EQ(watched.begun(), 3) << "the launch after the failure has not begun";
}

TEST_P(CudaCommandsTest, AnExceptionOfTheCallerPassesThrough) {
    std::vector<int> to = {0};
    const TensorArg host_target = host_operand(to);
    record("nn");
    add_copy(one_operand, host_target, 4);
    record("");
    Submission watched;
    watched.should_stop = [](void*) -> bool { throw std::runtime_error("enough"); };
    EXPECT_THROW(commands->run(watched), std::runtime_error);
    EXPECT_EQ(ran.size(), with_graphs() ? 2U : 1U) << "and nothing runs on";
    EXPECT_EQ(watched.thrown, nullptr);
    EXPECT_EQ(driver.context_depth(), 0U);
}

TEST_P(CudaCommandsTest, SpansAreTimesOnTheDevice) {
    record("nnn");
    std::vector<TimeSpan> spans(3);
    Submission timed;
    timed.spans = spans.data();
    for (int repeat = 0; repeat < 2; ++repeat) {
        commands->run(timed);
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(spans[i].begin, 1e-3 * static_cast<double>(i), 1e-9);
            EXPECT_NEAR(spans[i].end, 1e-3 * static_cast<double>(i + 1), 1e-9);
        }
    }
    EXPECT_EQ(driver.count("cuEventCreate"), 4) << "events are kept";
}

}  // namespace
}  // namespace cairn::device::cuda
