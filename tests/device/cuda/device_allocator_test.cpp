#include "device/cuda/driver_calls.hpp"
#include "tests/device/cuda/cuda_fixture.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// Memory of a device that functions of the program allocate.
namespace cairn::device::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DeviceAllocatorTest : public CudaTest {
protected:
    DeviceAllocatorTest() {
        backend = cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.allocator = allocator()});
        driver.clear_calls();
    }

    /// A pool on top of the driver, which notes what it has given.
    DeviceAllocator allocator() {
        return {[this](Device device, std::size_t bytes) -> void* {
                    EXPECT_EQ(device, Device::cuda());
                    EXPECT_GT(bytes, 0U);
                    if (is_throwing) throw std::out_of_range("the pool is closed");
                    if (bytes > most_bytes) return nullptr;
                    DeviceAddress address = 0;
                    EXPECT_EQ(driver.table()->memory_alloc(&address, bytes + offset), Result::success);
                    given[address + offset] = bytes;
                    return reinterpret_cast<void*>(address + offset);
                },
                [this](Device device, void* memory, std::size_t bytes) {
                    EXPECT_EQ(device, Device::cuda());
                    const auto address = reinterpret_cast<DeviceAddress>(memory);
                    EXPECT_EQ(given.at(address), bytes);
                    given.erase(address);
                    if (!is_lost) { EXPECT_EQ(driver.table()->memory_free(address - offset), Result::success); }
                }};
    }

    std::map<DeviceAddress, std::size_t> given;
    std::size_t most_bytes = 1 << 20, offset = 0;
    bool is_throwing = false;
};

TEST_F(DeviceAllocatorTest, GivesAllMemoryAndGetsItBack) {
    driver.add_kernel("k", {4, [](const StandInLaunch&) {}});
    {
        const auto memory = upload(std::vector<int>(100)), other = backend->reserve(1, MemoryUse::state);
        EXPECT_EQ(given.size(), 2U);
        const auto none = backend->reserve(0, MemoryUse::arena);
        const auto code = compile({"k", "k"});
        const TensorArg operand{memory->data(), nullptr, nullptr, 0};
        std::vector<KernelLaunch> launches(2);
        for (KernelLaunch& launch : launches) {
            launch.args.outputs = &operand;
            launch.outputs = 1;
            launch.code = code.get();
        }
        const std::vector<std::int64_t> symbols{1, 2};
        const auto commands = backend->record(launches, symbols);
        EXPECT_EQ(given.size(), 3U) << "the values of the symbols";
        Submission submission;
        commands->run(submission);
        EXPECT_EQ(submission.thrown, nullptr);
        EXPECT_EQ(driver.count("cuMemAlloc_v2"), 3);
    }
    EXPECT_THAT(given, IsEmpty());
    EXPECT_EQ(driver.count("cuMemFree_v2"), 3);
}

TEST_F(DeviceAllocatorTest, WithoutMemoryTheErrorSaysHowMuchIsNeeded) {
    EXPECT_EQ(message_of(ErrorKind::memory, [&] { backend->reserve(most_bytes + 1, MemoryUse::arena); }),
              "[cuda] 1048577 bytes are needed on cuda:0, but the program's allocator has none");
    EXPECT_EQ(upload(std::vector<int>(3))->capacity(), 12U) << "what it has can be used";
}

TEST_F(DeviceAllocatorTest, WhatItThrowsReachesTheCaller) {
    is_throwing = true;
    EXPECT_THROW(backend->reserve(10, MemoryUse::arena), std::out_of_range);
    is_throwing = false;
    EXPECT_EQ(upload(std::vector<int>(3))->capacity(), 12U);
}

TEST_F(DeviceAllocatorTest, MemoryThatIsNotAlignedIsGivenBack) {
    offset = 64;
    EXPECT_THAT(message_of(ErrorKind::argument, [&] { backend->reserve(10, MemoryUse::arena); }),
                HasSubstr("is not aligned to 256 bytes"));
    EXPECT_THAT(given, IsEmpty());
}

TEST_F(DeviceAllocatorTest, MemoryThatCannotBeClearedIsGivenBack) {
    driver.fail("cuMemsetD8Async", 1, Result::invalid_value);
    message_of(ErrorKind::internal, [&] { backend->reserve(10, MemoryUse::arena); });
    EXPECT_THAT(given, IsEmpty());
}

TEST_F(DeviceAllocatorTest, GetsMemoryOfALostDeviceBack) {
    auto memory = upload(std::vector<int>(10));
    is_lost = true;
    driver.fail("cuMemcpyDtoHAsync_v2", 1, Result::illegal_address);
    message_of(ErrorKind::unsupported, [&] { download<int>(*memory); });
    memory.reset();
    EXPECT_THAT(given, IsEmpty());
    message_of(ErrorKind::unsupported, [&] { backend->reserve(10, MemoryUse::arena); });
    EXPECT_THAT(given, IsEmpty()) << "it is not asked for more";
}

}  // namespace
}  // namespace cairn::device::cuda
