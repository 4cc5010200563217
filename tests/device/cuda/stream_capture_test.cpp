#include "device/cuda/stream_capture.hpp"

#include "device/cuda/executable_graph.hpp"
#include "tests/device/cuda/cuda_fixture.hpp"

#include <optional>
#include <thread>
#include <utility>

namespace cairn::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A device of its own, whose context is current, with 4 bytes of memory.
class StreamCaptureTest : public CudaTest {
protected:
    StreamCaptureTest() {
        device = std::make_shared<CudaDevice>(driver.table(), 0);
        current.emplace(*device);
        memory = device->calls().allocate(4);
    }
    void TearDown() override {
        device->synchronize();
        device->calls().release(&DriverTable::memory_free, memory);
        current.reset();
        device.reset();
        CudaTest::TearDown();
    }
    void set(StreamHandle stream, unsigned char value) {
        device->calls().call(&DriverTable::set_bytes, memory, value, std::size_t{4}, stream);
    }
    int value() {
        int read = 0;
        device->calls().call(&DriverTable::copy_to_host, static_cast<void*>(&read), memory, sizeof(read),
                             device->stream());
        return read;
    }

    std::shared_ptr<CudaDevice> device;
    std::optional<CurrentContext> current;
    DeviceAddress memory = 0;
};

TEST_F(StreamCaptureTest, RecordsWithoutRunning) {
    set(device->stream(), 1);
    StreamCapture capture(*device);
    EXPECT_NE(capture.stream(), device->stream());
    EXPECT_THAT(message_of(ErrorKind::internal, [&] { capture.last_node(); }), HasSubstr("0 last nodes"));
    set(capture.stream(), 2);
    const GraphNodeHandle first = capture.last_node();
    set(capture.stream(), 3);
    EXPECT_NE(capture.last_node(), first);
    EXPECT_EQ(value(), 0x01010101);
    ExecutableGraph graph(device, capture.end(), device->stream());
    EXPECT_EQ(value(), 0x01010101);
    for (int repeat = 0; repeat < 2; ++repeat) {
        graph.launch(device->stream());
        EXPECT_EQ(value(), 0x03030303);
        set(device->stream(), 4);
    }
}

TEST_F(StreamCaptureTest, WhatIsNotEndedIsDiscarded) {
    {
        StreamCapture capture(*device);
        set(capture.stream(), 2);
    }
    EXPECT_EQ(driver.count("cuStreamEndCapture"), 1);
    EXPECT_EQ(driver.count("cuGraphDestroy"), 1);
    EXPECT_EQ(driver.count("cuStreamDestroy_v2"), 1);
}

TEST_F(StreamCaptureTest, IsEndedAfterAFailureToEndIt) {
    {
        StreamCapture capture(*device);
        set(capture.stream(), 2);
        driver.fail("cuStreamEndCapture", 1, Result::invalid_value);
        EXPECT_THAT(message_of(ErrorKind::internal, [&] { capture.end(); }), HasSubstr("cuStreamEndCapture failed"));
    }
    EXPECT_EQ(driver.count("cuStreamEndCapture"), 2);
    EXPECT_EQ(driver.count("cuGraphDestroy"), 1);
}

TEST_F(StreamCaptureTest, OtherThreadsAreNotRestricted) {
    StreamCapture capture(*device);
    set(capture.stream(), 2);
    const auto work = [&] {
        const CurrentContext own(*device);
        const DeviceAddress other = device->calls().allocate(8);
        set(device->stream(), 5);
        device->synchronize();
        EXPECT_EQ(value(), 0x05050505);
        device->calls().call(&DriverTable::memory_free, other);
    };
    std::thread([&] { EXPECT_NO_THROW(work()); }).join();
    const ExecutableGraph graph(device, capture.end(), device->stream());
    EXPECT_EQ(value(), 0x05050505);
}

TEST(StreamCaptures, ThatAreInvalidatedEndWithTheirError) {
    StandInDriver driver;
    {
        const auto device = std::make_shared<CudaDevice>(driver.table(), 0);
        const CurrentContext current(*device);
        StreamCapture capture(*device);
        EXPECT_THAT(message_of(ErrorKind::internal, [&] { device->calls().allocate(4); }),
                    HasSubstr("cuMemAlloc_v2 failed"));
        EXPECT_THAT(message_of(ErrorKind::internal, [&] { capture.last_node(); }),
                    HasSubstr("cuStreamGetCaptureInfo_v3"));
        EXPECT_THAT(message_of(ErrorKind::internal, [&] { capture.end(); }), HasSubstr("cuStreamEndCapture failed"));
    }
    EXPECT_THAT(driver.violations(), ElementsAre(HasSubstr("cuMemAlloc_v2 is called while a stream is captured")));
    EXPECT_THAT(driver.leaks(), IsEmpty());
}

TEST_F(StreamCaptureTest, AGraphThatCannotBeInstantiatedIsDestroyed) {
    for (const char* call : {"cuGraphInstantiateWithFlags", "cuGraphUpload"}) {
        StreamCapture capture(*device);
        set(capture.stream(), 2);
        const GraphHandle graph = capture.end();
        driver.fail(call, 1, Result::out_of_memory);
        EXPECT_THAT(message_of(ErrorKind::memory, [&] { ExecutableGraph(device, graph, device->stream()); }),
                    HasSubstr(std::string(call) + " is out of memory"));
    }
    EXPECT_EQ(driver.count("cuGraphDestroy"), 2);
    EXPECT_EQ(driver.count("cuGraphExecDestroy"), 1);
}

TEST_F(StreamCaptureTest, AMovedFromGraphDestroysNothing) {
    StreamCapture capture(*device);
    set(capture.stream(), 2);
    {
        ExecutableGraph first(device, capture.end(), device->stream());
        ExecutableGraph second(std::move(first));
        second.launch(device->stream());
        EXPECT_EQ(value(), 0x02020202);
    }
    EXPECT_EQ(driver.count("cuGraphExecDestroy"), 1);
}

}  // namespace
}  // namespace cairn::device::cuda
