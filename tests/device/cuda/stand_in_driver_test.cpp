#include "tests/device/cuda/stand_in_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace cairn::device::cuda {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The stand-in with a context, a stream and some device memory.
class StandIn : public ::testing::Test {
protected:
    StandIn() {
        EXPECT_EQ(table.primary_context_retain(&context, 0), Result::success);
        EXPECT_EQ(table.context_push(context), Result::success);
        EXPECT_EQ(table.stream_create(&stream, stream_non_blocking), Result::success);
        EXPECT_EQ(table.memory_alloc(&memory, 64), Result::success);
    }
    void expect_violation(const char* text) { EXPECT_THAT(driver.violations(), ElementsAre(HasSubstr(text))); }

    StandInDriver driver{1000};
    const DriverTable& table = *driver.table();
    ContextHandle context = nullptr, popped = nullptr;
    StreamHandle stream = nullptr;
    DeviceAddress memory = 0;
};

TEST_F(StandIn, WorkRunsAsLateAsPossible) {
    void* pinned = nullptr;
    table.host_alloc(&pinned, 4, 0);
    std::memcpy(pinned, "abc", 4);
    table.copy_to_device(memory, pinned, 4, stream);
    EXPECT_EQ(table.stream_query(stream), Result::not_ready);
    // A copy from pinned memory sees what is written to it before something waits for the copy, one from other memory
    // does not.
    std::memcpy(pinned, "xyz", 4);
    char text[4] = "uvw", read[8] = {};
    table.copy_to_device(memory + 4, text, 4, stream);
    std::memcpy(text, "!!!", 4);
    table.copy_to_host(read, memory, 8, stream);
    EXPECT_STREQ(read, "xyz");
    EXPECT_STREQ(read + 4, "uvw");
    EXPECT_THAT(driver.violations(), IsEmpty());
}

TEST_F(StandIn, EventsPassInOrder) {
    EventHandle first = nullptr, second = nullptr;
    table.event_create(&first, 0);
    table.event_create(&second, 0);
    float milliseconds = 0;
    EXPECT_NE(table.event_elapsed_time(&milliseconds, first, second), Result::success) << "not recorded";
    table.event_record(first, stream);
    table.event_record(second, stream);
    EXPECT_EQ(table.event_elapsed_time(&milliseconds, first, second), Result::not_ready);
    table.event_synchronize(first);
    EXPECT_EQ(table.event_query(first), Result::success);
    EXPECT_EQ(table.event_query(second), Result::not_ready);
}

TEST_F(StandIn, LaunchesGetCopiesOfTheirParameters) {
    std::vector<int> seen;
    driver.add_kernel("k", {1, [&](const StandInLaunch& launch) {
                                seen.push_back(launch.integer(1));
                                *launch.pointer<int>(0) = 77;
                            }});
    ModuleHandle module = nullptr;
    FunctionHandle function = nullptr;
    EXPECT_EQ(table.module_load(&module, "image"), Result::success);
    EXPECT_NE(table.module_function(&function, module, "absent"), Result::success);
    EXPECT_EQ(table.module_function(&function, module, "k"), Result::success);
    DeviceAddress operand = memory;
    int number = 3;
    void* parameters[] = {&operand, &number};
    LaunchConfig config = {1, 1, 1, 32, 1, 1, 0, stream, nullptr, 0};
    EXPECT_EQ(table.launch(&config, function, parameters, nullptr), Result::success);
    operand = 0;
    number = 4;
    EXPECT_THAT(seen, IsEmpty());
    int result = 0;
    table.copy_to_host(&result, memory, 4, stream);
    EXPECT_THAT(seen, ElementsAre(3));
    EXPECT_EQ(result, 77);
    config.grid_y = 0;
    table.launch(&config, function, parameters, nullptr);
    expect_violation("grid without blocks");
}

TEST_F(StandIn, GraphsRunWhatWasCaptured) {
    void* pinned = nullptr;
    table.host_alloc(&pinned, 4, 0);
    std::memcpy(pinned, "abc", 4);
    char read[4] = {};
    table.set_bytes(memory, 'u', 4, stream);
    table.stream_synchronize(stream);
    GraphHandle graph = nullptr;
    GraphExecHandle exec = nullptr;
    table.capture_begin(stream, CaptureMode::thread_local_mode);
    table.copy_to_device(memory, pinned, 4, stream);
    table.capture_end(stream, &graph);
    table.graph_instantiate(&exec, graph, 0);
    table.copy_to_host(read, memory, 4, stream);
    EXPECT_EQ(read[0], 'u') << "captured, not run";
    std::memcpy(pinned, "xyz", 4);
    table.graph_launch(exec, stream);
    table.copy_to_host(read, memory, 4, stream);
    EXPECT_STREQ(read, "xyz") << "read when the graph runs";
    EXPECT_THAT(driver.leaks(), ::testing::IsSupersetOf({"1 graphs", "1 executable graphs"}));
    EXPECT_THAT(driver.violations(), IsEmpty());
}

TEST_F(StandIn, CallsThatACaptureForbids) {
    DeviceAddress other = 0;
    ModuleHandle module = nullptr;
    GraphHandle graph = nullptr;
    CaptureStatus status = CaptureStatus::none;
    table.capture_begin(stream, CaptureMode::thread_local_mode);
    std::thread([&] {
        table.context_push(context);
        EXPECT_EQ(table.memory_alloc(&other, 8), Result::success) << "in another thread";
        table.memory_free(other);
        EXPECT_NE(table.stream_query(stream), Result::success) << "of the captured stream";
        EXPECT_NE(table.capture_end(stream, &graph), Result::success);
        table.context_pop(&popped);
    }).join();
    table.capture_status(stream, &status);
    EXPECT_EQ(status, CaptureStatus::invalidated);
    EXPECT_EQ(table.set_bytes(memory, 1, 4, stream), Result::stream_capture_invalidated);
    EXPECT_EQ(table.capture_end(stream, &graph), Result::stream_capture_invalidated);
    EXPECT_EQ(graph, nullptr);
    table.capture_status(stream, &status);
    EXPECT_EQ(status, CaptureStatus::none);

    table.capture_begin(stream, CaptureMode::thread_local_mode);
    EXPECT_NE(table.memory_alloc(&other, 8), Result::success);
    EXPECT_NE(table.module_load(&module, "image"), Result::success);
    EXPECT_NE(table.stream_synchronize(stream), Result::success);
    EXPECT_THAT(driver.violations(),
                ElementsAre(HasSubstr("queried while it is captured"), HasSubstr("ended by another thread"),
                            HasSubstr("cuMemAlloc_v2 is called while a stream is captured"),
                            HasSubstr("cuModuleLoadData"), HasSubstr("cuStreamSynchronize")));
}

TEST_F(StandIn, ACaptureInGlobalModeRestrictsAllThreads) {
    table.capture_begin(stream, CaptureMode::global);
    std::thread([&] {
        table.context_push(context);
        DeviceAddress other = 0;
        EXPECT_NE(table.memory_alloc(&other, 8), Result::success);
        table.context_pop(&popped);
    }).join();
    expect_violation("cuMemAlloc_v2 is called while a stream is captured");
}

TEST_F(StandIn, CapturesRefuseHostMemoryThatIsNotPinnedAndPlainEvents) {
    char text[4] = "abc";
    EventHandle event = nullptr;
    table.event_create(&event, 0);
    GraphHandle graph = nullptr;
    const auto expect_invalidated = [&](auto&& call) {
        table.capture_begin(stream, CaptureMode::thread_local_mode);
        EXPECT_NE(call(), Result::success);
        EXPECT_NE(table.capture_end(stream, &graph), Result::success);
    };
    expect_invalidated([&] { return table.copy_to_device(memory, text, 4, stream); });
    expect_invalidated([&] { return table.copy_to_host(text, memory, 4, stream); });
    expect_invalidated([&] { return table.event_record(event, stream); });
    EXPECT_NE(table.event_record_with_flags(event, stream, event_record_external), Result::success) << "no capture";
    EXPECT_EQ(driver.violations().size(), 4U);
    table.capture_begin(stream, CaptureMode::thread_local_mode);
    table.stream_destroy(stream);
    EXPECT_THAT(driver.violations().back(), HasSubstr("destroyed while it is captured"));
}

/// A graph of a kernel, which notes its operand and grid, a copy of 4 bytes and an event.
class StandInGraph : public StandIn {
protected:
    StandInGraph() {
        driver.add_kernel("k", {1, [this](const StandInLaunch& launch) {
                                    seen.emplace_back(launch.integer(1), launch.config.grid_x);
                                }});
        table.module_load(&module, "image");
        table.module_function(&function, module, "k");
        table.event_create(&event, 0);
        table.capture_begin(stream, CaptureMode::thread_local_mode);
        LaunchConfig config = {1, 1, 1, 32, 1, 1, 0, stream, nullptr, 0};
        table.launch(&config, function, parameters, nullptr);
        kernel_node = last_node();
        table.copy_on_device(memory + 8, memory, 4, stream);
        copy_node = last_node();
        table.event_record_with_flags(event, stream, event_record_external);
        event_node = last_node();
        table.capture_end(stream, &graph);
        table.graph_instantiate(&exec, graph, 0);
        number = 9;  // the graph has a copy of its parameters
    }
    GraphNodeHandle last_node() const {
        CaptureStatus status = CaptureStatus::none;
        const GraphNodeHandle* nodes = nullptr;
        const EdgeData* edges = nullptr;
        std::size_t count = 0;
        table.capture_info(stream, &status, nullptr, nullptr, &nodes, &edges, &count);
        return count == 1 ? nodes[0] : nullptr;
    }
    KernelNodeParameters kernel(unsigned grid_x) {
        return {function, grid_x, 1, 1, 32, 1, 1, 0, parameters, nullptr, nullptr, nullptr};
    }
    Copy3D copy(std::size_t bytes) const {
        Copy3D copy = {};
        copy.source_type = copy.target_type = MemoryType::device;
        copy.source_device = memory;
        copy.target_device = memory + 16;
        copy.row_bytes = bytes;
        copy.rows = copy.planes = 1;
        return copy;
    }
    void launch() {
        table.graph_launch(exec, stream);
        table.stream_synchronize(stream);
    }

    DeviceAddress operand = memory;
    int number = 3;
    void* parameters[2] = {&operand, &number};
    std::vector<std::pair<int, unsigned>> seen;
    ModuleHandle module = nullptr;
    FunctionHandle function = nullptr;
    EventHandle event = nullptr;
    GraphHandle graph = nullptr;
    GraphExecHandle exec = nullptr;
    GraphNodeHandle kernel_node = nullptr, copy_node = nullptr, event_node = nullptr;
};

TEST_F(StandInGraph, AnUpdateTakesTheParametersOfAGraphWithTheSameNodes) {
    const auto captured = [&](unsigned grid_x, unsigned cluster, bool has_copy) {
        GraphHandle again = nullptr;
        LaunchAttribute attribute = {};
        attribute.id = LaunchAttributeId::cluster_dimension;
        attribute.value.cluster_dimension = {cluster, 1, 1};
        const LaunchConfig config = {grid_x, 1, 1, 32, 1, 1, 0, stream, &attribute, 1};
        table.capture_begin(stream, CaptureMode::thread_local_mode);
        table.launch(&config, function, parameters, nullptr);
        if (has_copy)
            table.copy_on_device(memory + 16, memory, 4, stream);
        else
            table.set_bytes(memory + 16, 0, 4, stream);
        table.event_record_with_flags(event, stream, event_record_external);
        table.capture_end(stream, &again);
        return again;
    };
    table.graph_node_set_enabled(exec, copy_node, 0);
    GraphUpdateResult result = {};
    const GraphHandle right = captured(4, 1, true);
    EXPECT_EQ(table.graph_exec_update(exec, right, &result), Result::success);
    table.graph_destroy(right);
    table.set_bytes(memory, 'a', 4, stream);
    table.set_bytes(memory + 16, 'b', 4, stream);
    launch();
    char read[5] = {};
    table.copy_to_host(read, memory + 16, 4, stream);
    EXPECT_THAT(seen, ElementsAre(std::pair(9, 4U)));
    EXPECT_STREQ(read, "bbbb") << "the copy is still disabled";
    table.graph_node_set_enabled(exec, copy_node, 1);
    launch();
    table.copy_to_host(read, memory + 16, 4, stream);
    EXPECT_STREQ(read, "aaaa");
    for (const GraphHandle other : {captured(4, 2, true), captured(4, 1, false)}) {
        EXPECT_EQ(table.graph_exec_update(exec, other, &result), Result::graph_update_refused);
        EXPECT_NE(result.node, nullptr);
        table.graph_destroy(other);
    }
    GraphHandle empty = nullptr;
    table.capture_begin(stream, CaptureMode::thread_local_mode);
    table.capture_end(stream, &empty);
    EXPECT_EQ(table.graph_exec_update(exec, empty, &result), Result::graph_update_refused);
    launch();
    EXPECT_EQ(seen.back(), std::pair(9, 4U)) << "a refused update changes nothing";
    EXPECT_THAT(driver.violations(), IsEmpty());
    table.graph_destroy(empty);
    EXPECT_EQ(table.graph_exec_update(exec, empty, &result), Result::invalid_value);
    expect_violation("an unknown graph is updated");
}

TEST_F(StandInGraph, ParametersAreThoseOfTheCaptureUntilTheyAreSet) {
    launch();
    table.graph_launch(exec, stream);
    const KernelNodeParameters changed = kernel(5);
    EXPECT_EQ(table.graph_exec_set_kernel(exec, kernel_node, &changed), Result::success);
    number = 10;
    table.stream_synchronize(stream);
    launch();
    EXPECT_THAT(seen, ElementsAre(std::pair(3, 1U), std::pair(3, 1U), std::pair(9, 5U)))
        << "a launch before the change is as it was";
    char text[4] = "abc", read[4] = {};
    table.copy_to_device(memory, text, 4, stream);
    const Copy3D further = copy(2);
    EXPECT_EQ(table.graph_exec_set_copy(exec, copy_node, &further, context), Result::success);
    table.set_bytes(memory + 16, 0, 4, stream);
    launch();
    table.copy_to_host(read, memory + 16, 4, stream);
    EXPECT_STREQ(read, "ab");
    EXPECT_THAT(driver.violations(), IsEmpty());
}

TEST_F(StandInGraph, DisabledNodesDoNothing) {
    table.graph_node_set_enabled(exec, kernel_node, 0);
    launch();
    EXPECT_THAT(seen, IsEmpty());
    EXPECT_EQ(table.event_query(event), Result::success);
    table.graph_node_set_enabled(exec, kernel_node, 1);
    table.graph_launch(exec, stream);
    EXPECT_EQ(table.event_query(event), Result::not_ready) << "it passes when the graph runs";
    table.stream_synchronize(stream);
    EXPECT_EQ(seen.size(), 1U);
    EXPECT_NE(table.graph_node_set_enabled(exec, event_node, 0), Result::success);
    expect_violation("must run");
}

TEST_F(StandInGraph, DependentLaunchesFollowKernelsAndAreNeverDisabled) {
    LaunchAttribute dependent = {};
    dependent.id = LaunchAttributeId::programmatic_stream_serialization;
    dependent.value.programmatic_stream_serialization = 1;
    LaunchConfig first = {1, 1, 1, 32, 1, 1, 0, stream, nullptr, 0};
    LaunchConfig next = {1, 1, 1, 32, 1, 1, 0, stream, &dependent, 1};
    table.capture_begin(stream, CaptureMode::thread_local_mode);
    table.launch(&first, function, parameters, nullptr);
    const GraphNodeHandle before = last_node();
    EXPECT_EQ(table.launch(&next, function, parameters, nullptr), Result::success);
    const GraphNodeHandle after = last_node();
    GraphHandle two = nullptr;
    GraphExecHandle both = nullptr;
    table.capture_end(stream, &two);
    table.graph_instantiate(&both, two, 0);
    EXPECT_NE(table.graph_node_set_enabled(both, before, 0), Result::success);
    EXPECT_NE(table.graph_node_set_enabled(both, after, 0), Result::success);
    EXPECT_EQ(driver.violations().size(), 2U);
    table.capture_begin(stream, CaptureMode::thread_local_mode);
    table.copy_on_device(memory + 8, memory, 4, stream);
    EXPECT_NE(table.launch(&next, function, parameters, nullptr), Result::success);
    table.capture_end(stream, &two);
    EXPECT_THAT(driver.violations().back(), HasSubstr("follows something else than a kernel"));
}

TEST_F(StandInGraph, NodesKeepTheirKindAndFunction) {
    driver.add_kernel("other", {1, [](const StandInLaunch&) {}});
    FunctionHandle other = nullptr;
    table.module_function(&other, module, "other");
    KernelNodeParameters changed = kernel(1);
    changed.function = other;
    EXPECT_NE(table.graph_exec_set_kernel(exec, kernel_node, &changed), Result::success);
    changed = kernel(0);
    EXPECT_NE(table.graph_exec_set_kernel(exec, kernel_node, &changed), Result::success) << "no blocks";
    changed = kernel(1);
    EXPECT_NE(table.graph_exec_set_kernel(exec, copy_node, &changed), Result::success);
    EXPECT_NE(table.graph_exec_set_kernel(nullptr, kernel_node, &changed), Result::success);
    Copy3D empty = copy(0), outside = copy(60), from_host = copy(4);
    from_host.source_type = MemoryType::host;
    const Copy3D right = copy(4);
    EXPECT_NE(table.graph_exec_set_copy(exec, copy_node, &empty, context), Result::success);
    EXPECT_NE(table.graph_exec_set_copy(exec, copy_node, &outside, context), Result::success);
    EXPECT_NE(table.graph_exec_set_copy(exec, copy_node, &from_host, context), Result::success);
    EXPECT_NE(table.graph_exec_set_copy(exec, copy_node, &right, nullptr), Result::success);
    EXPECT_NE(table.graph_exec_set_copy(exec, kernel_node, &right, context), Result::success);
    table.graph_destroy(graph);
    EXPECT_NE(table.graph_exec_set_copy(exec, copy_node, &right, context), Result::success) << "its graph is gone";
    EXPECT_EQ(driver.violations().size(), 10U);
    launch();
    EXPECT_EQ(seen.size(), 1U) << "nothing has changed";
}

TEST_F(StandInGraph, IsDestroyedAfterItHasRunAndBeforeItsModule) {
    table.graph_launch(exec, stream);
    table.graph_exec_destroy(exec);
    expect_violation("while it is in flight");
    table.stream_synchronize(stream);
    table.graph_instantiate(&exec, graph, 0);
    table.module_unload(module);
    EXPECT_THAT(driver.violations().back(), HasSubstr("an executable graph uses"));
}

TEST_F(StandIn, CallsNeedTheContext) {
    table.context_pop(&popped);
    EXPECT_EQ(popped, context);
    EXPECT_EQ(table.memory_free(memory), Result::invalid_context);
    expect_violation("cuMemFree_v2 is called without the device's context");
    table.context_push(driver.other_context());
    EXPECT_EQ(table.stream_synchronize(stream), Result::invalid_context);
    EXPECT_EQ(driver.context_depth(), 1U);
}

TEST_F(StandIn, PopsMustMatch) {
    table.context_pop(&popped);
    table.context_pop(&popped);
    expect_violation("popped although there is none");
}

TEST_F(StandIn, CopiesStayWithinAllocations) {
    char text[80] = {};
    EXPECT_NE(table.copy_to_device(memory + 1, text, 64, stream), Result::success);
    EXPECT_NE(table.set_bytes_2d(memory, 40, 0, 25, 2, stream), Result::success);
    EXPECT_THAT(driver.violations(), Each(HasSubstr("outside an allocation")));
    EXPECT_EQ(driver.violations().size(), 2U);
}

TEST_F(StandIn, HandlesAreValidAndFreedOnce) {
    table.memory_free(memory);
    table.memory_free(memory);
    expect_violation("not allocated");
    EXPECT_NE(table.stream_synchronize(nullptr), Result::success);
    EXPECT_NE(table.event_record(nullptr, stream), Result::success);
    EXPECT_NE(table.module_unload(nullptr), Result::success);
    EXPECT_NE(table.host_free(nullptr), Result::success);
    EXPECT_EQ(driver.violations().size(), 5U);
}

TEST_F(StandIn, CountsWhatIsNotFreed) {
    EXPECT_THAT(driver.leaks(), ElementsAre("64 bytes of device memory", "1 streams", "1 retained contexts"));
    table.memory_free(memory);
    table.stream_destroy(stream);
    table.context_pop(&popped);
    table.primary_context_release(0);
    EXPECT_THAT(driver.leaks(), IsEmpty());
    EXPECT_THAT(driver.violations(), IsEmpty());
}

TEST_F(StandIn, LetsCallsFail) {
    driver.clear_calls();
    driver.fail("cuMemAlloc_v2", 2, Result::not_supported);
    DeviceAddress other = 0;
    EXPECT_EQ(table.memory_alloc(&other, 900), Result::success);
    EXPECT_EQ(table.memory_alloc(&other, 1), Result::not_supported);
    EXPECT_EQ(table.memory_alloc(&other, 37), Result::out_of_memory);
    EXPECT_EQ(driver.failed_call(), "cuMemAlloc_v2");
    EXPECT_EQ(driver.count("cuMemAlloc_v2"), 3);
    driver.fail("", 1, Result::illegal_address);
    EXPECT_EQ(table.memory_free(memory), Result::illegal_address);
    EXPECT_NE(table.memory_free(memory), Result::success);
    expect_violation("cuMemFree_v2 is called although the device is lost");
}

}  // namespace
}  // namespace cairn::device::cuda
