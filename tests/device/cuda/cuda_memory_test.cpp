#include "device/cuda/cuda_memory.hpp"

#include "device/cpu/cpu_backend.hpp"
#include "tests/device/cuda/cuda_fixture.hpp"

#include <numeric>
#include <random>
#include <thread>

namespace cairn::device::cuda {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Bytes that differ from their neighbours.
std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
    std::vector<std::byte> values(bytes);
    for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::byte>((i * 2654435761U + seed) >> 7);
    return values;
}

std::vector<std::byte> all_of(const Memory& memory) {
    std::vector<std::byte> values(memory.capacity());
    memory.read({0, values.size(), 1, values.size()}, values.data());
    return values;
}

using CudaMemoryTest = CudaTest;

TEST_F(CudaMemoryTest, IsZeroAndCannotBeAccessedByTheHost) {
    const auto memory = backend->reserve(1000, MemoryUse::state);
    EXPECT_EQ(memory->capacity(), 1000U);
    EXPECT_FALSE(memory->is_host_accessible());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % Memory::alignment, 0U);
    EXPECT_THAT(all_of(*memory), Each(std::byte{0}));
    EXPECT_EQ(backend->reserve(0, MemoryUse::arena)->data(), nullptr);
}

TEST_F(CudaMemoryTest, AddressesOfDevicesAreToldFromThoseOfTheHost) {
    const auto memory = backend->reserve(1000, MemoryUse::arena);
    const int here = 1;
    void* pinned = nullptr;
    DeviceAddress theirs = 0;
    const auto table = driver.table();
    {
        // Of another part of the program.
        const auto device = std::make_shared<CudaDevice>(table, 0);
        const CurrentContext current(*device);
        pinned = device->calls().allocate_pinned(16, 0);
        theirs = device->calls().allocate(16);
        EXPECT_EQ(backend->device_of_memory(memory->data()), Device::cuda());
        EXPECT_EQ(backend->device_of_memory(memory->data() + 999), Device::cuda());
        EXPECT_EQ(backend->device_of_memory(reinterpret_cast<const void*>(theirs)), Device::cuda());
        EXPECT_EQ(backend->device_of_memory(pinned), std::nullopt);
        EXPECT_EQ(backend->device_of_memory(&here), std::nullopt);
        EXPECT_EQ(backend->device_of_memory(nullptr), std::nullopt);
        EXPECT_EQ(cpu_backend(1)->device_of_memory(memory->data()), std::nullopt);
        device->calls().call(&DriverTable::host_free, pinned);
        device->calls().call(&DriverTable::memory_free, theirs);
    }
    // Managed memory is on the device, and the host can access it.
    auto managing = std::make_shared<DriverTable>(*table);
    managing->pointer_attribute = [](void* value, PointerAttribute attribute, DeviceAddress) {
        if (attribute == PointerAttribute::memory_type)
            *static_cast<MemoryType*>(value) = MemoryType::device;
        else
            *static_cast<unsigned*>(value) = attribute == PointerAttribute::is_managed ? 1 : 0;
        return Result::success;
    };
    EXPECT_EQ(cuda_backend(0, managing, nvrtc.nvrtc())->device_of_memory(memory->data()), std::nullopt);
}

TEST_F(CudaMemoryTest, RowsAreThoseOfHostMemory) {
    const auto cpu = cpu_backend(1);
    constexpr std::size_t capacity = 4096;
    const auto host = cpu->reserve(capacity, MemoryUse::arena);
    const auto device = backend->reserve(capacity, MemoryUse::arena);
    host->touch(0, capacity);
    unsigned seed = 0;
    // One row, rows without gaps, with gaps, of one byte, none, empty ones, and rows that overlap.
    for (const MemoryRows& rows : {MemoryRows{0, capacity, 1, 0},
                                   {7, 100, 1, 5},
                                   {64, 128, 8, 128},
                                   {3, 17, 20, 40},
                                   {0, 1, 64, 64},
                                   {1, 64, 63, 65},
                                   {10, 5, 0, 8},
                                   {4096, 0, 3, 0},
                                   {100, 32, 5, 16},
                                   {0, 8, 3, 0},
                                   {0, 2048, 2, 2048}}) {
        const auto values = pattern(rows.bytes * rows.count + 1, ++seed);  // not null for empty rows
        host->write(rows, values.data());
        device->write(rows, values.data());
        EXPECT_EQ(all_of(*device), all_of(*host)) << "write " << seed;
        std::vector<std::byte> from_host(values.size()), from_device(values.size());
        host->read(rows, from_host.data());
        device->read(rows, from_device.data());
        EXPECT_EQ(from_device, from_host) << "read " << seed;
    }
    for (const MemoryRows& rows : {MemoryRows{3, 17, 20, 40}, {100, 32, 5, 16}, {64, 16, 4, 16}, {0, 8, 0, 8}}) {
        host->clear(rows);
        device->clear(rows);
        EXPECT_EQ(all_of(*device), all_of(*host)) << "clear of rows at " << rows.offset;
    }
}

TEST_F(CudaMemoryTest, RowsAreOneCallWhereTheDriverCan) {
    const auto memory = backend->reserve(4096, MemoryUse::arena);
    std::vector<std::byte> values(2048);
    driver.clear_calls();
    memory->write({0, 16, 64, 32}, values.data());
    memory->write({0, 16, 64, 16}, values.data());
    memory->clear({0, 16, 64, 32});
    EXPECT_EQ(driver.count("cuMemcpy2DAsync_v2"), 1);
    EXPECT_EQ(driver.count("cuMemcpyHtoDAsync_v2"), 1);
    EXPECT_EQ(driver.count("cuMemsetD2D8Async"), 1);
    EXPECT_EQ(driver.count("cuStreamSynchronize"), 3);
}

TEST_F(CudaMemoryTest, RowsBeyondTheEndAreRefused) {
    const auto memory = backend->reserve(100, MemoryUse::arena);
    std::vector<std::byte> values(1000);
    constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
    for (const MemoryRows& rows : {MemoryRows{0, 101, 1, 0},
                                   {1, 100, 1, 0},
                                   {0, 10, 10, 11},
                                   {200, 1, 1, 0},
                                   {0, 10, 3, huge / 2},
                                   {huge, 2, 1, 0}}) {
        EXPECT_THAT(message_of(ErrorKind::internal, [&] { memory->write(rows, values.data()); }),
                    HasSubstr("beyond the end"));
        message_of(ErrorKind::internal, [&] { memory->read(rows, values.data()); });
        message_of(ErrorKind::internal, [&] { memory->clear(rows); });
    }
    memory->touch(90, 10);
    message_of(ErrorKind::internal, [&] { memory->touch(90, 11); });
    message_of(ErrorKind::internal, [&] { memory->touch(huge, 2); });
}

/// Memory with staging buffers of this size.
class StagedMemory : public CudaTest {
protected:
    std::unique_ptr<CudaMemory> reserve(std::size_t bytes, std::size_t staging_bytes) {
        const auto device = std::make_shared<CudaDevice>(driver.table(), 0);
        return CudaMemory::make(device, std::make_shared<Staging>(device, staging_bytes), bytes);
    }
};

TEST_F(StagedMemory, LargeUploadsGoThroughTwoBuffersInTurns) {
    constexpr std::size_t bytes = (std::size_t{5} << 20) + 123;
    const auto memory = reserve(bytes, 1 << 20);
    const auto values = pattern(bytes, 1);
    driver.clear_calls();
    memory->write({0, bytes, 1, bytes}, values.data());
    EXPECT_EQ(driver.count("cuMemHostAlloc"), 2);
    EXPECT_EQ(driver.count("cuMemcpyHtoDAsync_v2"), 6);
    EXPECT_EQ(driver.count("cuEventSynchronize"), 4) << "the first two pieces do not wait";
    EXPECT_EQ(all_of(*memory), values);
    driver.clear_calls();
    memory->write({0, CudaMemory::staged_bytes - 1, 1, 0}, values.data());
    memory->write({0, CudaMemory::staged_bytes, 1, 0}, values.data());
    EXPECT_EQ(driver.count("cuMemcpyHtoDAsync_v2"), 2);
    EXPECT_EQ(driver.count("cuEventRecord"), 1) << "of the larger one";
    EXPECT_EQ(driver.count("cuMemHostAlloc"), 0) << "the buffers are kept";
}

TEST_F(StagedMemory, LargeRowsAreSplitWithinAndBetweenRows) {
    constexpr std::size_t capacity = std::size_t{6} << 20;
    const auto memory = reserve(capacity, 1 << 16);
    auto expected = std::vector<std::byte>(capacity);
    unsigned seed = 0;
    // Several rows a buffer with a rest, exactly one, rows larger than a buffer, overlapping rows.
    for (const MemoryRows& rows :
         {MemoryRows{5, 3000, 1000, 4001}, {0, 1 << 16, 40, 70000}, {9, 100001, 30, 200000}, {0, 50000, 50, 30000}}) {
        const auto values = pattern(rows.bytes * rows.count, ++seed);
        memory->write(rows, values.data());
        for (std::size_t row = 0; row < rows.count; ++row)
            std::memcpy(expected.data() + rows.offset + row * rows.pitch, values.data() + row * rows.bytes, rows.bytes);
        EXPECT_EQ(all_of(*memory), expected) << seed;
    }
}

TEST_F(StagedMemory, TheNextUploadFindsBuffersThatTheDeviceDoesNotRead) {
    const auto device = std::make_shared<CudaDevice>(driver.table(), 0);
    Staging staging(device, 4);
    const auto memory = CudaMemory::make(device, nullptr, 8);
    const CurrentContext current(*device);
    {
        Staging::Upload upload(staging);
        for (const DeviceAddress offset : {0, 4}) {
            std::byte* const data = upload.next();
            std::memcpy(data, "abc", 4);
            device->calls().call(&DriverTable::copy_to_device, reinterpret_cast<DeviceAddress>(memory->data()) + offset,
                                 static_cast<const void*>(data), std::size_t{4}, device->stream());
            upload.submitted();
        }
    }
    Staging::Upload next(staging);
    std::memcpy(next.next(), "xyz", 4);
    const auto found = all_of(*memory);
    EXPECT_STREQ(reinterpret_cast<const char*>(found.data()), "abc");
    EXPECT_STREQ(reinterpret_cast<const char*>(found.data() + 4), "abc");
}

TEST_F(StagedMemory, SeveralThreadsUploadAtOnce) {
    constexpr std::size_t bytes = std::size_t{2} << 20;
    const auto memory = reserve(4 * bytes, 1 << 18);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (int repeat = 0; repeat < 3; ++repeat) {
                const auto values = pattern(bytes, i);
                memory->write({i * bytes, bytes, 1, bytes}, values.data());
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(driver.count("cuMemHostAlloc"), 2) << "they share two buffers, and wait for one another";
    const auto found = all_of(*memory);
    for (unsigned i = 0; i < 4; ++i)
        EXPECT_TRUE(std::equal(found.begin() + i * bytes, found.begin() + (i + 1) * bytes, pattern(bytes, i).begin()));
}

TEST_F(StagedMemory, AnUploadThatFailsLeavesTheBuffersUsable) {
    constexpr std::size_t bytes = std::size_t{3} << 20;
    const auto memory = reserve(bytes, 1 << 20);
    const auto values = pattern(bytes, 3);
    driver.fail("cuMemHostAlloc", 2, Result::out_of_memory);
    EXPECT_EQ(message_of(ErrorKind::memory,
                         [&] {
                             memory->write({0, bytes, 1, bytes}, values.data());
                         }),
              "[cuda] cannot pin 1048576 bytes of host memory");
    driver.fail("cuMemcpyHtoDAsync_v2", 2, Result::invalid_value);
    message_of(ErrorKind::internal, [&] { memory->write({0, bytes, 1, bytes}, values.data()); });
    driver.fail("cuEventSynchronize", 1, Result::invalid_value);
    message_of(ErrorKind::internal, [&] { memory->write({0, bytes, 1, bytes}, values.data()); });
    memory->write({0, bytes, 1, bytes}, values.data());
    EXPECT_EQ(all_of(*memory), values);
}

}  // namespace
}  // namespace cairn::device::cuda
