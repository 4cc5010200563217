#include "device/mapped_memory.hpp"

#include "device/cpu/cpu_backend.hpp"
#include "tests/device/private_memory_backend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace cairn::device {
namespace {

constexpr MemoryRows rows{3, 2, 4, 5};  // bytes 3 4, 8 9, 13 14, 18 19

/// The CPU, whose memory is mapped in place, and a device whose memory is copied.
std::vector<std::unique_ptr<Backend>> backends() {
    std::vector<std::unique_ptr<Backend>> both;
    both.push_back(cpu_backend(1));
    both.push_back(std::make_unique<test::PrivateMemoryBackend>(1));
    return both;
}

std::unique_ptr<Memory> numbered(Backend& backend) {
    auto memory = backend.reserve(20, MemoryUse::arena);
    memory->touch(0, 20);
    std::vector<std::byte> bytes;
    for (int i = 0; i < 20; ++i) bytes.push_back(static_cast<std::byte>(i));
    memory->write({0, 20}, bytes.data());
    return memory;
}

std::vector<int> contents(const Memory& memory) {
    std::vector<std::byte> bytes(20);
    memory.read({0, 20}, bytes.data());
    std::vector<int> numbers;
    for (const std::byte byte : bytes) numbers.push_back(std::to_integer<int>(byte));
    return numbers;
}

TEST(MappedMemory, RowsAreReadAndWritten) {
    for (const auto& backend : backends()) {
        const auto memory = numbered(*backend);
        MappedMemory mapped(*memory, rows, MapAccess::modify);
        std::vector<int> seen;
        for (std::size_t row = 0; row < 4; ++row)
            for (std::size_t i = 0; i < 2; ++i) seen.push_back(std::to_integer<int>(mapped.row(row)[i]));
        EXPECT_EQ(seen, (std::vector{3, 4, 8, 9, 13, 14, 18, 19}));
        mapped.row(2)[1] = std::byte{99};
        mapped.write_back();
        EXPECT_EQ(contents(*memory),
                  (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 99, 15, 16, 17, 18, 19}));
    }
}

TEST(MappedMemory, NothingIsDoneWithRowsWithoutBytes) {
    for (const auto& backend : backends()) {
        const auto none = backend->reserve(0, MemoryUse::scratch);
        ASSERT_EQ(none->data(), nullptr);
        for (const MemoryRows& empty : {MemoryRows{0, 0}, MemoryRows{0, 0, 3, 0}, MemoryRows{0, 4, 0, 4}}) {
            none->write(empty, nullptr);
            none->read(empty, nullptr);
            none->clear(empty);
        }
        MappedMemory mapped(*none, {0, 0}, MapAccess::overwrite);
        mapped.write_back();
    }
}

TEST(MappedMemory, OnlyTheRowsAreOverwritten) {
    for (const auto& backend : backends()) {
        const auto memory = numbered(*backend);
        MappedMemory mapped(*memory, rows, MapAccess::overwrite);
        for (std::size_t row = 0; row < 4; ++row) std::fill_n(mapped.row(row), 2, std::byte{7});
        mapped.write_back();
        EXPECT_EQ(contents(*memory), (std::vector{0, 1, 2, 7, 7, 5, 6, 7, 7, 7, 10, 11, 12, 7, 7, 15, 16, 17, 7, 7}));
        memory->clear({0, 1, 10, 2});
        EXPECT_EQ(contents(*memory), (std::vector{0, 1, 0, 7, 0, 5, 0, 7, 0, 7, 0, 11, 0, 7, 0, 15, 0, 17, 0, 7}));
    }
}

TEST(MappedMemory, OfAnotherDeviceIsACopy) {
    test::PrivateMemoryBackend device(1);
    const auto memory = numbered(device);
    EXPECT_FALSE(memory->is_host_accessible());
    MappedMemory mapped(*memory, rows, MapAccess::read);
    EXPECT_EQ(mapped.pitch(), 2U) << "the copy has no gaps";
    mapped.row(0)[0] = std::byte{99};
    EXPECT_EQ(contents(*memory)[3], 3) << "it is not written back";
    const auto none = device.reserve(0, MemoryUse::arena);
    MappedMemory empty(*none, {}, MapAccess::modify);
    empty.write_back();
}

}  // namespace
}  // namespace cairn::device
