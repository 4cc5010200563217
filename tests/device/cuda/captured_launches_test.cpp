#include "device/cuda/captured_launches.hpp"

#include "cairn/kernel.hpp"
#include "tests/device/cpu/allocations.hpp"
#include "tests/device/cuda/commands_fixture.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <utility>

namespace cairn::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char *push = "cuCtxPushCurrent_v2", *pop = "cuCtxPopCurrent_v2", *launch_graph = "cuGraphLaunch",
                     *wait_for_stream = "cuStreamSynchronize", *set_kernel = "cuGraphExecKernelNodeSetParams_v2",
                     *set_copy = "cuGraphExecMemcpyNodeSetParams", *set_enabled = "cuGraphNodeSetEnabled";

class CapturedLaunchesTest : public CommandsTest {
protected:
    CapturedLaunchesTest() : CommandsTest(true) {}

    /// Runs, which must succeed, and returns the calls of the driver between the first and the last, which make the
    /// context current and what it was.
    std::vector<std::string> calls_of_run() {
        driver.clear_calls();
        EXPECT_EQ(run().thrown, nullptr);
        std::vector<std::string> calls = driver.calls();
        EXPECT_EQ(calls.front(), push);
        EXPECT_EQ(calls.back(), pop);
        return {calls.begin() + 1, calls.end() - 1};
    }
    /// Objects of captures that have not been freed; the stream is the device's.
    std::vector<std::string> graph_leaks() const {
        std::vector<std::string> lines = driver.leaks();
        std::erase_if(lines, [](const std::string& line) {
            return line.find("graph") == line.npos && line.find("capture") == line.npos &&
                   (line.find("streams") == line.npos || line == "1 streams");
        });
        return lines;
    }
};

TEST_F(CapturedLaunchesTest, TheFirstRunCapturesAndLaterOnesLaunchTheGraphAlone) {
    symbols = {5};
    record("nnn");
    const std::string launch = "cuLaunchKernelEx", info = "cuStreamGetCaptureInfo_v3";
    EXPECT_THAT(calls_of_run(),
                ElementsAre("cuStreamCreate", "cuStreamBeginCapture_v2", launch, info, launch, info, launch, info,
                            "cuStreamEndCapture", "cuStreamDestroy_v2", "cuGraphInstantiateWithFlags", "cuGraphUpload",
                            "cuMemsetD32Async", "cuMemsetD32Async", launch_graph, wait_for_stream));
    EXPECT_THAT(ran, ElementsAre(0, 1, 2));
    EXPECT_THAT(calls_of_run(), ElementsAre(launch_graph, wait_for_stream));
    EXPECT_THAT(ran, ElementsAre(0, 1, 2));
    symbols[0] = 6;
    commands->update();
    EXPECT_THAT(calls_of_run(), ElementsAre("cuMemsetD32Async", launch_graph, wait_for_stream));
    EXPECT_THAT(seen_symbols, ElementsAre(5, 5, 5, 5, 5, 5, 6, 6, 6));
}

TEST_F(CapturedLaunchesTest, CopiesWithTheHostAreSubmittedBetweenTheGraphs) {
    std::vector<int> from = {1}, to = {0};
    const TensorArg host_source = host_operand(from), host_target = host_operand(to);
    add_copy(host_source, one_operand, 4);
    record("nn");
    add_copy(one_operand, host_target, 4);
    record("n");
    add_copy(host_source, one_operand, 4);
    record("nnn");
    run();
    EXPECT_EQ(driver.count("cuStreamBeginCapture_v2"), 2);
    EXPECT_THAT(calls_of_run(), ElementsAre("cuMemcpyHtoDAsync_v2", launch_graph, "cuMemcpyDtoHAsync_v2",
                                            "cuLaunchKernelEx", "cuMemcpyHtoDAsync_v2", launch_graph, wait_for_stream));
    EXPECT_THAT(ran, ElementsAre(1, 2, 4, 6, 7, 8)) << "a launch alone is no graph";
    EXPECT_EQ(to[0], 1);
}

TEST_F(CapturedLaunchesTest, OnlyNodesWhoseArgumentsHaveChangedAreSet) {
    const TensorArg other = operand({0});
    const auto workspace = upload(std::vector<int>(1));
    record("nnnn");
    run();
    launches[1].args.outputs = &other;
    launches[3].grid = {5, 1, 2};
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, set_kernel, launch_graph, wait_for_stream));
    EXPECT_THAT(operands, ElementsAre(one_operand.data, other.data, one_operand.data, one_operand.data));
    EXPECT_EQ(configs[2].grid_x, 1U);
    EXPECT_EQ(configs[3].grid_x, 5U);
    EXPECT_EQ(configs[3].grid_z, 2U);
    EXPECT_EQ(configs[3].block_x, 256U);
    EXPECT_THAT(calls_of_run(), ElementsAre(launch_graph, wait_for_stream));
    EXPECT_EQ(configs[3].grid_x, 5U) << "the node keeps what was set";
    launches[2].args.workspace = workspace->data();
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, launch_graph, wait_for_stream));
    EXPECT_THAT(ran, ElementsAre(0, 1, 2, 3));
}

TEST_F(CapturedLaunchesTest, ChangedNodesKeepClustersAndSharedMemory) {
    const TensorArg inputs[] = {operand({1, 2, 3, 4}), operand({10, 20, 30, 40})}, sum = operand({0, 0, 0, 0});
    record("n");
    KernelLaunch& launch = launches.emplace_back();
    launch.args = {inputs, &sum, nullptr, nullptr, nullptr};
    launch.inputs = 2;
    launch.outputs = 1;
    launch.code = codes.at("add").get();
    launch.grid = {4, 1, 1};
    record("");
    run();
    launch.grid = {6, 2, 3};
    const TensorArg others[] = {inputs[1], inputs[1]};
    launch.args.inputs = others;
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, launch_graph, wait_for_stream));
    EXPECT_THAT(download<int>(*memories.back()), ElementsAre(20, 40, 60, 80));
    EXPECT_EQ(configs.back().grid_x, 6U);
    EXPECT_EQ(configs.back().block_x, 128U);
    EXPECT_EQ(configs.back().dynamic_shared_bytes, 1000U);
    EXPECT_THAT(clusters, ElementsAre(2U, 2U));
}

TEST_F(CapturedLaunchesTest, KernelsThatWaitForTheirDependenciesAreDependentOnOneAnother) {
    DeviceCode waiting = {"note", "note"};
    waiting.waits_for_dependencies = true;
    codes["waiting"] = compile(waiting);
    const TensorArg first = operand({1, 2, 3, 4}), second = operand({0, 0, 0, 0});
    record("nnnn");
    add_copy(first, second, 16);
    record("nn");
    for (const std::size_t i : {0, 1, 3, 5, 6}) launches[i].code = codes.at("waiting").get();
    record("");
    run();
    EXPECT_THAT(dependent, ElementsAre(false, true, false, false, false, true))
        << "not the first, one that does not wait, what follows that, or what follows a copy";
    launches[1].grid = {6, 1, 1};
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, launch_graph, wait_for_stream));
    EXPECT_THAT(dependent, ElementsAre(false, true, false, false, false, true));
}

TEST_F(CapturedLaunchesTest, LaunchesWithoutBlocksAreDisabledUntilTheyHaveSome) {
    const TensorArg other = operand({0});
    record("nnn");
    launches[1].grid = {3, 0, 1};
    run();
    EXPECT_THAT(ran, ElementsAre(0, 2)) << "empty when it is captured";
    EXPECT_EQ(driver.count(set_enabled), 1);
    EXPECT_THAT(calls_of_run(), ElementsAre(launch_graph, wait_for_stream));
    launches[1].grid = {3, 1, 1};
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, set_enabled, launch_graph, wait_for_stream));
    EXPECT_THAT(ran, ElementsAre(0, 1, 2));
    EXPECT_EQ(configs[1].grid_x, 3U);
    launches[1].grid[0] = 0;
    launches[1].args.outputs = &other;
    EXPECT_THAT(calls_of_run(), ElementsAre(set_enabled, launch_graph, wait_for_stream));
    EXPECT_THAT(ran, ElementsAre(0, 2));
    launches[1].grid[0] = 3;
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, set_enabled, launch_graph, wait_for_stream))
        << "the operand has changed";
    EXPECT_THAT(operands, ElementsAre(one_operand.data, other.data, one_operand.data));
    launches[1].grid[0] = 0;
    run();
    launches[1].grid[0] = 3;
    EXPECT_THAT(calls_of_run(), ElementsAre(set_enabled, launch_graph, wait_for_stream)) << "and now it has not";
}

TEST_F(CapturedLaunchesTest, AGraphOfEmptyLaunchesRunsNothing) {
    record("nn");
    launches[0].grid = launches[1].grid = {0, 1, 1};
    EXPECT_EQ(run().begun(), 2);
    EXPECT_THAT(ran, IsEmpty());
    EXPECT_EQ(submission->thrown, nullptr);
}

TEST_F(CapturedLaunchesTest, CopiesOnTheDeviceAreNodes) {
    const TensorArg first = operand({1, 2, 3, 4}), second = operand({0, 0, 0, 0}), third = operand({0, 0, 0, 0});
    const auto result = [&](std::size_t memory) { return download<int>(*memories[memory]); };
    add_copy(first, second, 8);
    add_copy(second, third, 16);
    record("n");
    run();
    EXPECT_THAT(result(3), ElementsAre(1, 2, 0, 0));
    launches[0].copy_bytes = 12;
    EXPECT_THAT(calls_of_run(), ElementsAre(set_copy, launch_graph, wait_for_stream));
    EXPECT_THAT(result(3), ElementsAre(1, 2, 3, 0));
    launches[0].copy_bytes = 0;
    launches[0].bytes = 0;
    EXPECT_THAT(calls_of_run(), ElementsAre(set_enabled, launch_graph, wait_for_stream));
    launches[0].copy_bytes = 4;
    TensorArg later = first;
    later.data += 12;
    launches[0].args.inputs = &later;
    EXPECT_THAT(calls_of_run(), ElementsAre(set_copy, set_enabled, launch_graph, wait_for_stream));
    EXPECT_THAT(result(3), ElementsAre(4, 2, 3, 0));
}

TEST_F(CapturedLaunchesTest, CopiesWithoutBytesAreCapturedIfTheyStayOnTheDevice) {
    const TensorArg first = operand({1, 2}), second = operand({0, 0}), nowhere = {};
    // Without elements an operand may be at the end of its memory.
    TensorArg end = first;
    end.data += 8;
    add_copy(end, second, 0);
    add_copy(nowhere, nowhere, 0);
    record("nn");
    run();
    EXPECT_THAT(ran, ElementsAre(2, 3));
    EXPECT_EQ(driver.count("cuStreamBeginCapture_v2"), 1) << "the first copy would be a node alone";
    EXPECT_EQ(driver.count("cuMemcpyDtoDAsync_v2"), 0);

    launches.erase(launches.begin() + 1);
    record("");
    run();
    EXPECT_EQ(driver.count("cuMemcpyDtoDAsync_v2"), 1);
    EXPECT_EQ(driver.count(set_enabled), 1);
    EXPECT_THAT(download<int>(*memories[2]), ElementsAre(0, 0));
    launches[0].copy_bytes = 8;
    launches[0].args.inputs = &first;
    EXPECT_THAT(calls_of_run(), ElementsAre(set_copy, set_enabled, launch_graph, wait_for_stream));
    EXPECT_THAT(download<int>(*memories[2]), ElementsAre(1, 2));
}

TEST_F(CapturedLaunchesTest, WhatIsRecordedMustNotBecomeSomethingElse) {
    std::vector<int> values(1);
    const TensorArg host = host_operand(values), other = operand({0});
    record("nn");
    add_copy(one_operand, other, 4);
    record("");
    run();
    const void* const code = std::exchange(launches[1].code, codes.at("fail").get());
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("another kernel than when it was captured"));
    EXPECT_EQ(submission->failed, 1);
    EXPECT_THAT(ran, IsEmpty());
    launches[1].code = code;
    launches[2].args.inputs = &host;
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr("an operand of a captured copy is not in the memory"));
    EXPECT_EQ(submission->failed, 2);
    launches[2].args.inputs = &one_operand;
    EXPECT_EQ(run().thrown, nullptr);
    EXPECT_THAT(ran, ElementsAre(0, 1));
}

TEST_F(CapturedLaunchesTest, AFailureOfTheFirstLaunchIsReported) {
    record("fnn");
    for (int repeat = 0; repeat < 2; ++repeat) {
        EXPECT_EQ(run().failed, 0);
        EXPECT_TRUE(submission->failure.has_value());
        EXPECT_EQ(submission->begun(), 3);
    }
    is_failing = false;
    EXPECT_EQ(run().failed, -1);
    EXPECT_FALSE(submission->failure.has_value());
}

TEST_F(CapturedLaunchesTest, RunsWithProgressOrTimesLaunchOneByOne) {
    const TensorArg other = operand({0});
    record("nn");
    run();
    launches[0].args.outputs = &other;
    for (const bool with_times : {false, true}) {
        std::vector<TimeSpan> spans(2);
        Submission watched;
        if (with_times)
            watched.spans = spans.data();
        else
            watched.progress = [](void*, std::int64_t) {};
        driver.clear_calls();
        operands.clear();
        commands->run(watched);
        EXPECT_EQ(driver.count("cuLaunchKernelEx"), 2);
        EXPECT_EQ(driver.count(launch_graph), 0);
        EXPECT_THAT(operands, ElementsAre(other.data, one_operand.data));
    }
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, launch_graph, wait_for_stream))
        << "the graph has not seen the change";
    EXPECT_THAT(operands, ElementsAre(other.data, one_operand.data));
}

TEST_F(CapturedLaunchesTest, WhatIsNeverRunIsNeverCaptured) {
    record("nnn");
    driver.clear_calls();
    commands.reset();
    EXPECT_THAT(driver.calls(), ElementsAre(push, "cuMemFreeHost", pop));
}

TEST_F(CapturedLaunchesTest, ACallThatFailsIsNamedAndTheNextRunIsRight) {
    for (const std::string call :
         {"cuStreamCreate", "cuStreamBeginCapture_v2", "cuLaunchKernelEx", "cuStreamGetCaptureInfo_v3",
          "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphUpload", set_enabled, launch_graph}) {
        SCOPED_TRACE(call);
        commands.reset();
        launches.clear();
        record("nnn");
        launches[1].grid = {0, 1, 1};
        driver.fail(call, 1, Result::invalid_value);
        EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr(call + " failed on cuda:0"));
        EXPECT_THAT(ran, IsEmpty());
        EXPECT_EQ(driver.context_depth(), 0U);
        driver.fail(call, 1, Result::out_of_memory);
        const bool is_captured = call == set_enabled || call == launch_graph;
        EXPECT_THAT(thrown_by(run(), ErrorKind::memory), HasSubstr(call + " is out of memory on cuda:0"));
        EXPECT_EQ(graph_leaks().empty(), !is_captured);
        EXPECT_EQ(run().thrown, nullptr);
        EXPECT_THAT(ran, ElementsAre(0, 2));
        commands.reset();
        EXPECT_THAT(graph_leaks(), IsEmpty());
    }
}

TEST_F(CapturedLaunchesTest, AfterAnUpdateThatFailedHalfwayTheNextRunIsRight) {
    const TensorArg other = operand({0});
    record("nnnn");
    run();
    for (KernelLaunch& launch : launches) launch.args.outputs = &other;
    driver.fail(set_kernel, 3, Result::invalid_value);
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr(std::string(set_kernel) + " failed on cuda:0"));
    EXPECT_EQ(submission->failed, 2);
    EXPECT_EQ(submission->begun(), 0);
    EXPECT_THAT(ran, IsEmpty());
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, set_kernel, launch_graph, wait_for_stream))
        << "the first two have it";
    EXPECT_THAT(operands, ElementsAre(other.data, other.data, other.data, other.data));

    // Back to what the nodes had before the call that failed, which may have changed its node all the same.
    for (KernelLaunch& launch : launches) launch.args.outputs = &one_operand;
    driver.fail(set_kernel, 2, Result::invalid_value);
    run();
    for (KernelLaunch& launch : launches) launch.args.outputs = &other;
    EXPECT_THAT(calls_of_run(), ElementsAre(set_kernel, set_kernel, launch_graph, wait_for_stream));
    EXPECT_THAT(operands, ElementsAre(other.data, other.data, other.data, other.data));

    launches[3].grid = {0, 1, 1};
    driver.fail(set_enabled, 1, Result::invalid_value);
    EXPECT_THAT(thrown_by(run(), ErrorKind::internal), HasSubstr(set_enabled));
    EXPECT_EQ(submission->failed, 3);
    launches[3].grid = {1, 1, 1};
    EXPECT_THAT(calls_of_run(), ElementsAre(set_enabled, launch_graph, wait_for_stream));
    EXPECT_THAT(ran, ElementsAre(0, 1, 2, 3));
}

TEST_F(CapturedLaunchesTest, ADeviceThatIsLostWhileLaunchesAreCapturedSaysSoFromThenOn) {
    is_lost = true;
    record("nn");
    driver.fail("cuStreamEndCapture", 1, Result::launch_failed);
    EXPECT_THAT(thrown_by(run(), ErrorKind::unsupported), HasSubstr("cuda:0 is lost: cuStreamEndCapture"));
    EXPECT_EQ(submission->failed, -1);
    driver.clear_calls();
    EXPECT_THAT(thrown_by(run(), ErrorKind::unsupported), HasSubstr("cuda:0 is lost: cuStreamEndCapture"));
    EXPECT_THAT(driver.calls(), ElementsAre("cuGetErrorName", "cuGetErrorString"));
}

TEST_F(CapturedLaunchesTest, ThreadsRunGraphsOnOneDeviceAtTheSameTime) {
    driver.add_kernel("count", {4, [](const StandInLaunch& launch) { ++launch.pointer<int>(0)[launch.integer(4)]; }});
    codes["count"] = compile({"count", "count"});
    constexpr int runs = 200;
    std::array<std::unique_ptr<Memory>, 4> counters;
    for (auto& memory : counters) memory = upload(std::vector<int>(3));
    std::array<std::atomic<int>, 4> failures{};
    const auto work = [&](std::size_t t) {
        const TensorArg counter{counters[t]->data(), nullptr, nullptr, 0};
        std::vector<KernelLaunch> own(3);
        for (KernelLaunch& launch : own) {
            launch.args.outputs = &counter;
            launch.outputs = 1;
            launch.code = codes.at("count").get();
        }
        auto buffer = backend->record(own, {});
        for (int i = 0; i < runs; ++i) {
            // The odd ones capture, allocate and destroy all the time.
            if (t % 2 == 1) buffer = backend->record(own, {});
            Submission one;
            buffer->run(one);
            if (one.thrown != nullptr) ++failures[t];
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < counters.size(); ++t) threads.emplace_back([&, t] { EXPECT_NO_THROW(work(t)); });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < counters.size(); ++t) {
        EXPECT_EQ(failures[t], 0);
        EXPECT_THAT(download<int>(*counters[t]), ElementsAre(runs, runs, runs));
    }
    EXPECT_THAT(graph_leaks(), IsEmpty());
}

// Functions of a table have no context.
bool is_quiet = false;
const DriverTable* stand_in = nullptr;

/// A function of the stand-in driver that succeeds without doing anything while `is_quiet`.
template <auto Member>
struct Quiet;
template <class... Arguments, Result (*DriverTable::*Member)(Arguments...)>
struct Quiet<Member> {
    static Result call(Arguments... arguments) {
        return is_quiet ? Result::success : (stand_in->*Member)(arguments...);
    }
};

TEST_F(CapturedLaunchesTest, ARunAllocatesNothing) {
    const auto held = driver.table();
    stand_in = held.get();
    auto table = std::make_shared<DriverTable>();
#define CAIRN_QUIET(symbol, member, parameters) table->member = Quiet<&DriverTable::member>::call;
    CAIRN_CUDA_DRIVER_OPENING_FUNCTIONS(CAIRN_QUIET)
    CAIRN_CUDA_DRIVER_FUNCTIONS(CAIRN_QUIET)
#undef CAIRN_QUIET
    codes.clear();
    memories.clear();
    backend = cuda_backend(0, table, nvrtc.nvrtc());
    codes["note"] = compile({"note", "note"});
    one_operand = operand({0});
    const TensorArg other = operand({0});
    std::vector<int> to(1);
    const TensorArg host_target = host_operand(to);
    symbols = {1};
    record("nnn");
    add_copy(one_operand, host_target, 4);
    const std::array<std::int64_t, 2> sizes{1, 1};
    const TensorArg with_sizes{one_operand.data, &sizes[0], &sizes[1], 1};
    Kernel own;
    own.enqueue = [](const Args&, const DeviceStream&) {};
    KernelLaunch& enqueued = launches.emplace_back();
    enqueued.args.outputs = &with_sizes;
    enqueued.outputs = 1;
    enqueued.enqueued = &own;
    record("");
    EXPECT_EQ(run().thrown, nullptr);
    Submission steady, changed;
    is_quiet = true;
    const long before = testing::allocations();
    commands->run(steady);
    launches[0].args.outputs = &other;
    launches[1].grid = {7, 1, 1};
    launches[2].grid = {0, 1, 1};
    commands->update();
    commands->run(changed);
    const long after = testing::allocations();
    is_quiet = false;
    EXPECT_EQ(steady.thrown, nullptr);
    EXPECT_EQ(changed.thrown, nullptr);
    EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace cairn::device::cuda
