#include "tests/device/cuda/stand_in_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
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
    char text[4] = "abc", read[4] = {};
    GraphHandle graph = nullptr;
    GraphExecHandle exec = nullptr;
    table.capture_begin(stream, CaptureMode::thread_local_mode);
    table.copy_to_device(memory, text, 4, stream);
    table.capture_end(stream, &graph);
    table.graph_instantiate(&exec, graph, 0);
    std::memcpy(text, "xyz", 4);
    table.graph_launch(exec, stream);
    table.copy_to_host(read, memory, 4, stream);
    EXPECT_STREQ(read, "xyz") << "read when the graph runs";
    EXPECT_THAT(driver.leaks(), ::testing::IsSupersetOf({"1 graphs", "1 executable graphs"}));
    EXPECT_THAT(driver.violations(), IsEmpty());
}

TEST_F(StandIn, CallsThatACaptureForbids) {
    table.capture_begin(stream, CaptureMode::thread_local_mode);
    DeviceAddress other = 0;
    ModuleHandle module = nullptr;
    EXPECT_NE(table.memory_alloc(&other, 8), Result::success);
    EXPECT_NE(table.module_load(&module, "image"), Result::success);
    EXPECT_NE(table.stream_synchronize(stream), Result::success);
    EXPECT_THAT(driver.violations(), ElementsAre(HasSubstr("cuMemAlloc_v2 is called while a stream is captured"),
                                                 HasSubstr("cuModuleLoadData"), HasSubstr("cuStreamSynchronize")));
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
