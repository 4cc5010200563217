#include "device/cuda/cuda_commands.hpp"

#include "tests/device/cuda/cuda_fixture.hpp"

#include <functional>
#include <stdexcept>

namespace cairn::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The error that a submission ended with.
template <class Kind>
std::string thrown_by(const Submission& submission, Kind kind) {
    if (submission.thrown == nullptr) {
        ADD_FAILURE() << "nothing was thrown";
        return {};
    }
    return message_of(kind, [&] { std::rethrow_exception(submission.thrown); });
}

/// Launches of kernels that note their calls: `note` its instruction and the first symbol, `add` also adds its two
/// inputs, `fail` reports that element 3 of input 1 is 7.
class CudaCommandsTest : public CudaTest {
protected:
    CudaCommandsTest() {
        driver.add_kernel("note", {4, [this](const StandInLaunch& launch) {
                                       ran.push_back(launch.integer(4));
                                       if (const auto* symbols = launch.pointer<long long>(2))
                                           seen_symbols.push_back(symbols[0]);
                                   }});
        driver.add_kernel("add", {6, [this](const StandInLaunch& launch) {
                                      ran.push_back(launch.integer(6));
                                      configs.push_back(launch.config);
                                      clusters.push_back(launch.cluster);
                                      const auto *a = launch.pointer<int>(0), *b = launch.pointer<int>(1);
                                      auto* sum = launch.pointer<int>(2);
                                      for (int i = 0; i < 4; ++i) sum[i] = a[i] + b[i];
                                  }});
        driver.add_kernel(
            "fail", {4, [this](const StandInLaunch& launch) {
                         ran.push_back(launch.integer(4));
                         auto* report = launch.pointer<FailureReport>(3);
                         if (report->code != 0) return;
                         *report = {
                             static_cast<unsigned>(failure_code), static_cast<unsigned>(launch.integer(4)), 1, 0, 3, 7};
                     }});
        for (const char* entry : {"note", "fail"}) codes[entry] = compile({entry, entry});
        codes["add"] = compile({"add", "add", 128, 2, 1000});
    }
    void TearDown() override {
        commands.reset();
        codes.clear();
        memories.clear();
        CudaTest::TearDown();
    }

    /// Launches of `n`ote and `f`ail.
    void record(std::string_view kinds) {
        for (const char kind : kinds) {
            KernelLaunch& launch = launches.emplace_back();
            launch.args.outputs = &one_operand;
            launch.outputs = 1;
            launch.code = codes.at(kind == 'f' ? "fail" : "note").get();
        }
        commands = backend->record(launches, symbols);
    }
    Submission& run() {
        ran.clear();
        submission = std::make_unique<Submission>();
        commands->run(*submission);
        return *submission;
    }
    /// An operand in the memory of the device.
    TensorArg operand(const std::vector<int>& values) {
        return {memories.emplace_back(upload(values))->data(), nullptr, nullptr, 1};
    }

    std::map<std::string, std::shared_ptr<const void>> codes;
    std::vector<std::unique_ptr<Memory>> memories;
    TensorArg one_operand = operand({0});
    std::vector<KernelLaunch> launches;
    std::vector<std::int64_t> symbols;
    std::unique_ptr<CommandBuffer> commands;
    std::unique_ptr<Submission> submission;

    int failure_code = 1;
    std::vector<int> ran;
    std::vector<long long> seen_symbols;
    std::vector<LaunchConfig> configs;
    std::vector<unsigned> clusters;
};

TEST_F(CudaCommandsTest, RunsLaunchesInOrder) {
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
    EXPECT_THAT(driver.calls(), ElementsAre("cuCtxPushCurrent_v2", "cuLaunchKernelEx", "cuLaunchKernelEx",
                                            "cuLaunchKernelEx", "cuStreamSynchronize", "cuCtxPopCurrent_v2"));
}

TEST_F(CudaCommandsTest, WithoutLaunchesNothingRuns) {
    record("");
    EXPECT_EQ(run().begun(), 0);
    EXPECT_EQ(submission->thrown, nullptr);
}

TEST_F(CudaCommandsTest, KernelsGetOperandsGridBlockClusterAndSharedMemory) {
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

TEST_F(CudaCommandsTest, SymbolsAreUploadedOnceForEachUpdate) {
    symbols = {5, 6};
    record("n");
    driver.clear_calls();
    run();
    run();
    EXPECT_THAT(seen_symbols, ElementsAre(5, 5));
    EXPECT_EQ(driver.count("cuMemcpyHtoDAsync_v2"), 1);
    symbols = {8, 9};
    commands->update();
    commands->update();
    run();
    EXPECT_THAT(seen_symbols, ElementsAre(5, 5, 8));
    EXPECT_EQ(driver.count("cuMemcpyHtoDAsync_v2"), 2);
}

TEST_F(CudaCommandsTest, CopiesBetweenHostAndDevice) {
    std::vector<int> from = {1, 2, 3}, to(3);
    const TensorArg host_source{reinterpret_cast<std::byte*>(from.data()), nullptr, nullptr, 1};
    const TensorArg host_target{reinterpret_cast<std::byte*>(to.data()), nullptr, nullptr, 1};
    const TensorArg first = operand({0, 0, 0}), second = operand({0, 0, 0});
    const auto copy = [&](const TensorArg& source, const TensorArg& target) {
        KernelLaunch& launch = launches.emplace_back();
        launch.args = {&source, &target, nullptr, nullptr, nullptr};
        launch.inputs = launch.outputs = 1;
        launch.copy_bytes = 12;
    };
    copy(host_source, first);
    copy(first, second);
    copy(second, host_target);
    record("");
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(to, ElementsAre(1, 2, 3));
    launches.pop_back();
    launches[1].copy_bytes = 0;
    launches[1].bytes = 0;
    commands = backend->record(launches, {});
    EXPECT_EQ(run().thrown, nullptr) << "without elements there is nothing to copy";
}

TEST_F(CudaCommandsTest, OperandsInTheWrongMemoryAreNotLaunched) {
    int value = 0;
    const TensorArg host{reinterpret_cast<std::byte*>(&value), nullptr, nullptr, 1};
    record("nn");
    launches[1].args.outputs = &host;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("operand 0 is not in the memory of the device"));
    EXPECT_EQ(submission->failed, 1);
    EXPECT_THAT(ran, ElementsAre(0));

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

TEST_F(CudaCommandsTest, AnOperandWhoseMemoryIsFreedIsNotLaunched) {
    record("n");
    TensorArg freed = operand({1});
    memories.pop_back();
    launches[0].args.outputs = &freed;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("operand 0 is not in the memory of the device"));
}

TEST_F(CudaCommandsTest, AKernelOfAnotherDeviceIsNotLaunched) {
    const auto second = cuda_backend(0, driver.table(), nvrtc.nvrtc());
    const DeviceCode code = {"note", "note"};
    const DeviceCode* const texts[] = {&code};
    const auto foreign = second->compile(texts);
    record("n");
    launches[0].code = foreign[0].get();
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("compiled for another device"));
}

TEST_F(CudaCommandsTest, TheFirstFailureIsTheOutcome) {
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

    launches[1].code = launches[2].code = codes.at("note").get();
    EXPECT_EQ(run().failed, -1) << "the failure was of the submission before";
    EXPECT_FALSE(submission->failure.has_value());
}

TEST_F(CudaCommandsTest, AFailureBeforeAnExceptionIsNotThatOfTheNextRun) {
    record("fn");
    driver.fail("cuLaunchKernelEx", 2, Result::invalid_value);
    thrown_by(run(), ErrorKind::internal);
    launches[0].code = codes.at("note").get();
    EXPECT_EQ(run().failed, -1);
}

TEST_F(CudaCommandsTest, AnUnknownFailureIsAnInternalError) {
    record("f");
    failure_code = 99;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("unknown code 99"));
}

TEST_F(CudaCommandsTest, ADriverFaultIsTheExceptionOfItsLaunch) {
    record("nnn");
    driver.fail("cuLaunchKernelEx", 2, static_cast<Result>(701));
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("cuLaunchKernelEx failed on cuda:0"));
    EXPECT_EQ(submission->failed, 1);
    EXPECT_EQ(submission->begun(), 2);
    EXPECT_THAT(ran, ElementsAre(0)) << "what was submitted is complete";
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(ran, ElementsAre(0, 1, 2));
}

TEST_F(CudaCommandsTest, ALostDeviceHasNoKnownLaunch) {
    is_lost = true;
    record("nnn");
    driver.fail("cuStreamSynchronize", 1, Result::illegal_address);
    EXPECT_THAT(thrown_by(run(), ErrorKind::unsupported), HasSubstr("cuda:0 is lost: cuStreamSynchronize"));
    EXPECT_EQ(submission->failed, -1);
    EXPECT_EQ(submission->begun(), 3);
    EXPECT_THAT(thrown_by(run(), ErrorKind::unsupported), HasSubstr("cuda:0 is lost: cuStreamSynchronize"));
    EXPECT_EQ(submission->begun(), 0);
}

TEST_F(CudaCommandsTest, ALaunchThatLosesTheDeviceMayNotBeTheOneAtFault) {
    is_lost = true;
    record("nnn");
    driver.fail("cuLaunchKernelEx", 2, Result::illegal_address);
    EXPECT_THAT(thrown_by(run(), ErrorKind::unsupported), HasSubstr("cuda:0 is lost: cuLaunchKernelEx"));
    EXPECT_EQ(submission->failed, -1);
    EXPECT_EQ(submission->begun(), 2);
}

TEST_F(CudaCommandsTest, StopsBetweenLaunches) {
    record("nnnn");
    Submission stopping;
    int polls = 0;
    stopping.caller = &polls;
    stopping.should_stop = [](void* count) { return ++*static_cast<int*>(count) == 2; };
    commands->run(stopping);
    EXPECT_EQ(stopping.stopped, 2);
    EXPECT_EQ(stopping.begun(), 2);
    EXPECT_THAT(ran, ElementsAre(0, 1));
    // Not after the last launch: the run is complete.
    polls = -100;
    stopping.stopped = -1;
    commands->run(stopping);
    EXPECT_EQ(polls, -97);
}

TEST_F(CudaCommandsTest, ProgressIsReportedAfterEachLaunch) {
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

TEST_F(CudaCommandsTest, AnExceptionOfTheCallerPassesThrough) {
    record("nn");
    Submission watched;
    watched.should_stop = [](void*) -> bool { throw std::runtime_error("enough"); };
    EXPECT_THROW(commands->run(watched), std::runtime_error);
    EXPECT_THAT(ran, ElementsAre(0)) << "and nothing runs on";
    EXPECT_EQ(watched.thrown, nullptr);
    EXPECT_EQ(driver.context_depth(), 0U);
}

TEST_F(CudaCommandsTest, SpansAreTimesOnTheDevice) {
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
